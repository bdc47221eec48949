// Counts and times the rows of an operator, for EXPLAIN ANALYZE.
import type { Observe } from '../../../physical/observation.ts';
import type { PhysicalNode } from '../../../physical/physical.ts';
import type { PlanNode } from '../../../plan/plan.ts';
import type { ExecRow } from '../row.ts';
import { isSliceable, type RowSource } from './source.ts';

export function observedSource(
  source: RowSource,
  { logical: node, way }: PhysicalNode,
  observe: Observe,
): RowSource {
  return () => {
    observe(node, { way });
    const start = performance.now();
    const rows = source();
    if (isSliceable(rows)) {
      observe(node, { rowCount: rows.rowCount, milliseconds: performance.now() - start });
      return rows;
    }
    return observedRows(rows, performance.now() - start, node, observe);
  };
}

function* observedRows(
  rows: Iterable<ExecRow>,
  before: number,
  node: PlanNode,
  observe: Observe,
): Iterable<ExecRow> {
  let milliseconds = before;
  let rowCount = 0;
  const iterator = rows[Symbol.iterator]();
  let isDone = false;
  try {
    for (;;) {
      const start = performance.now();
      const next = iterator.next();
      milliseconds += performance.now() - start;
      if (next.done === true) {
        isDone = true;
        return;
      }
      rowCount++;
      yield next.value;
    }
  } finally {
    if (!isDone) iterator.return?.();
    observe(node, { rowCount, milliseconds });
  }
}
