// GROUP BY over a pipeline, with aggregates of all kinds.
import { isDistinct, isFolded, isQuantile } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall, AggregateNode } from '../../../plan/plan.ts';
import { aggregateNamed } from '../../general/aggregator.ts';
import type { GroupSelection } from '../../vector/group/aggregate.ts';
import type { GroupColumn } from '../../vector/group/group-column.ts';
import { GroupTable } from '../../vector/group/group-table.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Grouping, groupKnown, groupResolved } from './accumulate.ts';
import { groupTwice } from './distinct.ts';
import { foldCalls } from './fold.ts';
import { countOfRows, quantileColumn } from './quantile.ts';
import { mapCall, storeExpressions } from './stored-calls.ts';

/** @throws NotSuited when kernels do not know an aggregate */
export function groupPipeline(
  node: AggregateNode,
  pipeline: Pipeline,
  context: OperatorContext,
  selection: GroupSelection,
  isTwice: boolean,
): GroupTable {
  const keys = node.keys.map((key) => suited(pipeline.resolve(key)));
  const grouping = {
    ...{ keys, explicit: node.explicit, ...selection },
    aggregates: resolveCalls(node.aggregates, pipeline, context),
  };
  return groupCalls(grouping, pipeline, context, isTwice);
}

/** Groups with aggregates of all kinds, each by the way that it needs. @throws NotSuited */
export function groupCalls(
  grouping: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
  /** whether distinct values are grouped before they are counted */
  isTwice: boolean,
): GroupTable {
  const { aggregates: calls, keys, explicit } = grouping;
  const { exactTimestamps } = context;
  const fold = (isByFunction: (call: AggregateCall) => boolean) =>
    withFolded(grouping, isByFunction, pipeline, context, isTwice);
  const isByFunction = (call: AggregateCall) => isFolded(call, exactTimestamps);
  if (calls.some(isByFunction)) return fold(isByFunction);
  const isApart = (call: AggregateCall) => isQuantile(call) || (isTwice && isDistinct(call));
  const plain = calls.filter((call) => !isApart(call));
  const otherwise = () => {
    // Kernels mark which values each group has met only where these are few.
    if (!exactTimestamps && !isTwice && plain.some(isDistinct)) {
      return groupCalls(grouping, pipeline, context, true);
    }
    if (plain.length === 0) throw new NotSuited();
    return fold((call) => plain.includes(call));
  };
  if (plain.length === calls.length) {
    return groupKnown(grouping, pipeline, context) ?? otherwise();
  }
  const distinct = calls.filter((call) => isTwice && isDistinct(call));
  const twice = (selected: Grouping) =>
    groupTwice({ ...selected, aggregates: distinct }, pipeline, context);
  if (distinct.length === calls.length) return twice(grouping);
  if ((grouping.sortKeys ?? []).length > 0) throw new NotSuited();
  const ordered = { keys, explicit, isOrdered: true };
  const groups = groupKnown({ ...ordered, aggregates: plain }, pipeline, context);
  if (groups === undefined) return otherwise();
  const ofValues = distinct.length === 0 ? undefined : twice({ ...ordered, aggregates: [] });
  if ((ofValues?.rowCount ?? groups.rowCount) !== groups.rowCount) throw new NotSuited();
  const counts = new Map<BoundExpression, GroupTable>();
  const quantile = (call: AggregateCall) => {
    const value = suited(call.args[0]);
    let counted = counts.get(value);
    if (counted === undefined) {
      const byValue = { keys: [...keys, value], aggregates: [countOfRows(call)], explicit: true };
      counted = groupResolved({ ...byValue, isOrdered: true }, pipeline, context);
      counts.set(value, counted);
    }
    return quantileColumn(call, counted, groups.rowCount, keys.length);
  };
  const quantiles = calls.filter(isQuantile).map(quantile);
  // Values that are no numbers.
  if (quantiles.includes(undefined)) return fold(isQuantile);
  const columns = calls.map((call) => {
    if (isQuantile(call)) return suited(quantiles.shift());
    const place = distinct.indexOf(call);
    const column =
      place === -1 ? groups.aggregates[plain.indexOf(call)] : ofValues?.aggregates[place];
    return suited(column);
  });
  return firstOf(new GroupTable(groups.rowCount, groups.keys, columns), grouping);
}

/** Aggregates of which the functions themselves take some, value by value. */
function withFolded(
  grouping: Grouping,
  isByFunction: (call: AggregateCall) => boolean,
  pipeline: Pipeline,
  context: OperatorContext,
  isTwice: boolean,
): GroupTable {
  if ((grouping.sortKeys ?? []).length > 0) throw new NotSuited();
  const { explicit } = grouping;
  const { keys, aggregates, table } = storeExpressions(grouping, pipeline, context);
  const calls = aggregates.map((call, index) => ({
    ...{ call, index },
    folds: isByFunction(suited(grouping.aggregates[index])),
  }));
  const folded = calls.filter(({ folds }) => folds);
  const others = calls.filter(({ folds }) => !folds);
  // Of no rows at all one group is given only by what counts nothing too.
  const countsEmpty = ({ call }: (typeof calls)[number]) =>
    aggregateNamed(call.name, context.compiler).countsEmpty;
  const needsCount = !explicit && folded.some(countsEmpty) && !others.some(countsEmpty);
  const counts = needsCount ? [countOfRows(suited(folded[0]).call)] : [];
  const known = [...others.map(({ call }) => call), ...counts];
  const plain = { keys, aggregates: known, explicit, isOrdered: true };
  const groups = groupCalls(plain, table, context, isTwice);
  const ofFolded = folded.map(({ call }) => call);
  const values = foldCalls(keys, ofFolded, table, groups.rowCount, context);
  const columns: GroupColumn[] = [];
  folded.forEach(({ index }, at) => {
    columns[index] = suited(values[at]);
  });
  others.forEach(({ index }, at) => {
    columns[index] = suited(groups.aggregates[at]);
  });
  return firstOf(new GroupTable(groups.rowCount, groups.keys, columns), grouping);
}

function firstOf(groups: GroupTable, { keep = groups.rowCount }: Grouping): GroupTable {
  return keep < groups.rowCount ? groups.slice(0, keep) : groups;
}

/** Calls about the tables of a pipeline. @throws NotSuited */
export function resolveCalls(
  aggregates: readonly AggregateCall[],
  pipeline: Pipeline,
  { exactTimestamps }: OperatorContext,
): readonly AggregateCall[] {
  const resolve = (expression: BoundExpression) => suited(pipeline.resolve(expression));
  return aggregates.map((call) =>
    mapCall(isFolded(call, exactTimestamps) ? call : withoutFilter(call), resolve),
  );
}

/** Nulls do not count, so an argument that is null where FILTER does not hold says the same. */
function withoutFilter(call: AggregateCall): AggregateCall {
  const { modifiers, args } = call;
  if (modifiers?.filter === undefined) return call;
  const { filter, distinct, orderBy } = modifiers;
  const guarded = args.map(
    (arg): BoundExpression => ({
      ...{ kind: 'case', operand: undefined, branches: [{ when: filter, result: arg }] },
      ...{ otherwise: undefined, emptyRow: false, type: arg.type, start: arg.start, end: arg.end },
    }),
  );
  const isPlain = !distinct && orderBy.length === 0;
  const others = isPlain ? undefined : { distinct, orderBy, filter: undefined };
  return { ...call, args: guarded, modifiers: others };
}
