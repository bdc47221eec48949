// Some rows of a table, perhaps in another order.
import type { OperatorContext } from './materialize.ts';
import { Pipeline } from './pipeline.ts';
import { PickedTable } from './table/picked-table.ts';

/** The rows from `from` to `to` (undefined: the end) of a pipeline that is a table as it lies. */
export function sliceTable(
  pipeline: Pipeline,
  from: number,
  to: number | undefined,
  context: OperatorContext,
): Pipeline {
  const { rowCount } = pipeline.base;
  const start = Math.min(from, rowCount);
  const end = Math.min(to ?? rowCount, rowCount);
  if (start === 0 && end === rowCount) return pipeline;
  const rows = Uint32Array.from({ length: end - start }, (_, row) => start + row);
  return pickRows(pipeline, rows, context);
}

/** The rows of these numbers of a pipeline that is a table; what it filters is not looked at. */
export function pickRows(
  { base, namer, outputs }: Pipeline,
  rows: Uint32Array,
  context: OperatorContext,
): Pipeline {
  const table = new PickedTable(base, rows, context);
  const nameAt: typeof namer = (rowOf) => {
    const row = rowOf(0);
    return namer((number) => (number === 0 && row !== undefined ? rows[row] : undefined));
  };
  return new Pipeline(table, outputs, nameAt, context.tables);
}
