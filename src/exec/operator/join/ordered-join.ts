// Joins whose rows come in the order of the values that are equal. Where only the first rows are
// wanted, counts of the values on both sides tell how far these reach, and nothing else is joined.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import { every } from '../../../util/every.ts';
import { type Atom, compareAtoms } from '../../../value/atom.ts';
import { keyOfAtom } from '../../../value/canonical-key.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { comparePaths, type Path } from '../../../value/path.ts';
import { constant } from '../../../value/value.ts';
import { atomOfGroup, type GroupColumn } from '../../vector/group/group-column.ts';
import { groupResolved } from '../aggregate.ts';
import { materializeRows, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { pickRows } from '../slice.ts';
import { joinPipelines, withOutputNames } from './join.ts';

interface Sides {
  readonly left: Pipeline;
  readonly right: Pipeline;
}

/** Only for fewer rows than this it is worth finding out how far they reach. */
const FIRST_MAX = 65_536;
const COMPARISONS_PER_CHECK = 4096;

/** @param first only so many first rows are read; undefined: all. @throws NotSuited */
export function orderedJoin(
  node: JoinNode,
  { left, right }: Sides,
  first: number | undefined,
  context: OperatorContext,
): Pipeline {
  const [equality, ...others] = node.equalities;
  if (equality === undefined || others.length > 0 || node.joinKind !== 'inner')
    throw new NotSuited();
  const { own, residual } = node;
  const isWhole = own.left === undefined && own.right === undefined && residual === undefined;
  if (first !== undefined && first <= FIRST_MAX && isWhole) {
    const leftKey = suited(left.resolve(equality.left));
    const rightKey = suited(right.resolve(equality.right));
    const last = lastValue(
      [countValues(left, leftKey, context), countValues(right, rightKey, context)],
      first,
    );
    if (last !== undefined) {
      addUpperBound(left, leftKey, last);
      addUpperBound(right, rightKey, last);
    }
  }
  const { pipeline, sideName } = joinPipelines(node, left, right, context);
  const key = suited(pipeline.resolve(keyOfJoin(node, equality.left)));
  const list = suited(pipeline.outputs.list());
  const outputs = [...list, { path: [KEY], expression: key }];
  const made = materializeRows(pipeline, outputs, context, { named: true });
  const rows = orderOf(
    made.pipeline,
    (side, row) => sideName(side, made.sourceRow(row))?.name,
    context,
  );
  return withOutputNames(pipeline, pickRows(made.pipeline, rows, context));
}

/** No column of a query is called so. */
const KEY = '\u0000key';

/** The key of the left side as joined rows have it: below the alias of its table. */
function keyOfJoin({ left }: JoinNode, key: BoundExpression): BoundExpression {
  if (left.alias === undefined) return key;
  if (key.kind !== 'column') throw new NotSuited();
  return { ...key, path: [left.alias, ...key.path] };
}

interface ValueCounts {
  readonly values: GroupColumn;
  readonly counts: GroupColumn;
  readonly count: number;
}

/** How often each value occurs, in ascending order. */
function countValues(
  pipeline: Pipeline,
  key: BoundExpression,
  context: OperatorContext,
): ValueCounts {
  const one: BoundExpression = { ...key, kind: 'constant', value: constant(1) } as BoundExpression;
  const { start, end } = key;
  const call = { name: 'count', args: [one], surface: 'count(*)', start, end };
  const grouping = { keys: [key], aggregates: [call], explicit: true, isOrdered: true };
  const groups = groupResolved(grouping, pipeline, context);
  const [values] = groups.keys;
  const [counts] = groups.aggregates;
  return {
    values: suited(values),
    counts: suited(counts),
    count: groups.rowCount,
  };
}

/** The value at which so many pairs are complete; undefined when there are not more than these. */
function lastValue([a, b]: readonly [ValueCounts, ValueCounts], wanted: number): Atom | undefined {
  const partners = new Map<unknown, number>();
  const [few, many] = a.count <= b.count ? [a, b] : [b, a];
  for (let i = 0; i < few.count; i++) {
    const value = atomOfGroup(few.values, i);
    if (value !== null) partners.set(keyOfAtom(value), atomOfGroup(few.counts, i) as number);
  }
  let pairCount = 0;
  for (let i = 0; i < many.count; i++) {
    const value = atomOfGroup(many.values, i);
    if (value === null) continue;
    const partnerCount = partners.get(keyOfAtom(value));
    if (partnerCount === undefined) continue;
    pairCount += partnerCount * (atomOfGroup(many.counts, i) as number);
    if (pairCount >= wanted) return value;
  }
  return undefined;
}

function addUpperBound(pipeline: Pipeline, key: BoundExpression, value: Atom): void {
  const { start, end, type } = key;
  const truth = pipeline.lowering.truth({
    ...{ kind: 'comparison', operator: '<=', left: key },
    right: { kind: 'constant', value: constant(value), type, start, end },
    ...{ type: BOOLEAN_TYPE, start, end },
  });
  pipeline.addFilter(suited(truth));
}

/** Rows by their key, then by the names of the rows of the left and the right side. */
function orderOf(
  { base }: Pipeline,
  nameOf: (side: 'left' | 'right', row: number) => Path | undefined,
  { memory, compiler }: OperatorContext,
): Uint32Array {
  const column = base.find([KEY]);
  if (typeof column !== 'number') throw new NotSuited();
  const view = new ColumnView(base.columns[column] as ColumnSnapshot, memory.arenas);
  const { scope } = compiler.runtime;
  const look = every(COMPARISONS_PER_CHECK, () => scope.checkCancelled());
  const rows = Array.from({ length: base.rowCount }, (_, row) => {
    look();
    return {
      ...{ row, key: view.atomAt(row) },
      left: suited(nameOf('left', row)),
      right: suited(nameOf('right', row)),
    };
  });
  rows.sort((a, b) => {
    look();
    return (
      compareAtoms(a.key, b.key) ||
      comparePaths(a.left, b.left) ||
      comparePaths(a.right, b.right) ||
      a.row - b.row
    );
  });
  return Uint32Array.from(rows, ({ row }) => row);
}
