// Aggregates of distinct values by grouping twice: rows by keys and value, then these groups by the
// keys. What it needs grows with the values that there are, not with keys times values.
import { withoutDistinct } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import { COUNTS } from '../../vector/group/aggregate-output.ts';
import { GroupTable } from '../../vector/group/group-table.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { keyName, tableColumn } from '../outputs.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Grouping, groupResolved } from './accumulate.ts';
import { pipelineOfGroups } from './group-pipeline.ts';
import { countOfRows } from './quantile.ts';

/**
 * @param grouping `aggregates`: calls that count each value of a group once
 * @throws NotSuited
 */
export function groupTwice(
  grouping: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable {
  if (context.exactTimestamps) throw new NotSuited();
  const byValue = new Map<string, { readonly call: AggregateCall; readonly index: number }[]>();
  grouping.aggregates.forEach((call, index) => {
    const [arg] = call.args;
    // Other expressions than columns are put into values once more.
    const value = arg?.kind === 'column' ? arg.path.join('\u0000') : `expression ${index}`;
    byValue.set(value, [...(byValue.get(value) ?? []), { call, index }]);
  });
  const isOne = byValue.size === 1;
  if (!isOne && (grouping.sortKeys ?? []).length > 0) throw new NotSuited();
  let groups: GroupTable | undefined;
  const columns: GroupTable['aggregates'][number][] = [];
  for (const calls of byValue.values()) {
    const own = { ...grouping, aggregates: calls.map(({ call }) => call) };
    const made = groupValues(isOne ? own : { ...own, isOrdered: true }, pipeline, context);
    groups ??= made;
    // Groups of the same rows by the same keys, in the same order.
    if (made.rowCount !== groups.rowCount) throw new NotSuited();
    calls.forEach(({ index }, at) => {
      columns[index] = suited(made.aggregates[at]);
    });
  }
  const { rowCount, keys } = suited(groups);
  return new GroupTable(rowCount, keys, columns);
}

/** Calls about one value. */
function groupValues(
  { keys, aggregates, explicit, ...selection }: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable {
  const value = suited(aggregates[0]?.args[0]);
  const values = { keys: [...keys, value], aggregates: [], explicit: true };
  const made = groupResolved({ ...values, isOrdered: false }, pipeline, context);
  const valuesOfKeys = pipelineOfGroups(values, made, false, context);
  const column = (index: number): BoundExpression => {
    return { ...tableColumn([keyName(index)]), type: suited(values.keys[index]).type };
  };
  const calls = aggregates.map((call) => {
    return { ...withoutDistinct(call), args: [column(keys.length)] };
  });
  // A count gives a group where there are no rows; some other aggregates are to do the same.
  const givesGroup = !explicit && aggregates.some(({ name }) => COUNTS.has(name));
  const counts = givesGroup ? [countOfRows(suited(aggregates[0]))] : [];
  const grouping = {
    keys: keys.map((_, index) => column(index)),
    aggregates: [...calls, ...counts],
    explicit: explicit || !givesGroup,
    ...selection,
  };
  const groups = groupResolved(grouping, valuesOfKeys, context);
  return new GroupTable(groups.rowCount, groups.keys, groups.aggregates.slice(0, calls.length));
}
