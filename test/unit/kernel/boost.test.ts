import { describe, expect, test } from 'vitest';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const LEAST_HESSIAN = 1e-16;

const floats = (draw: Draw, length: number): Float32Array =>
  Float32Array.from(draw.list(length, () => draw.uniform() * 2));
const scoresOf = (draw: Draw, length: number): Float64Array =>
  Float64Array.from(draw.list(length, () => draw.uniform() * 8 - 4));

/** Pairs of gradient and hessian, up to the rounding of single precision. */
function expectPairs(at: number, plain: readonly (readonly [number, number])[]): void {
  const found = read(Float32Array, at, plain.length * 2);
  for (const [i, pair] of plain.entries()) {
    expect(found[2 * i]).toBeCloseTo(pair[0], 4);
    expect(found[2 * i + 1]).toBeCloseTo(pair[1], 4);
  }
}

describe('gradients and hessians', () => {
  test('boostLogistic', () => {
    repeat((draw) => {
      const count = draw.integer(1, 20);
      const [scores, weights] = [scoresOf(draw, count), floats(draw, count)];
      const labels = draw.valid(count);
      const out = room(count * 8);
      kernels.boostLogistic(put(scores), put(labels), put(weights), out, 0, count);
      const plain = [...scores].map((score, i): [number, number] => {
        const [p, weight] = [1 / (1 + Math.exp(-score)), weights[i] as number];
        const hessian = weight * Math.max(p * (1 - p), LEAST_HESSIAN);
        return [weight * (p - (labels[i] as number)), hessian];
      });
      expectPairs(out, plain);
    });
  });

  test('boostSquared', () => {
    repeat((draw) => {
      const count = draw.integer(1, 20);
      const [scores, targets, weights] = [
        scoresOf(draw, count),
        scoresOf(draw, count),
        floats(draw, count),
      ];
      const out = room(count * 8);
      kernels.boostSquared(put(scores), put(targets), put(weights), out, 0, count);
      const plain = [...scores].map((score, i): [number, number] => {
        const weight = weights[i] as number;
        return [weight * (score - (targets[i] as number)), weight];
      });
      expectPairs(out, plain);
    });
  });

  test('boostSoftmax', () => {
    repeat((draw) => {
      const [count, labelCount] = [draw.integer(1, 12), 3];
      const [scores, weights] = [scoresOf(draw, count * labelCount), floats(draw, count)];
      const labels = Uint16Array.from(draw.list(count, () => draw.integer(0, labelCount - 1)));
      const out = room(count * labelCount * 8);
      const [s, l, w] = [put(scores), put(labels), put(weights)];
      kernels.boostSoftmax(s, l, w, out, labelCount, count, 0, count);
      const plain = draw
        .list(labelCount, () => 0)
        .flatMap((_, label) =>
          [...labels].map((own, row): [number, number] => {
            const mine = scores.subarray(row * labelCount, (row + 1) * labelCount);
            const total = mine.reduce((sum, score) => sum + Math.exp(score), 0);
            const p = Math.exp(mine[label] as number) / total;
            const weight = weights[row] as number;
            const hessian = weight * Math.max(2 * p * (1 - p), LEAST_HESSIAN);
            return [weight * (p - Number(label === own)), hessian];
          }),
        );
      expectPairs(out, plain);
    });
  });
});

describe('histograms', () => {
  test('boostHistogram for one to four columns, and boostSubtract', () => {
    repeat((draw) => {
      const columnCount = draw.integer(1, 4);
      const rowCount = 20;
      const rows = Uint32Array.from(draw.list(draw.integer(0, 20), () => draw.integer(0, 19)));
      // Quarters add up without rounding.
      const quarter = () => draw.integer(0, 8) / 4;
      const pairs = Float32Array.from(draw.list(rows.length * 2, quarter));
      const columns = draw.list(columnCount, () =>
        Uint8Array.from(draw.list(rowCount, () => draw.integer(0, 5))),
      );
      const cells = columns.map(() => put(new Float64Array(12)));
      const counts = columns.map(() => put(new Uint32Array(6)));
      kernels.boostHistogram(
        ...([put(rows), put(pairs), rows.length, columnCount] as const),
        put(Uint32Array.from(columns, (column) => put(column))),
        ...([put(Uint32Array.from(cells)), put(Uint32Array.from(counts))] as const),
      );
      for (const [c, column] of columns.entries()) {
        const sums = new Float64Array(12);
        const numbers = new Uint32Array(6);
        for (const [i, row] of rows.entries()) {
          const code = column[row] as number;
          const [gradient, hessian] = pairs.subarray(2 * i, 2 * i + 2) as unknown as [
            number,
            number,
          ];
          sums[2 * code] = (sums[2 * code] as number) + gradient;
          sums[2 * code + 1] = (sums[2 * code + 1] as number) + hessian;
          if (hessian !== 0) numbers[code] = (numbers[code] as number) + 1;
        }
        expect(read(Float64Array, cells[c] as number, 12)).toEqual(sums);
        expect(read(Uint32Array, counts[c] as number, 6)).toEqual(numbers);
      }
      // Counts lie behind the cells, as far from them in all three histograms.
      const countsAt = 6 * 16;
      const histogram = (numbers: readonly number[]) => {
        const at = room(countsAt + 24);
        const bytes = new Uint8Array(countsAt + 24);
        new Float64Array(bytes.buffer, 0, 12).set(numbers.slice(0, 12));
        new Uint32Array(bytes.buffer, countsAt, 6).set(numbers.slice(12));
        return { at: put(bytes), target: at };
      };
      const parent = draw.list(18, () => draw.integer(10, 20));
      const child = draw.list(18, () => draw.integer(0, 10));
      const { target } = histogram(parent);
      kernels.boostSubtract(target, histogram(parent).at, histogram(child).at, 6, countsAt);
      const rest = parent.map((number, i) => number - (child[i] as number));
      expect([...read(Float64Array, target, 12)]).toEqual(rest.slice(0, 12));
      expect([...read(Uint32Array, target + countsAt, 6)]).toEqual(rest.slice(12));
    });
  });
});

describe('rows of nodes', () => {
  test('boostPartition keeps the order; boostAddScore', () => {
    repeat((draw) => {
      const rows = Uint32Array.from(draw.list(draw.integer(0, 20), () => draw.integer(0, 19)));
      const pairs = BigUint64Array.from(draw.list(rows.length, () => draw.word()));
      const column = Uint8Array.from(draw.list(20, () => draw.integer(0, 255)));
      const right = draw.valid(256);
      const [rowsAt, pairsAt] = [put(rows), put(pairs)];
      const left = kernels.boostPartition(
        ...([rowsAt, pairsAt, rows.length, put(column), put(right)] as const),
        ...([room(rows.byteLength), room(pairs.byteLength)] as const),
      );
      const goesRight = (i: number) => right[column[rows[i] as number] as number] === 1;
      const all = [...rows.keys()];
      const order = [...all.filter((i) => !goesRight(i)), ...all.filter(goesRight)];
      expect(left).toBe(all.filter((i) => !goesRight(i)).length);
      expect([...read(Uint32Array, rowsAt, rows.length)]).toEqual(order.map((i) => rows[i]));
      expect([...read(BigUint64Array, pairsAt, rows.length)]).toEqual(order.map((i) => pairs[i]));
      const scores = put(new Float64Array(40));
      kernels.boostAddScore(rowsAt, rows.length, scores, 16, 2);
      const plain = new Float64Array(40);
      for (const row of rows) plain[row * 2] = (plain[row * 2] as number) + 2;
      expect(read(Float64Array, scores, 40)).toEqual(plain);
    });
  });
});
