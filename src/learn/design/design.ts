// Design matrices in shared memory, as the kernels of linear models read them.
import { DESIGN, DESIGN_SIZE } from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type { FeatureValues } from '../feature/values.ts';
import { Layout, type Workspace } from '../workspace.ts';
import { type DesignColumns, EXTRACT_EQUALS, EXTRACT_PRESENCE, EXTRACT_VALUE } from './columns.ts';

/** Plain data: other threads see the same memory. */
export interface Design {
  readonly rowCount: number;
  /** without the constant's */
  readonly columnCount: number;
  readonly denseCount: number;
  /** the design column at each place of the matrix: dense ones first */
  readonly order: Int32Array;
  readonly span: Span;
  /** where the header for kernels lies */
  readonly header: number;
  readonly dense: number;
  readonly starts: number;
  readonly columns: number;
  readonly values: number;
}

/** A column that fewer rows have is kept by its entries. */
const DENSE_SHARE = 0.3;

/** Writes the columns' values; the span is the caller's to free. */
export function makeDesign(
  workspace: Workspace,
  { features, extracts, categories }: DesignColumns,
  values: readonly FeatureValues[],
  rowCount: number,
): Design {
  const isDense = Array.from(features, (feature, column) => {
    const own = values[feature] as FeatureValues;
    if (extracts[column] === EXTRACT_VALUE) return true;
    return own.kind === 'numbers' && presentShare(own.values) > DENSE_SHARE;
  });
  const all = [...features.keys()];
  const order = Int32Array.from([
    ...all.filter((column) => isDense[column]),
    ...all.filter((column) => !isDense[column]),
  ]);
  const denseCount = isDense.reduce((count, dense) => count + Number(dense), 0);
  const sparse = sparseEntries(order, denseCount, { features, extracts, categories }, values);
  const starts = new Uint32Array(rowCount + 1);
  for (const { rows } of sparse) {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      starts[row + 1] = at(starts, row + 1) + 1;
    }
  }
  for (let row = 0; row < rowCount; row++) starts[row + 1] = at(starts, row + 1) + at(starts, row);
  const entryCount = starts[rowCount] as number;
  const hasValues = sparse.some((entries) => entries.values !== undefined);
  const layout = new Layout();
  const sizes = [
    DESIGN_SIZE,
    denseCount * rowCount * 8,
    (rowCount + 1) * 4,
    entryCount * 4,
    hasValues ? entryCount * 8 : 0,
  ];
  for (const size of sizes) layout.take(size);
  const span = workspace.memory.allocate(layout.sizeBytes);
  const place = new Layout(span.offset);
  const [header, denseAt, startsAt, columnsAt, valuesAt] = sizes.map((size) =>
    place.take(size),
  ) as [number, number, number, number, number];
  const { f64, u32 } = workspace.memory.get(span.arena);
  for (let place = 0; place < denseCount; place++) {
    const column = order[place] as number;
    const from = (denseAt >>> 3) + place * rowCount;
    writeDense(f64, from, values[at(features, column)] as FeatureValues, at(extracts, column));
  }
  u32.set(starts, startsAt >>> 2);
  const next = starts.slice();
  for (const [index, { rows, values: own }] of sparse.entries()) {
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as number;
      const entry = at(next, row);
      next[row] = entry + 1;
      u32[(columnsAt >>> 2) + entry] = denseCount + index;
      if (hasValues) f64[(valuesAt >>> 3) + entry] = own === undefined ? 1 : at(own, i);
    }
  }
  const columnCount = features.length;
  const fields = {
    ...{ rowCount, denseCount, columnCount, dense: denseAt, starts: startsAt, columns: columnsAt },
    values: hasValues ? valuesAt : 0,
  };
  for (const [field, offset] of Object.entries(DESIGN)) {
    u32[(header + offset) >>> 2] = fields[field as keyof typeof DESIGN];
  }
  return {
    rowCount,
    columnCount,
    denseCount,
    order,
    span,
    header,
    dense: denseAt,
    starts: startsAt,
    columns: columnsAt,
    values: hasValues ? valuesAt : 0,
  };
}

function at(array: ArrayLike<number>, index: number): number {
  return array[index] as number;
}

interface SparseEntries {
  readonly rows: Uint32Array;
  /** absent: all 1 */
  readonly values?: Float64Array;
}

/** The entries of each sparse column, rows ascending. */
function sparseEntries(
  order: Int32Array,
  denseCount: number,
  { features, extracts, categories }: DesignColumns,
  values: readonly FeatureValues[],
): SparseEntries[] {
  const byCategory = new Map<number, readonly Uint32Array[]>();
  return Array.from(order.subarray(denseCount), (column) => {
    const feature = at(features, column);
    const own = values[feature] as FeatureValues;
    const extract = at(extracts, column);
    if (own.kind === 'categories' && extract === EXTRACT_EQUALS) {
      let rows = byCategory.get(feature);
      if (rows === undefined) {
        rows = rowsByCategory(own.indexes);
        byCategory.set(feature, rows);
      }
      return { rows: rows[at(categories, column)] ?? new Uint32Array(0) };
    }
    if (own.kind === 'sparse') {
      return extract === EXTRACT_PRESENCE
        ? { rows: own.rows }
        : { rows: own.rows, values: own.values };
    }
    const numbers = own.kind === 'numbers' ? own.values : new Float64Array(0);
    const rows = Uint32Array.from([...numbers.keys()].filter((row) => !Number.isNaN(numbers[row])));
    return extract === EXTRACT_PRESENCE
      ? { rows }
      : { rows, values: Float64Array.from(rows, (row) => numbers[row] as number) };
  });
}

/** The rows of each category, ascending; rows of no category of the list are left out. */
function rowsByCategory(indexes: Int32Array): readonly Uint32Array[] {
  let last = -1;
  for (let row = 0; row < indexes.length; row++) last = Math.max(last, indexes[row] as number);
  const ends = new Uint32Array(last + 2);
  for (let row = 0; row < indexes.length; row++) {
    const index = indexes[row] as number;
    if (index >= 0) ends[index + 1] = at(ends, index + 1) + 1;
  }
  for (let index = 0; index <= last; index++)
    ends[index + 1] = at(ends, index + 1) + at(ends, index);
  const rows = new Uint32Array(at(ends, last + 1));
  const next = ends.slice();
  for (let row = 0; row < indexes.length; row++) {
    const index = indexes[row] as number;
    if (index < 0) continue;
    const to = at(next, index);
    rows[to] = row;
    next[index] = to + 1;
  }
  return Array.from({ length: last + 1 }, (_, index) =>
    rows.subarray(at(ends, index), at(ends, index + 1)),
  );
}

function writeDense(f64: Float64Array, from: number, own: FeatureValues, extract: number): void {
  if (own.kind !== 'numbers') return;
  const { values } = own;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (extract === EXTRACT_PRESENCE) f64[from + row] = Number.isNaN(value) ? 0 : 1;
    else f64[from + row] = Number.isNaN(value) ? 0 : value;
  }
}

function presentShare(values: Float64Array): number {
  let count = 0;
  for (const value of values) if (!Number.isNaN(value)) count++;
  return values.length === 0 ? 0 : count / values.length;
}
