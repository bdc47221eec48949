// Joins whose rows come in the order of the values that are equal. Where only the first rows are
// wanted, counts of the first values on both sides tell how far these reach, and no other is joined.
import type { BoundExpression, JoinSide } from '../../../plan/expression.ts';
import type { JoinNode, SortNode } from '../../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import { type Atom, compareAtoms } from '../../../value/atom.ts';
import { constant } from '../../../value/value.ts';
import { atomOfGroup, type GroupColumn } from '../../vector/group/group-column.ts';
import { groupResolved } from '../group/accumulate.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { both, type Pipeline } from '../pipeline.ts';
import { selectRows } from '../select-rows.ts';
import { pickRows } from '../slice.ts';
import { sortPipeline } from '../sort.ts';
import { joinPipelines, settle } from './join.ts';
import { keyOrder, withoutRanks, withRanks } from './key-order.ts';
import { outerJoin } from './outer-join.ts';

interface Sides {
  readonly left: Pipeline;
  readonly right: Pipeline;
}

/** Only for fewer rows than this it is worth finding out how far they reach. */
const FIRST_MAX = 65_536;
/** How many values of the shorter side are tried at first, and by how much more when too few. */
const VALUES_AT_FIRST = 16;
const VALUE_GROWTH = 32;

/** @param first only so many first rows are read; undefined: all. @throws NotSuited */
export function orderedJoin(
  node: JoinNode,
  sides: Sides,
  first: number | undefined,
  context: OperatorContext,
): Pipeline {
  const [equality, ...others] = node.equalities;
  const { own, residual, joinKind } = node;
  if (equality === undefined || joinKind === 'semi' || joinKind === 'anti') throw new NotSuited();
  const isWhole = own.left === undefined && own.right === undefined && residual === undefined;
  const isShort =
    first !== undefined &&
    first <= FIRST_MAX &&
    joinKind === 'inner' &&
    isWhole &&
    others.length === 0;
  const { left, right } = isShort ? firstRows(equality, sides, first, context) : sides;
  const ranked = {
    left: withRanks('left', left, context),
    right: withRanks('right', right, context),
  };
  const pairs = pairsInAnyOrder({ ...node, order: 'any' }, ranked, context);
  const sort: Omit<SortNode, 'input'> = {
    ...{ kind: 'sort', keys: keyOrder(node), late: false, ties: 'input-order' },
    keep: first,
  };
  return withoutRanks(sortPipeline(sort, pairs, context));
}

function pairsInAnyOrder(
  node: JoinNode,
  { left, right }: Sides,
  context: OperatorContext,
): Pipeline {
  const { joinKind, own, residual } = node;
  const isByKeysAlone =
    joinKind !== 'full' &&
    (joinKind === 'inner' || (residual === undefined && own[joinKind as JoinSide] === undefined));
  return isByKeysAlone
    ? joinPipelines(node, left, right, context)
    : outerJoin(node, left, right, context);
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
