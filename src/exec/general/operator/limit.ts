// OFFSET and LIMIT.
import type { LimitNode } from '../../../plan/plan.ts';
import type { ExecRow } from '../row.ts';
import { isSliceable, type RowSource } from './source.ts';

export function compileLimit(node: LimitNode, input: RowSource): RowSource {
  const { offset, limit = Number.POSITIVE_INFINITY } = node;
  return () => {
    if (limit === 0) return [];
    const rows = input();
    if (!isSliceable(rows)) return takeRows(rows, offset, limit);
    const from = Math.min(offset, rows.rowCount);
    return rows.slice(from, Math.min(from + limit, rows.rowCount));
  };
}

function* takeRows(rows: Iterable<ExecRow>, offset: number, limit: number): Iterable<ExecRow> {
  let skip = offset;
  let remaining = limit;
  for (const row of rows) {
    if (skip > 0) {
      skip--;
      continue;
    }
    yield row;
    if (--remaining === 0) return;
  }
}
