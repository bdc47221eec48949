import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeSignal, transform } from '../../../../src/builtin/vector/fourier.ts';
import { norm } from '../../../../src/builtin/vector/vector.ts';
import { jsonOf, resultOf } from '../../../support/builtin-query.ts';

test.each([
  ['norm({}, inf)', { num: '-Inf' }],
  ['norm({}, 2)', 0],
  ['norm([1, 2, 2], 3)', 2.571281590658235],
  ['norm({a: 3, b: {c: -4}}, 2)', 5],
  ['norm(null, 2)', null],
  ['jaccard_index({a: {b: 1}}, {a: {c: 1}})', 0],
  ['jaccard_index([1, 2], [5])', 0.5],
  ['concat(null, [1])', null],
  ['slice(null, 0)', null],
  ['reshape([1], null)', null],
])('%s', (expression, expected) => {
  expect(resultOf(expression)).toEqual(expected);
});

test.each([
  ['normalize({a: {b: 3}, c: 4}, 2)', '{"a":{"b":0.6},"c":0.8}'],
  ['normalize([0, 0], 2)', '[{"num":"NaN"},{"num":"NaN"}]'],
  ['vector_sum({a: 1, b: 2}, {a: 1})', '{"a":2,"b":{"num":"NaN"}}'],
  ['vector_sum({"1": 2, "0": 1}, [10, 20])', '[11,22]'],
  ['vector_product([[1, 2], [3, 4]], [[2, 2], [2, 2]])', '[[2,4],[6,8]]'],
  ['vector_quotient([1, 0], [0, 0])', '[{"num":"Inf"},{"num":"NaN"}]'],
  ['flatten(5)', '[5]'],
  ['flatten({x10: 1, x9: 2})', '[2,1]'],
  ["flatten(['a', null])", '["a",null]'],
  ['reshape([1, 2, 3], [2], 9)', '[1,2]'],
  ['reshape({"0": {"0": 1, "1": 2}, "1": {"0": 3, "1": 4}}, [4])', '[1,2,3,4]'],
  ['shape(reshape(null, [2, 0, 3], 1))', '[2,0,3]'],
  ["concat([1], ['a'])", '[1,"a"]'],
  ['slice([[[1, 2], [3, 4]]], 0)', '[[1,3]]'],
  ['real([[1, 2], [3, 4]])', '[1,3]'],
  ['impulse(1)', '[1]'],
])('%s', (expression, expected) => {
  expect(jsonOf(expression)).toBe(expected);
});

test.each([
  ['norm([1, null], 2)', "of type 'EMPTY' to double"],
  ['norm([1], nan)', 'Invalid power for norm() function'],
  ['norm(5, 2)', 'not a row or embedding'],
  ['normalize(5, 1)', "Can't normalize something that's not a row or embedding"],
  ['vector_sum([1, 2], [1])', 'wrong number of columns for embedding'],
  ['vector_sum({a: 1}, {a: 1, b: 2})', "'b' was unknown for embedding"],
  ['vector_sum(1, [1])', 'two rows or embeddings'],
  ["reshape([1], 'x')", 'requires an embedding as second argument'],
  ['reshape(5, [1], 1)', 'Expected null first argument for scalar reshape()'],
  ['reshape(null, [2])', 'Null embedding needs third argument to reshape()'],
  ['reshape(null, [-1], 0)', 'is negative'],
  ['reshape(null, [100000, 100000], 0)', 'more than 100000000 elements'],
  ['reshape({a: 1}, [1])', 'requires an embedding as first argument'],
  ['concat([1, 2], [[3, 4]])', 'different shapes'],
  ['concat({a: 1})', 'concat requires embeddings'],
  ['slice([1], 0.5)', 'to integer'],
  ['shape({a: 1})', 'requires an array as first argument'],
  ['shifted_impulse(2, 2)', 'outside'],
  [
    'shifted_impulse(2)',
    "Called builtin function 'shifted_impulse' with 1 parameters instead of 2",
  ],
  ['amplitude([1, 2])', 'nx2 embedding'],
])('%s fails', (expression, message) => {
  expect(() => resultOf(expression)).toThrow(message);
});

test('norms scale and obey the triangle inequality', () => {
  const vector = fc.array(fc.integer({ min: -100, max: 100 }), { minLength: 3, maxLength: 3 });
  fc.assert(
    fc.property(vector, vector, fc.constantFrom(1, 2, 3, Infinity), (a, b, p) => {
      const sum = a.map((x, index) => x + (b[index] as number));
      expect(norm(sum, p)).toBeLessThanOrEqual(norm(a, p) + norm(b, p) + 1e-9);
      expect(
        norm(
          a.map((x) => -3 * x),
          p,
        ),
      ).toBeCloseTo(3 * norm(a, p), 9);
    }),
  );
});

describe('Fourier transforms', () => {
  test.each([1, 2, 8, 12, 31, 96])('of %i values equal the sums they stand for', (size) => {
    const random = fc.sample(fc.double({ min: -1, max: 1, noNaN: true }), {
      numRuns: 2 * size,
      seed: 7,
    });
    const signal = makeSignal(size);
    signal.real.set(random.slice(0, size));
    signal.imaginary.set(random.slice(size));
    const expected = directTransform(signal.real.slice(), signal.imaginary.slice());
    transform(signal, -1);
    signal.real.forEach((re, k) => {
      expect(re).toBeCloseTo(expected[k]?.[0] as number, 9);
      expect(signal.imaginary[k]).toBeCloseTo(expected[k]?.[1] as number, 9);
    });
  });

  test.each([
    ["fft(fft(shifted_impulse(96, 5)), 'backward')", 'shifted_impulse(96, 5)'],
    [
      "fft(fft(reshape(impulse(64), [32, 2]), 'forward', 'complex'), 'backward', 'complex')",
      'reshape(impulse(64), [32, 2])',
    ],
  ])('%s comes back', (expression, expected) => {
    expect(jsonOf(`quantize(${expression}, 0.001)`)).toBe(jsonOf(expected));
  });

  test.each([
    ['fft(impulse(32), null)', null],
    ['fft(null)', null],
  ])('%s', (expression, expected) => {
    expect(resultOf(expression)).toBe(expected);
  });

  test.each([
    ["fft(impulse(32), 'forward', 'imaginary')", "FFT type must be either 'real' or 'complex'"],
    ["fft(impulse(32), 'forward', 'complex')", 'Complex input is required'],
    ['fft(reshape(impulse(64), [32, 2]))', 'Real input is required'],
    ['fft(reshape(impulse(96), [32, 3]))', 'FFT requires either a flat embedding'],
    ['fft(5)', 'FFT requires either a flat embedding'],
  ])('%s fails', (expression, message) => {
    expect(() => resultOf(expression)).toThrow(message);
  });
});

function directTransform(real: Float64Array, imaginary: Float64Array): [number, number][] {
  const size = real.length;
  return Array.from(real, (_, k) => {
    let re = 0;
    let im = 0;
    for (let j = 0; j < size; j++) {
      const angle = (-2 * Math.PI * ((j * k) % size)) / size;
      const [x, y] = [real[j] as number, imaginary[j] as number];
      re += x * Math.cos(angle) - y * Math.sin(angle);
      im += x * Math.sin(angle) + y * Math.cos(angle);
    }
    return [re, im];
  });
}
