import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { instantiateKernels } from '../../../src/kernel/kernels.ts';

const BASE = 65_536;
const memory = new WebAssembly.Memory({ initial: 2, maximum: 65_536, shared: true });
const kernels = instantiateKernels(memory);
const values = new Float64Array(memory.buffer, BASE);

describe('fillF64', () => {
  test('sets exactly the values asked for', () => {
    fc.assert(
      fc.property(fc.nat(100), fc.nat(100), fc.double(), (start, count, value) => {
        values.fill(-1);
        kernels.fillF64(BASE + start * 8, count, value);
        const plain = new Float64Array(values.length).fill(-1).fill(value, start, start + count);
        expect(values).toEqual(plain);
      }),
    );
  });
});

describe('sumF64', () => {
  test('equals the plain sum for integers', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), (numbers) => {
        values.set(numbers);
        expect(kernels.sumF64(BASE, numbers.length)).toBe(numbers.reduce((a, b) => a + b, 0));
      }),
    );
  });

  test('reads nothing beyond its last value', () => {
    values.set([1, 2, 3, Number.NaN]);
    expect(kernels.sumF64(BASE, 3)).toBe(6);
  });
});

describe('instantiateKernels', () => {
  test('leaves a memory in use as it is', () => {
    const before = new Uint8Array(memory.buffer).slice(BASE);
    instantiateKernels(memory);
    expect(new Uint8Array(memory.buffer).slice(BASE)).toEqual(before);
  });
});
