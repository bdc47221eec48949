// Numbers of a column for code that runs over typed arrays.
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { ArenaSpans } from '../../vector/arena-spans.ts';
import { homeArena } from '../../vector/chunk-range.ts';
import type { OperatorContext } from '../materialize.ts';
import { flatten } from './gather.ts';

/**
 * All numbers or timestamps of a column by row, copied; `valid` is 0 for rows without one, absent
 * when all have one. Of a column with a dictionary the numbers are its codes.
 */
export function columnNumbers(
  column: ColumnSnapshot,
  table: { readonly rowCount: number; readonly chunkRowCounts: readonly number[] },
  { engine }: OperatorContext,
): { readonly values: Float64Array; readonly valid: Uint8Array | undefined } {
  const spans = new ArenaSpans(engine, homeArena([column]));
  try {
    const { rowCount } = table;
    const flat = flatten(column, table, spans);
    const { i32, f64, u8 } = engine.arenas.get(spans.arena);
    const { offset } = flat.data;
    const values =
      flat.kind === 'float64'
        ? f64.slice(offset / 8, offset / 8 + rowCount)
        : Float64Array.from(i32.subarray(offset / 4, offset / 4 + rowCount));
    if (column.nullCount === 0) return { values, valid: undefined };
    if (flat.kind === 'codes') {
      return { values, valid: Uint8Array.from(values, (code) => (code === 0 ? 0 : 1)) };
    }
    const at = (flat.valid as { readonly offset: number }).offset;
    return { values, valid: u8.slice(at, at + rowCount) };
  } finally {
    spans.release();
  }
}
