import { expect, test } from 'vitest';
import { ARITHMETIC } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

/** An operand: a vector, or a constant that lies twice. */
function operand(draw: Draw, count: number) {
  const values = draw.doubles(count);
  if (draw.chance(0.6)) return { at: put(values), step: 16, values };
  const value = draw.double();
  return { at: put(Float64Array.of(value, value)), step: 0, values: values.fill(value) };
}

test.each([
  [ARITHMETIC.add, (x: number, y: number) => x + y],
  [ARITHMETIC.subtract, (x: number, y: number) => x - y],
  [ARITHMETIC.multiply, (x: number, y: number) => x * y + 0],
  [ARITHMETIC.divide, (x: number, y: number) => x / y + 0],
])('arithmeticF64 by operator %d', (operator, apply) => {
  repeat((draw) => {
    const count = draw.integer(0, 33);
    const [a, b] = [operand(draw, count), operand(draw, count)];
    const out = room(count * 8);
    kernels.arithmeticF64(a.at, a.step, b.at, b.step, count, operator, out);
    const plain = a.values.map((x, i) => apply(x, b.values[i] as number));
    expect(read(Float64Array, out, count)).toEqual(plain);
  });
});

test('convertI32ToF64', () => {
  repeat((draw) => {
    const count = draw.integer(0, 33);
    const values = draw.integers(count, -(2 ** 31), 2 ** 31 - 1);
    const out = room(count * 8);
    kernels.convertI32ToF64(put(values), count, out);
    expect(read(Float64Array, out, count)).toEqual(Float64Array.from(values));
  });
});

test('andBytes', () => {
  repeat((draw) => {
    const count = draw.integer(0, 40);
    const [a, b] = [draw.valid(count), draw.valid(count)];
    const out = room(count);
    kernels.andBytes(put(a), put(b), count, out);
    expect(read(Uint8Array, out, count)).toEqual(a.map((x, i) => x & (b[i] as number)));
  });
});

test('chooseF64 and chooseBytes take the first where the truth is true', () => {
  repeat((draw) => {
    const count = draw.integer(0, 40);
    const truth = draw.truth(count);
    const [a, b] = [operand(draw, count), operand(draw, count)];
    const [at, out] = [put(truth), room(count * 8)];
    kernels.chooseF64(at, a.at, a.step, b.at, b.step, count, out);
    const plain = a.values.map((x, i) => (truth[i] === 2 ? x : (b.values[i] as number)));
    expect(read(Float64Array, out, count)).toEqual(plain);
    const x = draw.chance(0.3) ? undefined : draw.valid(count);
    const y = draw.chance(0.3) ? undefined : draw.valid(count);
    kernels.chooseBytes(at, x === undefined ? 0 : put(x), y === undefined ? 0 : put(y), count, out);
    const bytes = truth.map((word, i) => (word === 2 ? (x?.[i] ?? 1) : (y?.[i] ?? 1)));
    expect(read(Uint8Array, out, count)).toEqual(bytes);
  });
});
