// The rows of a pipeline for those who read them one by one: by their numbers in a dataset, or as a table
// of expressions about them.
import type { PhysicalNode } from '../../../physical/physical.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { ExecRow } from '../../general/row.ts';
import { NumberedRows } from '../../vector/numbered-rows.ts';
import { RowReader } from '../../vector/row-reader.ts';
import { VectorTable } from '../../vector/table.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { NotSuited } from '../not-suited.ts';
import type { Outputs, Pipeline } from '../pipeline.ts';
import { scanBelow } from '../plan-parts.ts';
import { readSelected } from '../select-rows.ts';
import type { MadeTable } from '../table/batch-table.ts';
import { PickedTable } from '../table/picked-table.ts';

/** Rows of a dataset in the order of their numbers, made when they are read. @throws NotSuited */
export function numberedRows(
  physical: PhysicalNode,
  { base }: Pipeline,
  context: OperatorContext,
): NumberedRows {
  if (!(base instanceof PickedTable) || !(base.base instanceof VectorTable)) {
    throw new NotSuited();
  }
  return new NumberedRows(readerOf(physical, base.base, context), base.rows);
}

/**
 * The rows of a dataset that a filter leaves, chunk by chunk. @param release called when no more rows
 * are read @throws NotSuited
 */
export function filteredRows(
  physical: PhysicalNode,
  pipeline: Pipeline,
  release: () => void,
  context: OperatorContext,
): Iterable<ExecRow> {
  const { base, isPlain } = pipeline;
  if (!isPlain || !(base instanceof VectorTable)) throw new NotSuited();
  return readSelected(pipeline, readerOf(physical, base, context), context.engine, release);
}

function readerOf(
  physical: PhysicalNode,
  { snapshot, ts }: VectorTable,
  { engine }: OperatorContext,
): RowReader {
  return new RowReader(snapshot, scanBelow(physical).columns, engine.arenas, ts);
}

/** Columns of expressions, in the order in which these were asked for. */
export type ExpressionTable = Pick<MadeTable, 'rowCount' | 'nameAt'> & {
  readonly columns: readonly ColumnSnapshot[];
};

/** @param choose makes the expressions of what the pipeline gives @throws NotSuited */
export function expressionTable(
  pipeline: Pipeline,
  choose: (outputs: Outputs) => readonly BoundExpression[],
  context: OperatorContext,
): ExpressionTable {
  const outputs = choose(pipeline.outputs).map((expression, index) => {
    return { path: [String(index)], expression };
  });
  const { base, namer } = materialize(pipeline, outputs, context, { named: true });
  const columns = outputs.map(({ path }) => {
    const column = base.find(path);
    if (typeof column !== 'number') throw new NotSuited();
    return base.columns[column] as ColumnSnapshot;
  });
  return { rowCount: base.rowCount, columns, nameAt: (row) => namer(() => row).name };
}
