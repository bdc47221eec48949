// Kernels of sparse matrices, rows of vectors and linear models.
import { describe, expect, test } from 'vitest';
import { DESIGN, DESIGN_SIZE, ROW_GROUP } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);
const putDoubles = (numbers: readonly number[]): number => put(Float64Array.from(numbers));
const zeros = (length: number): number => put(new Float64Array(length));
const integersOf = (draw: Draw, length: number): number[] =>
  draw.list(length, () => draw.integer(-4, 4));
const at = (numbers: readonly number[], index: number): number => numbers[index] as number;
const doubles = (address: number, length: number): number[] =>
  [...read(Float64Array, address, length)].map((value) => value + 0);

/** A matrix in full, and its cells other than 0 row by row. */
function sparseOf(draw: Draw, columnCount: number, areOnes = false) {
  const cell = () => (draw.chance(0.6) ? 0 : areOnes ? 1 : draw.integer(1, 4));
  const rows = draw.list(draw.integer(1, 8), () => draw.list(columnCount, cell));
  const cells = rows.map((row) => [...row.keys()].filter((column) => row[column] !== 0));
  const starts = [0];
  for (const columns of cells) starts.push((starts.at(-1) as number) + columns.length);
  const values = rows.flatMap((row, i) => (cells[i] as number[]).map((column) => at(row, column)));
  return { rows, starts: Int32Array.from(starts), columns: Int32Array.from(cells.flat()), values };
}

describe('rows of matrices', () => {
  test('addNormalProduct', () => {
    repeat((draw) => {
      const { rows, starts, columns, values } = sparseOf(draw, 5);
      const [x, z] = [integersOf(draw, 5), integersOf(draw, 5)];
      const from = draw.integer(0, rows.length);
      const target = putDoubles(z);
      kernels.addNormalProduct(
        ...([put(starts), put(columns), putDoubles(values), from, rows.length] as const),
        ...([putDoubles(x), target] as const),
      );
      const some = rows.slice(from);
      const products = some.map((row) => sum(row.map((value, j) => value * at(x, j))));
      const plain = z.map(
        (value, j) => value + sum(some.map((row, i) => at(row, j) * at(products, i))),
      );
      expect(doubles(target, 5)).toEqual(plain);
    });
  });

  test('rowDots and addRows', () => {
    repeat((draw) => {
      const length = ROW_GROUP * draw.integer(1, 3);
      const rows = draw.list(draw.integer(0, 5), () => integersOf(draw, length));
      const x = integersOf(draw, length);
      const [rowsAt, xAt, out] = [putDoubles(rows.flat()), putDoubles(x), room(rows.length * 8)];
      kernels.rowDots(rowsAt, rows.length, length, xAt, out);
      const dots = rows.map((row) => sum(row.map((value, j) => value * at(x, j))));
      expect(doubles(out, rows.length)).toEqual(dots.map((value) => value + 0));
      const weights = integersOf(draw, rows.length);
      kernels.addRows(rowsAt, rows.length, length, putDoubles(weights), xAt);
      const plain = x.map(
        (value, j) => value + sum(rows.map((row, i) => at(row, j) * at(weights, i))),
      );
      expect(doubles(xAt, length)).toEqual(plain);
    });
  });
});

/** A design of dense and sparse columns, and its rows in full with the constant's 1. */
function designOf(draw: Draw) {
  const [denseCount, sparseCount] = [draw.integer(0, 9), draw.integer(0, 3)];
  const areOnes = draw.chance(0.5);
  const sparse = sparseOf(draw, sparseCount, areOnes);
  const rowCount = sparse.rows.length;
  const dense = draw.list(denseCount, () => integersOf(draw, rowCount));
  const rows = sparse.rows.map((row, i) => [...dense.map((column) => at(column, i)), ...row, 1]);
  const columnCount = denseCount + sparseCount;
  const fields = {
    ...{ rowCount, denseCount, columnCount },
    dense: putDoubles(dense.flat()),
    starts: put(sparse.starts),
    columns: put(sparse.columns.map((column) => column + denseCount)),
    values: areOnes ? 0 : putDoubles(sparse.values),
  };
  const words = new Uint32Array(DESIGN_SIZE / 4);
  for (const [field, offset] of Object.entries(DESIGN)) {
    words[offset / 4] = fields[field as keyof typeof DESIGN];
  }
  const from = draw.integer(0, rowCount);
  return { rows, rowCount, width: columnCount + 1, design: put(words), from };
}

