import { expect, test } from 'vitest';
import { instantiateKernels } from '../../../src/kernel/kernels.ts';

const BASE = 65_536;

test('instances leave a memory in use as it is', () => {
  const memory = new WebAssembly.Memory({ initial: 2, maximum: 65_536, shared: true });
  new Uint8Array(memory.buffer).fill(7, BASE);
  instantiateKernels(memory);
  expect(new Uint8Array(memory.buffer).slice(BASE)).toEqual(new Uint8Array(BASE).fill(7));
});
