// The reason for kernels: the same loop in WebAssembly and in plain JavaScript.

import { instantiateKernels } from '../../build/js/kernel/kernels.js';
import { randomUniforms } from '../data/random.mjs';

export const description = 'vector kernels beside plain loops over typed arrays';

const BASE = 65_536;

export async function prepare({ rowCount }) {
  const pageCount = 1 + Math.ceil((rowCount * 8) / 65_536);
  const memory = new WebAssembly.Memory({ initial: pageCount, maximum: 65_536, shared: true });
  const kernels = instantiateKernels(memory);
  const numbers = new Float64Array(memory.buffer, BASE, rowCount);
  const uniform = randomUniforms(1);
  for (let i = 0; i < rowCount; i++) numbers[i] = Math.floor(uniform() * 1000);
  return {
    measures: [
      {
        name: 'sum of float64',
        contenders: {
          rowan: () => kernels.sumF64Where(BASE, 0, rowCount),
          loop: () => plainSum(numbers),
        },
        agree: (ours, theirs) => ours === theirs,
        goal: 1,
      },
    ],
  };
}

function plainSum(numbers) {
  let sum = 0;
  for (let i = 0; i < numbers.length; i++) sum += numbers[i];
  return sum;
}
