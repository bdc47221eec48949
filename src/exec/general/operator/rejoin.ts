// Joined rows in the shape in which FROM was written, for their names and sides.
import type { JoinShapeTree, RejoinNode } from '../../../plan/plan.ts';
import type { Row } from '../../../value/value.ts';
import { type ExecRow, JoinedRow, sideOf } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileRejoin(node: RejoinNode, input: RowSource): RowSource {
  const rebuild = rejoinRow(node.shape);
  return function* () {
    for (const row of input()) yield rebuild(row);
  };
}

/** A row in another shape, with the same columns. */
export function rejoinRow(shape: JoinShapeTree): (row: ExecRow) => ExecRow {
  const rebuild = compileShape(shape);
  return (row) => rebuild(row, row.row);
}

function compileShape(shape: JoinShapeTree): (row: ExecRow, columns: Row) => ExecRow {
  if (shape.kind === 'table') {
    const { side } = shape;
    return (row) => sideOf(row, side) as ExecRow;
  }
  const left = compileShape(shape.left);
  const right = compileShape(shape.right);
  const counts = {
    leftTableCount: tableCountOf(shape.left),
    rightTableCount: tableCountOf(shape.right),
  };
  return (row, columns) => new JoinedRow(left(row, columns), right(row, columns), columns, counts);
}

function tableCountOf(shape: JoinShapeTree): number {
  if (shape.kind === 'table') return shape.tableCount;
  return tableCountOf(shape.left) + tableCountOf(shape.right);
}
