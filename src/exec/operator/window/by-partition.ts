// Window functions that kernels do not know: each partition of the arranged rows is left to the function
// as the reference has it, with rows that hold what the call reads and nothing else.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { WindowCall } from '../../../plan/plan.ts';
import { textOfExpression } from '../../../plan/text-of-expression.ts';
import { every } from '../../../util/every.ts';
import { Path } from '../../../value/path.ts';
import { NULL_VALUE, Row, type Value } from '../../../value/value.ts';
import { TableRow } from '../../general/row.ts';
import type { Partition } from '../../general/window/partition.ts';
import { compileWindowCall } from '../../general/window/window-call.ts';
import type { OperatorContext } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import type { MadeColumn } from '../table/batch-table.ts';
import { CellCollector } from '../table/cell-collector.ts';
import { ColumnReaders, type ReadValue } from '../table/column-readers.ts';
import { type Arrangement, forEachPartition } from './arrangement.ts';
import { mapCall } from './map-call.ts';

/** Results between two looks whether the query was cancelled. */
const RESULTS_PER_LOOK = 1024;
const NO_NAME = new Path([]);

/** @param call about the columns of the table. @throws NotSuited, and what functions throw */
export function resultsByPartition(
  name: string,
  call: WindowCall,
  table: Pipeline,
  arrangement: Arrangement,
  context: OperatorContext,
): MadeColumn {
  const { compiler } = context;
  const readers = new ColumnReaders(table, context);
  const columns: { readonly name: string; readonly read: ReadValue }[] = [];
  const names = new Map<string, string>();
  const ofRow = mapCall(call, (expression): BoundExpression => {
    if (expression.kind !== 'column') return expression;
    const text = textOfExpression(expression.path);
    let own = names.get(text);
    if (own === undefined) {
      own = columnName(columns.length);
      names.set(text, own);
      columns.push({ name: own, read: readers.values(expression) });
    }
    return { ...expression, path: [own] };
  });
  const run = compileWindowCall(ofRow, compiler);
  const rowNames = columns.map((column) => column.name);
  const rowAt = (row: number) => {
    return new TableRow(
      NO_NAME,
      new Row(
        rowNames,
        columns.map(({ read }) => read(row)),
      ),
    );
  };
  const [key] = call.orderBy;
  const keyAt = key === undefined ? () => NULL_VALUE : readers.values(key.expression);
  const { order } = arrangement;
  const results = new Array<Value>(order.length).fill(NULL_VALUE);
  const { scope } = compiler.runtime;
  const look = every(RESULTS_PER_LOOK, () => scope.checkCancelled());
  forEachPartition(arrangement, (from, to) => {
    const rowIndexes = Array.from(order.subarray(from, to));
    const partition: Partition = {
      rows: rowIndexes.map(rowAt),
      rowIndexes,
      keys: rowIndexes.map(keyAt),
      ...peersWithin(arrangement, from, to),
    };
    run(partition, (position, value) => {
      look();
      results[rowIndexes[position] as number] = value;
    });
  });
  const cells = new CellCollector();
  results.forEach((value, row) => {
    cells.set(row, value);
  });
  return suited(cells.encode([name], order.length, table.base.chunkRowCounts, context));
}

/** In natural order, as the columns of rows are: ten thousand columns have five places. */
function columnName(index: number): string {
  return `c${String(index).padStart(5, '0')}`;
}

/** The runs of peers of a partition, counted from its first row; empty where nobody asks for peers. */
function peersWithin(
  { peers }: Arrangement,
  from: number,
  to: number,
): Pick<Partition, 'groupOf' | 'groupStarts'> {
  if (peers === undefined || from === to) return { groupOf: [], groupStarts: [] };
  const first = peers.groupOf[from] as number;
  const last = peers.groupOf[to - 1] as number;
  return {
    groupOf: Array.from(peers.groupOf.subarray(from, to), (group) => group - first),
    groupStarts: Array.from(peers.groupStarts.subarray(first, last + 2), (start) => start - from),
  };
}
