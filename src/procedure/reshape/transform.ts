import { Type } from 'typebox';
import { queryTextOf } from '../../dataset/parameter.ts';
import { cellsOfRow, type RecordedCell } from '../../dataset/recorded-row.ts';
import { hasTable, readQuery } from '../../exec/query.ts';
import { type ColumnOrder, comparerOf } from '../../plan/column-order.ts';
import type { PlanNode } from '../../plan/plan.ts';
import {
  type InputQuery,
  inputQuery,
  type OutputDatasetSpec,
  outputDataset,
} from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Row } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, type ProcedureResult, workerProcedure } from '../procedure-type.ts';

/** Rows between two looks at the cancel flag and reports of progress. */
const ROWS_PER_REPORT = 512;

/** Records the result of a query as a dataset. */
export const transform = workerProcedure({
  name: 'transform',
  summary: 'Records the result of a query as a dataset.',
  parameters: Type.Object({
    inputData: Type.Optional(inputQuery({ description: 'the query', isNeeded: true })),
    outputDataset: Type.Optional(
      outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
    ),
    skipEmptyRows: Type.Boolean({
      description: 'drop rows without any value that is not null',
      default: false,
    }),
    ...runOnCreation,
  }),
  check({ inputData }) {
    if (inputData !== undefined) readQuery(queryTextOf(inputData));
  },
  run(context, { inputData, outputDataset, skipEmptyRows }) {
    if (inputData === undefined) {
      throw failure('MISSING_PARAMETER', 'You need to define inputData');
    }
    return recordQuery(context, inputData, outputDataset, skipEmptyRows);
  },
});

function recordQuery(
  context: ProcedureContext,
  inputData: InputQuery,
  spec: OutputDatasetSpec,
  skipEmptyRows: boolean,
): ProcedureResult {
  const query = readQuery(queryTextOf(inputData));
  const progress = context.steps(
    !hasTable(query)
      ? []
      : [
          { name: 'binding', type: 'percentile' },
          { name: 'transforming', type: 'percentile' },
        ],
  );
  progress.next();
  const prepared = context.query(inputData);
  const output = context.output(spec, 'sparse.mutable');
  progress.next();
  const copiedBy = skipEmptyRows
    ? undefined
    : output.copyRows(prepared.plan.root, context.namespace, (share) => progress.update(share));
  if (copiedBy !== undefined) {
    context.log(`The rows stay in the other system: ${copiedBy}`);
    progress.finish();
    return { result: output.commit(), details: { copiedBy } };
  }
  const keepsDatelessNulls = hasTable(query) && !isGrouped(prepared.plan.root);
  const orderCells = cellOrder(prepared.order);
  let rowCount = 0;
  for (const { name, row } of prepared.run()) {
    if (rowCount++ % ROWS_PER_REPORT === 0) {
      context.checkCancelled();
      progress.update(1 - ROWS_PER_REPORT / (rowCount + ROWS_PER_REPORT));
    }
    if (name.length === 0) {
      throw failure('SQL_EXECUTION', "Can't create a row with a null name");
    }
    const cells = orderCells(row, cellsOfRow(row));
    if (skipEmptyRows && cells.every(([, atom]) => atom === null)) continue;
    output.record({
      name,
      cells: keepsDatelessNulls
        ? cells
        : cells.filter(([, atom, ts]) => atom !== null || !Number.isNaN(ts)),
    });
  }
  progress.finish();
  return { result: output.commit() };
}

/** True when the rows of the result are groups. */
function isGrouped(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
      return true;
    case 'project':
    case 'limit':
    case 'distinct-on':
    case 'sort':
    case 'filter':
      return isGrouped(node.input);
    default:
      return false;
  }
}

/** Cells in the order of the select list, in which ordered datasets keep their columns. */
function cellOrder(
  order: ColumnOrder,
): (row: Row, cells: readonly RecordedCell[]) => readonly RecordedCell[] {
  const compare = comparerOf(order);
  let names: readonly string[] | undefined;
  let positions: readonly number[] = [];
  return (row, cells) => {
    // Rows of one query mostly have the same columns, each with one value.
    const isFlat = cells.length === row.length;
    if (!isFlat) return [...cells].sort((a, b) => compare(a[0].elements, b[0].elements));
    if (row.names !== names) {
      names = row.names;
      positions = cells
        .map((_, index) => index)
        .sort((a, b) => compare(pathAt(cells, a), pathAt(cells, b)));
    }
    return positions.map((index) => cells[index] as RecordedCell);
  };
}

function pathAt(cells: readonly RecordedCell[], index: number): readonly string[] {
  return (cells[index] as RecordedCell)[0].elements;
}
