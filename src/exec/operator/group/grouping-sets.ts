// GROUPING SETS: the rows are put into a table once, every set groups it, and the groups of all sets
// stand behind each other.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { GroupingSetsNode } from '../../../plan/plan.ts';
import { atomType } from '../../../plan/type/type.ts';
import { constant } from '../../../value/value.ts';
import type { GroupColumn } from '../../vector/group/group-column.ts';
import { GroupTable } from '../../vector/group/group-table.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { groupOutputs, HIDDEN, tableColumn } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { concatenate, namedColumns, type Part } from '../table/concatenate.ts';
import { groupCalls, resolveCalls } from './aggregate.ts';
import { pipelineOfGroups } from './group-pipeline.ts';
import { storeExpressions } from './stored-calls.ts';

/** @throws NotSuited */
export function groupingSets(
  node: GroupingSetsNode,
  input: Pipeline,
  { named, isTwice }: { readonly named: boolean; readonly isTwice: boolean },
  context: OperatorContext,
): Pipeline {
  if (context.exactTimestamps) throw new NotSuited();
  const resolved = node.keys.map((key) => suited(input.resolve(key)));
  const calls = resolveCalls(node.aggregates, input, context);
  const { keys, aggregates, table } = storeExpressions(
    { keys: resolved, aggregates: calls },
    input,
    context,
  );
  // A group of no rows is given only by the reference.
  if (table.base.rowCount === 0) throw new NotSuited();
  const parts = node.sets.map((set): Part => {
    const again = new Pipeline(table.base, table.outputs, table.namer, context.tables);
    const own = set.map((index) => keys[index] as BoundExpression);
    const grouping = { keys: own, aggregates, explicit: true, isOrdered: true };
    const groups = withAllKeys(groupCalls(grouping, again, context, isTwice), set, keys.length);
    const pipeline = pipelineOfGroups(node, groups, named, context);
    const marks = keys.map((_, index) => ({
      name: groupingName(index),
      expression: mark(set.includes(index) ? 0 : 1),
    }));
    return { pipeline, columns: [...namedColumns(pipeline), ...marks], nameOf: (name) => name };
  });
  const result = concatenate(parts, context, { named });
  result.outputs = {
    ...groupOutputs(node),
    grouping: (index) => tableColumn([groupingName(index)]),
  };
  return result;
}

/** No column of a query is called so. */
const groupingName = (index: number) => `${HIDDEN}grouping ${index}`;

function mark(value: number): BoundExpression {
  return { kind: 'constant', value: constant(value), type: atomType('number'), start: 0, end: 0 };
}

/** Keys outside of the set are null. */
function withAllKeys(groups: GroupTable, set: readonly number[], keyCount: number): GroupTable {
  const { rowCount } = groups;
  const nothing: GroupColumn = {
    kind: 'codes',
    codes: new Int32Array(rowCount),
    atom: () => null,
    order: () => Uint32Array.of(0),
    ts: Number.NEGATIVE_INFINITY,
  };
  const keys = Array.from({ length: keyCount }, (_, index) => {
    const at = set.indexOf(index);
    return at === -1 ? nothing : suited(groups.keys[at]);
  });
  return new GroupTable(rowCount, keys, groups.aggregates);
}