describe('linear models', () => {
  test('linearPredict, linearTransposed, linearGram', () => {
    repeat((draw) => {
      const { rows, rowCount, width, design, from } = designOf(draw);
      const some = rows.slice(from);
      const beta = integersOf(draw, width);
      const out = room(rowCount * 8);
      kernels.linearPredict(design, from, rowCount, putDoubles(beta), out);
      const predictions = some.map((row) => sum(row.map((value, j) => value * at(beta, j))) + 0);
      expect(doubles(out + from * 8, some.length)).toEqual(predictions);
      const r = integersOf(draw, rowCount);
      const sums = zeros(width);
      kernels.linearTransposed(design, from, rowCount, putDoubles(r), sums);
      const transposed = beta.map((_, j) =>
        sum(some.map((row, i) => at(row, j) * at(r, from + i))),
      );
      expect(doubles(sums, width)).toEqual(transposed.map((value) => value + 0));
      const w = draw.list(rowCount, () => draw.integer(0, 3));
      const [gram, right] = [zeros(width * width), zeros(width)];
      kernels.linearGram(design, from, rowCount, putDoubles(w), putDoubles(r), gram, right);
      const weighted = (value: (row: readonly number[], i: number) => number): number =>
        sum(some.map((row, i) => at(w, from + i) * value(row, from + i))) + 0;
      const found = doubles(gram, width * width);
      for (let a = 0; a < width; a++) {
        for (let b = a; b < width; b++) {
          expect(found[a * width + b]).toBe(weighted((row) => at(row, a) * at(row, b)));
        }
      }
      const plain = beta.map((_, j) => weighted((row, i) => at(row, j) * at(r, i)));
      expect(doubles(right, width)).toEqual(plain);
    });
  });

  /** B B', symmetric and not negative; a column may depend on others. */
  function gramOf(draw: Draw, size: number): number[][] {
    const b = draw.list(size, () => integersOf(draw, size + 1));
    if (size > 1 && draw.chance(0.3)) b[size - 1] = (b[0] as number[]).map((value) => 2 * value);
    return b.map((row) => b.map((other) => sum(row.map((value, j) => value * at(other, j)))));
  }

  test('choleskyRows and choleskySolve', () => {
    repeat((draw) => {
      const size = draw.integer(1, 7);
      const gram = gramOf(draw, size);
      const diagonal = gram.map((row, i) => at(row, i));
      const address = putDoubles(gram.flat());
      const diagonalAt = putDoubles(diagonal);
      for (let row = 0; row < size; ) {
        const next = kernels.choleskyRows(address, size, row, 2, diagonalAt, 1e-9);
        expect(next).toBe(Math.min(size, row + 2));
        row = next;
      }
      // Column by column, as the textbook has it.
      const factor = gram.map((row) => row.map(() => 0));
      const isKept: boolean[] = [];
      for (let j = 0; j < size; j++) {
        const own = factor[j] as number[];
        const pivot = at(gram[j] as number[], j) - sum(own.slice(0, j).map((x) => x * x));
        isKept[j] = pivot > 1e-9 * at(diagonal, j);
        own[j] = isKept[j] ? Math.sqrt(pivot) : 0;
        for (let i = j + 1; i < size; i++) {
          const row = factor[i] as number[];
          const rest =
            at(gram[i] as number[], j) - sum(own.slice(0, j).map((x, k) => x * at(row, k)));
          row[j] = isKept[j] ? rest / at(own, j) : 0;
        }
      }
      const found = doubles(address, size * size);
      for (let i = 0; i < size; i++) {
        for (let j = 0; j <= i; j++) {
          expect(found[i * size + j]).toBeCloseTo(at(factor[i] as number[], j), 5);
        }
      }
      const right = integersOf(draw, size);
      const x = putDoubles(right);
      kernels.choleskySolve(address, size, x);
      const solution = doubles(x, size);
      for (const [i, kept] of isKept.entries()) {
        if (!kept) expect(solution[i]).toBe(0);
        else if (isKept.every(Boolean)) {
          const product = sum((gram[i] as number[]).map((value, j) => value * at(solution, j)));
          expect(product).toBeCloseTo(at(right, i), 4);
        }
      }
    });
  });

  test('lassoSweeps', () => {
    repeat((draw) => {
      const size = draw.integer(1, 5);
      const gram = gramOf(draw, size);
      const residual = integersOf(draw, size);
      const [residualAt, betaAt] = [putDoubles(residual), zeros(size)];
      const change = kernels.lassoSweeps(
        ...([putDoubles(gram.flat()), size, residualAt, betaAt, 0.5, 1e-3, 4] as const),
      );
      const beta = new Array<number>(size).fill(0);
      let largest = 0;
      for (let sweep = 0; sweep < 4; sweep++) {
        largest = 0;
        for (let j = 0; j < size; j++) {
          const scale = at(gram[j] as number[], j);
          if (!(scale > 0)) continue;
          const rho = at(residual, j) + scale * at(beta, j);
          const next = (Math.sign(rho) * Math.max(0, Math.abs(rho) - 0.25)) / scale;
          const by = next - at(beta, j);
          largest = Math.max(largest, Math.abs(by));
          beta[j] = next;
          for (let k = 0; k < size; k++)
            residual[k] = at(residual, k) - by * at(gram[j] as number[], k);
        }
        if (largest < 1e-3) break;
      }
      expect(change).toBeCloseTo(largest, 9);
      for (const [j, value] of doubles(betaAt, size).entries()) {
        expect(value).toBeCloseTo(at(beta, j), 9);
      }
      for (const [j, value] of doubles(residualAt, size).entries()) {
        expect(value).toBeCloseTo(at(residual, j), 6);
      }
    });
  });
});
