// UNION, EXCEPT and INTERSECT: both sides behind each other, grouped unless all rows count.
import type { BoundExpression } from '../../plan/expression.ts';
import type { SetOperationNode } from '../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../plan/type/operator-type.ts';
import { atomType } from '../../plan/type/type.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import { constant } from '../../value/value.ts';
import { namedRow } from '../general/row.ts';
import { groupResolved } from './group/accumulate.ts';
import { pipelineOfGroups } from './group/group-pipeline.ts';
import { settle } from './join/join.ts';
import type { OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import { aggregateName, HIDDEN, keyName, tableColumn } from './outputs.ts';
import type { Pipeline } from './pipeline.ts';
import { pickRows } from './slice.ts';
import { cellColumns, concatenate, type Part } from './table/concatenate.ts';
import { KeptRows } from './table/kept-rows.ts';

/** No column of a query is called so. */
const SIDE = `${HIDDEN}side`;

/** @throws NotSuited */
export function setOperation(
  node: SetOperationNode,
  left: Pipeline,
  right: Pipeline,
  named: boolean,
  context: OperatorContext,
): Pipeline {
  const { operator, all } = node;
  if (all && operator !== 'union') return countedRows(node, left, right, context);
  const sides = [left, right].map((pipeline, side) => ({
    pipeline,
    columns: cellColumns(pipeline),
    side,
  }));
  const names = sides.map(({ columns }) =>
    columns
      .map(({ name }) => name)
      .sort()
      .join('\u0001'),
  );
  if (names[0] !== names[1]) throw new NotSuited();
  const part = ({ pipeline, columns, side }: (typeof sides)[number]): Part => ({
    pipeline,
    columns: all ? columns : [...columns, { name: SIDE, expression: number(side) }],
    nameOf: ({ elements }) => new Path([String(side), ...elements]),
  });
  const rows = concatenate(sides.map(part), context, { named: named && all });
  if (all) return rows;
  // A group has no single timestamp where its rows have several.
  if (context.exactTimestamps) throw new NotSuited();
  const paths = suited(node.columns).map((path) => path.join('\u0000'));
  const column = (name: string) => suited(rows.resolve(columnExpression([name])));
  const counts = [call('count', number(1)), call('sum', column(SIDE))];
  const grouping = {
    keys: paths.map(column),
    aggregates: operator === 'union' ? [] : counts,
    ...{ explicit: true, isOrdered: true },
  };
  const groups = groupResolved(grouping, rows, context);
  const result = pipelineOfGroups(grouping, groups, named, context);
  if (operator !== 'union') {
    const [total, ofRight] = [0, 1].map((index) => tableColumn([aggregateName(index)]));
    const inLeft = compare('>', total as BoundExpression, ofRight as BoundExpression);
    const inRight = compare(
      operator === 'except' ? '=' : '>',
      ofRight as BoundExpression,
      number(0),
    );
    result.addFilter(suited(result.lowering.truth(inLeft)));
    result.addFilter(suited(result.lowering.truth(inRight)));
  }
  const keyOf = new Map(paths.map((path, index) => [path, keyName(index)]));
  result.outputs = {
    column(path) {
      const key = keyOf.get(path.join('\u0000'));
      return key === undefined ? 'absent' : tableColumn([key]);
    },
    list: () =>
      suited(node.columns).map((path, index) => ({
        path,
        expression: tableColumn([keyName(index)]),
      })),
  };
  return result;
}

/**
 * EXCEPT ALL and INTERSECT ALL: a row of the right side takes one row of the left side that is equal
 * to it, the first that none has taken.
 */
function countedRows(
  { operator, columns }: SetOperationNode,
  left: Pipeline,
  right: Pipeline,
  context: OperatorContext,
): Pipeline {
  const paths = suited(columns).map((path) => path.join('\u0000'));
  const kept = new KeptRows(paths, true);
  const { scope } = context.compiler.runtime;
  const numbersOf = (side: Pipeline): Int32Array => {
    const views = paths.map((path) => {
      const meaning = suited(side.outputs.column(path.split('\u0000')));
      const column = meaning === 'absent' ? undefined : side.base.find(pathInTable(meaning));
      if (typeof column !== 'number') throw new NotSuited();
      return new ColumnView(side.base.columns[column] as ColumnSnapshot, context.engine.arenas);
    });
    return kept.add(views, side.base.rowCount, () => scope.checkCancelled());
  };
  const rows = settle(left, context);
  const takers = numbersOf(settle(right, context));
  const numbers = numbersOf(rows);
  const counts = new Int32Array(kept.rowCount);
  for (const number of takers) counts[number] = (counts[number] as number) + 1;
  const wanted = operator === 'intersect';
  const chosen: number[] = [];
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] as number;
    const isTaken = (counts[number] as number) > 0;
    if (isTaken) counts[number] = (counts[number] as number) - 1;
    if (isTaken === wanted) chosen.push(row);
  }
  const result = pickRows(rows, Uint32Array.from(chosen), context);
  const { namer } = result;
  result.namer = (rowOf) => namedRow(new Path(['0', ...namer(rowOf).name.elements]));
  return result;
}

/** The path of a column in the table of a pipeline that is one. */
function pathInTable(expression: BoundExpression): readonly string[] {
  if (expression.kind !== 'column') throw new NotSuited();
  return expression.path.slice(1);
}

const NOWHERE = { start: 0, end: 0 };

function columnExpression(path: readonly string[]): BoundExpression {
  return { ...tableColumn(path), kind: 'column', path } as BoundExpression;
}

function number(value: number): BoundExpression {
  return { kind: 'constant', value: constant(value), type: atomType('number'), ...NOWHERE };
}

function compare(
  operator: '>' | '=',
  left: BoundExpression,
  right: BoundExpression,
): BoundExpression {
  return { kind: 'comparison', operator, left, right, type: BOOLEAN_TYPE, ...NOWHERE };
}

function call(name: string, arg: BoundExpression) {
  return { name, args: [arg], surface: name, ...NOWHERE };
}
