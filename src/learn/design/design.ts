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
export const DENSE_SHARE = 0.3;

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
  const runs = sparseRuns(order, denseCount, { features, extracts, categories }, values);
  const starts = entryStarts(runs, rowCount);
  const entryCount = starts[rowCount] as number;
  const hasValues = runs.some((run) => run.kind === 'entries' && run.values !== undefined);
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
  const entryColumns = u32.subarray(columnsAt >>> 2, (columnsAt >>> 2) + entryCount);
  const entryValues = hasValues
    ? f64.subarray(valuesAt >>> 3, (valuesAt >>> 3) + entryCount)
    : undefined;
  writeEntries(runs, starts, entryColumns, entryValues);
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

/** Sparse columns that are written together; runs are in the order of their places. */
type SparseRun =
  | {
      readonly kind: 'categories';
      /** of each row; negative: none */
      readonly indexes: Int32Array;
      /** of each category; -1: no column */
      readonly places: Int32Array;
    }
  | {
      readonly kind: 'entries';
      readonly place: number;
      /** ascending */
      readonly rows: Uint32Array;
      /** absent: all 1 */
      readonly values?: Float64Array;
    };

function sparseRuns(
  order: Int32Array,
  denseCount: number,
  { features, extracts, categories }: DesignColumns,
  values: readonly FeatureValues[],
): SparseRun[] {
  const runs: SparseRun[] = [];
  let [lastFeature, places] = [-1, new Int32Array(0)];
  for (let place = denseCount; place < order.length; place++) {
    const column = at(order, place);
    const feature = at(features, column);
    const own = values[feature] as FeatureValues;
    const extract = at(extracts, column);
    if (own.kind === 'categories' && extract === EXTRACT_EQUALS) {
      if (feature !== lastFeature) {
        places = new Int32Array(1 + largestOf(own.indexes)).fill(-1);
        runs.push({ kind: 'categories', indexes: own.indexes, places });
        lastFeature = feature;
      }
      const category = at(categories, column);
      if (category < places.length) places[category] = place;
      continue;
    }
    const entries =
      own.kind === 'sparse' ? own : presentEntries(own.kind === 'numbers' ? own.values : []);
    const run = { kind: 'entries', place, rows: entries.rows } as const;
    runs.push(extract === EXTRACT_PRESENCE ? run : { ...run, values: entries.values });
  }
  return runs;
}

function largestOf(indexes: Int32Array): number {
  let largest = -1;
  for (let row = 0; row < indexes.length; row++) largest = Math.max(largest, at(indexes, row));
  return largest;
}

function presentEntries(numbers: ArrayLike<number>) {
  let count = 0;
  for (let row = 0; row < numbers.length; row++) if (!Number.isNaN(at(numbers, row))) count++;
  const rows = new Uint32Array(count);
  const values = new Float64Array(count);
  let next = 0;
  for (let row = 0; row < numbers.length; row++) {
    const value = at(numbers, row);
    if (Number.isNaN(value)) continue;
    rows[next] = row;
    values[next++] = value;
  }
  return { rows, values };
}

/** Where the entries of each row begin. */
function entryStarts(runs: readonly SparseRun[], rowCount: number): Uint32Array {
  const starts = new Uint32Array(rowCount + 1);
  const counts = starts.subarray(1);
  for (const run of runs) {
    if (run.kind === 'entries') {
      const { rows } = run;
      for (let i = 0; i < rows.length; i++) {
        const row = at(rows, i);
        counts[row] = at(counts, row) + 1;
      }
      continue;
    }
    const { indexes, places } = run;
    for (let row = 0; row < indexes.length; row++) {
      const index = at(indexes, row);
      if (index >= 0 && at(places, index) >= 0) counts[row] = at(counts, row) + 1;
    }
  }
  for (let row = 0; row < rowCount; row++) counts[row] = at(counts, row) + at(starts, row);
  return starts;
}

function writeEntries(
  runs: readonly SparseRun[],
  starts: Uint32Array,
  columns: Uint32Array,
  entryValues: Float64Array | undefined,
): void {
  const next = starts.slice();
  for (const run of runs) {
    if (run.kind === 'entries') {
      const { place, rows, values } = run;
      for (let i = 0; i < rows.length; i++) {
        const row = at(rows, i);
        const entry = at(next, row);
        next[row] = entry + 1;
        columns[entry] = place;
        if (entryValues !== undefined)
          entryValues[entry] = values === undefined ? 1 : at(values, i);
      }
      continue;
    }
    const { indexes, places } = run;
    for (let row = 0; row < indexes.length; row++) {
      const index = at(indexes, row);
      const place = index >= 0 ? at(places, index) : -1;
      if (place < 0) continue;
      const entry = at(next, row);
      next[row] = entry + 1;
      columns[entry] = place;
      if (entryValues !== undefined) entryValues[entry] = 1;
    }
  }
}

function writeDense(f64: Float64Array, from: number, own: FeatureValues, extract: number): void {
  if (own.kind !== 'numbers') return;
  const { values } = own;
  const target = f64.subarray(from, from + values.length);
  if (extract === EXTRACT_VALUE) {
    target.set(values);
    return;
  }
  for (let row = 0; row < values.length; row++) {
    const value = at(values, row);
    if (extract === EXTRACT_PRESENCE) target[row] = Number.isNaN(value) ? 0 : 1;
    else target[row] = Number.isNaN(value) ? 0 : value;
  }
}

function presentShare(values: Float64Array): number {
  let count = 0;
  for (let row = 0; row < values.length; row++) if (!Number.isNaN(at(values, row))) count++;
  return values.length === 0 ? 0 : count / values.length;
}
