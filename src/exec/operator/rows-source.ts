// Rows that the reference made, or that are parts of a value, as a table: what is above them runs on batches all the same.
import type { PlanNode, RowDatasetNode } from '../../plan/plan.ts';
import type { Value } from '../../value/value.ts';
import { compileRowDataset } from '../general/operator/row-dataset.ts';
import { type ExecRow, GroupRow, namedRow, WindowRow } from '../general/row.ts';
import type { OperatorContext } from './materialize.ts';
import { NotSuited } from './not-suited.ts';
import { aggregateName, keyName, outputsOfRows, type TableOfRows, windowName } from './outputs.ts';
import { Pipeline } from './pipeline.ts';
import { chunksOf, MadeTable } from './table/batch-table.ts';
import { CellCollector } from './table/cell-collector.ts';

const CHUNK_ROW_COUNT = 65_536;

/** The rows of a node that the reference made. */
export function pipelineOfRows(
  node: PlanNode,
  rows: Iterable<ExecRow>,
  context: OperatorContext,
): Pipeline {
  const made = tableOfRows(rows, context);
  const { table } = made;
  return new Pipeline(
    table,
    outputsOfRows(node, made),
    (rowOf) => namedRow(table.nameAt(rowOf(0) as number)),
    context.tables,
  );
}

/** The members or atoms of a value, which a closure gives, as a table. @throws NotSuited, and the closure */
export function rowDataset(node: RowDatasetNode, context: OperatorContext): Pipeline {
  const { compiler, trace } = context;
  const rows = compileRowDataset(node, compiler);
  trace?.evaluated(node.expression, 'closure', []);
  // What the columns hold is not known before the value is.
  if (compiler.runtime.isDry) throw new NotSuited();
  return pipelineOfRows(node, rows(), context);
}

function tableOfRows(rows: Iterable<ExecRow>, context: OperatorContext): TableOfRows {
  const kept: ExecRow[] = [];
  const columns = new Map<string, CellCollector>();
  const add = (name: string, value: Value) => {
    let column = columns.get(name);
    if (column === undefined) {
      column = new CellCollector();
      columns.set(name, column);
    }
    column.set(kept.length, value);
  };
  for (const row of rows) {
    const input = row instanceof WindowRow ? row.input : row;
    if (row instanceof WindowRow) {
      row.results.forEach((value, index) => {
        add(windowName(index), value);
      });
    }
    if (input instanceof GroupRow) {
      input.keys.forEach((value, index) => {
        add(keyName(index), value);
      });
      input.aggregates.forEach((value, index) => {
        add(aggregateName(index), value);
      });
    } else {
      const { names, values } = row.row;
      for (let i = 0; i < names.length; i++) add(names[i] as string, values[i] as Value);
    }
    kept.push(row);
  }
  const chunkRowCounts = chunksOf(kept.length, CHUNK_ROW_COUNT);
  const makers = new Map(
    Array.from(columns, ([name, column]) => [
      name,
      () => column.encode([name], kept.length, chunkRowCounts, context),
    ]),
  );
  const table = new MadeTable(chunkRowCounts, makers, (row) => (kept[row] as ExecRow).name);
  return { table, presenceOf: (name) => columns.get(name)?.presence(kept.length) };
}
