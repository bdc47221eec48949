// Joins whose rows come in the order of the values that are equal. Where only the first rows are
// wanted, counts of the first values on both sides tell how far these reach, and no other is joined.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import { every } from '../../../util/every.ts';
import { type Atom, compareAtoms } from '../../../value/atom.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { comparePaths, type Path } from '../../../value/path.ts';
import { constant } from '../../../value/value.ts';
import { atomOfGroup, type GroupColumn } from '../../vector/group/group-column.ts';
import { groupResolved } from '../group/accumulate.ts';
import { materializeRows, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { both, type Pipeline } from '../pipeline.ts';
import { selectRows } from '../select-rows.ts';
import { pickRows } from '../slice.ts';
import { joinPipelines, settle, withOutputNames } from './join.ts';

interface Sides {
  readonly left: Pipeline;
  readonly right: Pipeline;
}

/** Only for fewer rows than this it is worth finding out how far they reach. */
const FIRST_MAX = 65_536;
/** How many values of the shorter side are tried at first, and by how much more when too few. */
const VALUES_AT_FIRST = 16;
const VALUE_GROWTH = 32;
const COMPARISONS_PER_CHECK = 4096;

/** @param first only so many first rows are read; undefined: all. @throws NotSuited */
export function orderedJoin(
  node: JoinNode,
  sides: Sides,
  first: number | undefined,
  context: OperatorContext,
): Pipeline {
  const [equality, ...others] = node.equalities;
  if (equality === undefined || others.length > 0 || node.joinKind !== 'inner')
    throw new NotSuited();
  const { own, residual } = node;
  const isWhole = own.left === undefined && own.right === undefined && residual === undefined;
  const isShort = first !== undefined && first <= FIRST_MAX && isWhole;
  const { left, right } = isShort ? firstRows(equality, sides, first, context) : sides;
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

interface KeyedSide {
  readonly pipeline: Pipeline;
  /** about the rows of the pipeline */
  readonly key: BoundExpression;
}

/**
 * The rows of both sides that the first pairs are made of. Of the shorter side the first values are
 * counted, then of the longer one what can be equal to them; when these do not suffice, more.
 */
function firstRows(
  equality: JoinNode['equalities'][number],
  { left, right }: Sides,
  wanted: number,
  context: OperatorContext,
): Sides {
  const leftSide = { pipeline: left, key: equality.left };
  const rightSide = { pipeline: right, key: equality.right };
  const isLeftShorter = left.base.rowCount <= right.base.rowCount;
  const [short, long] = isLeftShorter ? [leftSide, rightSide] : [rightSide, leftSide];
  for (let keep = VALUES_AT_FIRST; ; keep *= VALUE_GROWTH) {
    const few = countValues(short, keep, context);
    const bound = few.count === 0 ? null : atomOfGroup(few.values, few.count - 1);
    if (bound !== null) {
      const reached = { ...long, pipeline: rowsUpTo(long, bound, context) };
      const last = lastValue(few, countValues(reached, undefined, context), wanted);
      if (last !== undefined) {
        const ofShort = rowsUpTo(short, last, context);
        const ofLong = rowsUpTo(reached, last, context);
        return isLeftShorter ? { left: ofShort, right: ofLong } : { left: ofLong, right: ofShort };
      }
    }
    if (few.count < keep) return { left, right };
  }
}

/** The rows with a value that comes no later; the pipeline itself stays as it is. */
function rowsUpTo({ pipeline, key }: KeyedSide, value: Atom, context: OperatorContext): Pipeline {
  const { start, end, type } = key;
  const truth = pipeline.lowering.truth({
    ...{ kind: 'comparison', operator: '<=', left: suited(pipeline.resolve(key)) },
    right: { kind: 'constant', value: constant(value), type, start, end },
    ...{ type: BOOLEAN_TYPE, start, end },
  });
  const before = pipeline.filter;
  const filter = both(before, suited(truth));
  if (pipeline.isPlain) {
    return pickRows(pipeline, selectRows(pipeline, filter, context.engine), context);
  }
  pipeline.filter = filter;
  try {
    return settle(pipeline, context);
  } finally {
    pipeline.filter = before;
  }
}

/** How often values occur, in ascending order. @param keep so many first ones; undefined: all */
function countValues(
  { pipeline, key }: KeyedSide,
  keep: number | undefined,
  context: OperatorContext,
): ValueCounts {
  const one: BoundExpression = { ...key, kind: 'constant', value: constant(1) } as BoundExpression;
  const { start, end } = key;
  const call = { name: 'count', args: [one], surface: 'count(*)', start, end };
  const grouping = {
    keys: [suited(pipeline.resolve(key))],
    aggregates: [call],
    explicit: true,
    isOrdered: true,
    keep,
  };
  const groups = groupResolved(grouping, pipeline, context);
  const [values] = groups.keys;
  const [counts] = groups.aggregates;
  return {
    values: suited(values),
    counts: suited(counts),
    count: groups.rowCount,
  };
}

/** The value at which so many pairs are complete, of values in ascending order on both sides. */
function lastValue(few: ValueCounts, many: ValueCounts, wanted: number): Atom | undefined {
  let pairCount = 0;
  for (let i = 0, j = 0; i < few.count && j < many.count; ) {
    const value = atomOfGroup(few.values, i);
    const other = atomOfGroup(many.values, j);
    const order = compareAtoms(value, other);
    if (order === 0 && value !== null) {
      const counts = [atomOfGroup(few.counts, i), atomOfGroup(many.counts, j)] as [number, number];
      pairCount += counts[0] * counts[1];
      if (pairCount >= wanted) return value;
    }
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return undefined;
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
