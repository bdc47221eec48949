// Codes of the columns that few rows have, kept for those rows alone.
import type { Span } from '../../value/column/snapshot.ts';
import { type JobContext, Layout, type Workspace } from '../workspace.ts';
import { type Feature, numericCode } from './feature.ts';
import type { SourceColumn, SparseColumn } from './source.ts';

/** Entries row by row, columns ascending in a row. Offsets lie in the arena of the span. */
export interface SparseCodes {
  readonly span: Span;
  /** a u32 for each row and one more: where its entries begin */
  readonly starts: number;
  /** a u32 for each entry: its column in the matrix */
  readonly columns: number;
  /** a byte for each entry, never 0 */
  readonly codes: number;
}

/** Columns that at least so small a share of the rows has, and so many of them, are worth it. */
const SHARE_MAX = 1 / 8;
const COLUMN_COUNT_MIN = 64;

/** Which of the columns are kept by their entries: all of the scarce ones, or none. */
export function scarceColumns(
  sources: readonly SourceColumn[],
  features: readonly Feature[],
): readonly boolean[] {
  const isScarce = sources.map(
    (source, index) =>
      source.kind === 'sparse' &&
      features[index]?.kind === 'numeric' &&
      source.rows.length < SHARE_MAX * source.rowCount,
  );
  const count = isScarce.reduce((sum, scarce) => sum + Number(scarce), 0);
  return count < COLUMN_COUNT_MIN ? isScarce.fill(false) : isScarce;
}

export interface ScarceColumn {
  /** its column in the matrix */
  readonly column: number;
  readonly feature: Feature;
  readonly source: SparseColumn;
}

/** @param scarce columns ascending. The span is the caller's to free. */
export function writeSparseCodes(
  { memory }: Workspace,
  scarce: readonly ScarceColumn[],
  rowCount: number,
  arena: number,
  scope: JobContext,
): SparseCodes {
  const next = new Uint32Array(rowCount + 1);
  for (const { source } of scarce) {
    for (const row of source.rows) next[row + 1] = (next[row + 1] as number) + 1;
  }
  for (let row = 0; row < rowCount; row++) {
    next[row + 1] = (next[row + 1] as number) + (next[row] as number);
  }
  const entryCount = next[rowCount] as number;
  const layout = new Layout();
  const sizes = [next.byteLength, entryCount * 4, entryCount];
  for (const size of sizes) layout.take(size);
  const span = memory.allocateIn(arena, Math.max(16, layout.sizeBytes));
  const place = new Layout(span.offset);
  const [starts, columns, codes] = sizes.map((size) => place.take(size)) as [
    number,
    number,
    number,
  ];
  const { u8, u32 } = memory.get(arena);
  u32.set(next, starts >>> 2);
  try {
    for (const { column, feature, source } of scarce) {
      scope.checkCancelled();
      if (feature.kind !== 'numeric') throw new Error('numbers are kept by their entries');
      for (let i = 0; i < source.rows.length; i++) {
        const row = source.rows[i] as number;
        const entry = next[row] as number;
        next[row] = entry + 1;
        u32[(columns >>> 2) + entry] = column;
        u8[codes + entry] = numericCode(feature.boundaries, source.values[i] as number);
      }
    }
  } catch (thrown) {
    memory.free(span);
    throw thrown;
  }
  return { span, starts, columns, codes };
}
