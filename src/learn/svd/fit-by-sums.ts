// Singular value decomposition of rows that are known by their sums: X'X of the virtual columns.
import type { Atom } from '../../value/atom.ts';
import { type Aggregate, type Sums, SumsRefused, sumAt } from '../sums/sums.ts';
import {
  choose,
  columnOf,
  compare,
  constant,
  minus,
  missing,
  type Term,
  times,
} from '../sums/term.ts';
import type { FeatureFacts } from '../sums/training.ts';
import type { FitContext } from '../workspace.ts';
import { type SvdFit, type SvdOptions, singularVectors } from './svd.ts';
import { type VirtualColumn, virtualOrder } from './virtual-column.ts';

/** Virtual columns whose products are added up at most: a pass has half their square of sums. */
const COLUMN_COUNT_MAX = 200;
/** Sums of one request at most. */
const SUM_COUNT_MAX = 1000;

interface SummedColumn {
  readonly column: VirtualColumn;
  readonly term: Term;
}

/**
 * The decomposition that fitSvd makes of the rows, without their embeddings.
 * @throws SumsRefused when there are too many virtual columns
 */
export function fitSvdBySums(
  context: FitContext,
  sums: Sums,
  cells: readonly FeatureFacts[],
  rowCount: number,
  options: SvdOptions,
): SvdFit {
  const found = virtualOrder(summedColumns(sums, cells, rowCount), ({ column }) => column);
  if (found.length > COLUMN_COUNT_MAX) throw tooMany(found.length);
  const columns = found.map(({ column }) => column);
  const all = products(context, sums, found);
  const size = found.length;
  for (let i = 0; i < all.length; i++) all[i] = (all[i] as number) / rowCount;
  const basisSize = Math.min(size, options.numDenseBasisVectors);
  const gram = new Float64Array(basisSize * basisSize);
  for (let i = 0; i < basisSize; i++) {
    gram.set(all.subarray(i * size, i * size + basisSize), i * basisSize);
  }
  const count = Math.min(options.numSingularValues, basisSize);
  const { singularValues, vectors } = singularVectors(context, gram, basisSize, count);
  const columnVectors = columns.map((_, column) =>
    Float64Array.from(vectors, (vector, d) => {
      if (column < basisSize) return vector[column] as number;
      let sum = 0;
      for (let k = 0; k < basisSize; k++) {
        sum += (all[column * size + k] as number) * (vector[k] as number);
      }
      return sum / (singularValues[d] as number) ** 2;
    }),
  );
  return { columns, singularValues, columnVectors, rowVectors: [] };
}

function tooMany(count: number): Error {
  return new SumsRefused(
    `${count} columns, other values than numbers counted one by one, are more than ${COLUMN_COUNT_MAX}`,
  );
}

function summedColumns(
  sums: Sums,
  cells: readonly FeatureFacts[],
  rowCount: number,
): SummedColumn[] {
  const isContinuous = ({ kind, low, high }: FeatureFacts) => kind === 'number' && low < high;
  const distances = cells.map(({ mean }, index) => minus(columnOf(index), constant(mean)));
  const squares = cells.flatMap((cell, index): Aggregate[] => {
    const distance = distances[index] as Term;
    return isContinuous(cell) ? [{ kind: 'sum', of: times(distance, distance) }] : [];
  });
  const [group] = squares.length === 0 ? [] : sums.groups({ keys: [], values: squares });
  let at = 0;
  return cells.flatMap((cell, index): SummedColumn[] => {
    const { count, distinct, name, mean } = cell;
    const x = columnOf(index);
    if (!isContinuous(cell)) {
      if (distinct > COLUMN_COUNT_MAX) throw tooMany(distinct);
      const counted = sums.groups({ keys: [x], values: [{ kind: 'rows' }] });
      return counted.map(({ keys, values }) =>
        discreteColumn(name, x, keys[0] ?? null, Number(values[0])),
      );
    }
    const deviation = Math.sqrt((group === undefined ? 0 : sumAt(group, at)) / count);
    at++;
    const scale = deviation > 0 ? 1 / deviation : 1;
    const value = times(distances[index] as Term, constant(scale));
    const term =
      count < rowCount ? choose([{ test: missing(x), value: constant(0) }], value) : value;
    const shared = { columnName: name, offset: mean, scale, rowCount: count };
    return [{ column: { op: 'VALUE', ...shared }, term }];
  });
}

function discreteColumn(columnName: string, x: Term, atom: Atom, rowCount: number): SummedColumn {
  if (atom !== null && typeof atom !== 'number' && typeof atom !== 'string') {
    throw new SumsRefused(`column ${columnName} has values that are no small numbers and no texts`);
  }
  const test = atom === null ? missing(x) : compare('=', x, constant(atom));
  return {
    column: { op: 'EQUAL', columnName, cellValue: atom, rowCount },
    term: choose([{ test, value: constant(1) }], constant(0)),
  };
}

/** X'X, whole. */
function products(context: FitContext, sums: Sums, columns: readonly SummedColumn[]): Float64Array {
  const size = columns.length;
  const all = new Float64Array(size * size);
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0; i < size; i++) for (let j = 0; j <= i; j++) pairs.push([i, j]);
  for (let from = 0; from < pairs.length; from += SUM_COUNT_MAX) {
    context.checkCancelled();
    const own = pairs.slice(from, from + SUM_COUNT_MAX);
    const [group] = sums.groups({
      keys: [],
      values: own.map(([i, j]) => ({
        kind: 'sum',
        of: times((columns[i] as SummedColumn).term, (columns[j] as SummedColumn).term),
      })),
    });
    for (const [at, [i, j]] of own.entries()) {
      const sum = group === undefined ? 0 : sumAt(group, at);
      all[i * size + j] = sum;
      all[j * size + i] = sum;
    }
    context.progress?.(Math.min(pairs.length, from + SUM_COUNT_MAX), pairs.length);
  }
  return all;
}
