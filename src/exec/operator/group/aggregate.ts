// GROUP BY over a pipeline, with aggregates of all kinds.
import { isDistinct, isQuantile } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall, AggregateNode } from '../../../plan/plan.ts';
import type { GroupSelection } from '../../vector/group/aggregate.ts';
import { GroupTable } from '../../vector/group/group-table.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Grouping, groupKnown, groupResolved } from './accumulate.ts';
import { groupTwice } from './distinct.ts';
import { countOfRows, quantileColumn } from './quantile.ts';

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
    aggregates: resolveCalls(node.aggregates, pipeline),
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
  const isApart = (call: AggregateCall) => isQuantile(call) || (isTwice && isDistinct(call));
  const plain = calls.filter((call) => !isApart(call));
  if (plain.length === calls.length) {
    const groups = groupKnown(grouping, pipeline, context);
    if (groups !== undefined) return groups;
    // Kernels mark which values each group has met only where these are few.
    if (!calls.some(isDistinct)) throw new NotSuited();
    return groupCalls(grouping, pipeline, context, true);
  }
  if (context.exactTimestamps) throw new NotSuited();
  const distinct = calls.filter((call) => isTwice && isDistinct(call));
  const twice = (selected: Grouping) =>
    groupTwice({ ...selected, aggregates: distinct }, pipeline, context);
  if (distinct.length === calls.length) return twice(grouping);
  if ((grouping.sortKeys ?? []).length > 0) throw new NotSuited();
  const ordered = { keys, explicit, isOrdered: true };
  const groups = groupResolved({ ...ordered, aggregates: plain }, pipeline, context);
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
  const columns = calls.map((call) => {
    if (isQuantile(call)) return quantile(call);
    const place = distinct.indexOf(call);
    const column =
      place === -1 ? groups.aggregates[plain.indexOf(call)] : ofValues?.aggregates[place];
    return suited(column);
  });
  const all = new GroupTable(groups.rowCount, groups.keys, columns);
  const { keep = all.rowCount } = grouping;
  return keep < all.rowCount ? all.slice(0, keep) : all;
}

/** Calls about the tables of a pipeline. @throws NotSuited */
export function resolveCalls(
  aggregates: readonly AggregateCall[],
  pipeline: Pipeline,
): readonly AggregateCall[] {
  return aggregates.map((each) => {
    const call = withoutFilter(each);
    return { ...call, args: call.args.map((arg) => suited(pipeline.resolve(arg))) };
  });
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
