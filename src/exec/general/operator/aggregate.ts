// GROUP BY: one row for each distinct tuple of keys.
import { callExpressions } from '../../../plan/map-plan.ts';
import type { AggregateNode, GroupingSetsNode } from '../../../plan/plan.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { compareValues, NULL_VALUE, type Value } from '../../../value/value.ts';
import { type AggregateState, type Aggregator, compileAggregate } from '../aggregator.ts';
import type { Compiler } from '../compiler.ts';
import { type Evaluator, Frame } from '../frame.ts';
import { LookAhead } from '../look-ahead.ts';
import { GroupRow } from '../row.ts';
import { comparingWithCancellation, type RowSource } from './source.ts';

/** GROUPING SETS: the rows are read once, and every set groups them by its own keys. */
export function compileGroupingSets(
  node: GroupingSetsNode,
  input: RowSource,
  compiler: Compiler,
): RowSource {
  const lookAhead = new LookAhead([...node.keys, ...node.aggregates.flatMap(callExpressions)]);
  const ahead = compiler.lookingAhead(lookAhead);
  const keys = node.keys.map((key) => ahead.evaluator(key));
  const aggregators = node.aggregates.map((call) => compileAggregate(call, ahead));
  const rows = lookAhead.over(input);
  const compare = comparingWithCancellation(compareGroups, compiler.runtime.scope);
  return function* () {
    const tables = node.sets.map(() => new Map<CanonicalKey, Group>());
    const frame = new Frame();
    for (const row of rows()) {
      frame.at(row);
      const values = keys.map((key) => key(frame));
      node.sets.forEach((set, index) => {
        const own = values.map((value, i) => (set.includes(i) ? value : NULL_VALUE));
        const group = groupAt(tables[index] as Map<CanonicalKey, Group>, own, aggregators);
        updateGroup(group, aggregators, frame);
      });
    }
    for (const [index, set] of node.sets.entries()) {
      const groups = [...(tables[index] as Map<CanonicalKey, Group>).values()];
      // The set without keys is one group, whether there are rows or not.
      if (groups.length === 0 && set.length === 0) {
        const states = aggregators.map((aggregator) => aggregator.init());
        groups.push({ keys: keys.map(() => NULL_VALUE), states });
      }
      for (const { keys: values, states } of groups.sort(compare)) {
        const results = states.map((state, i) => (aggregators[i] as Aggregator).finish(state));
        yield new GroupRow(values, results, set);
      }
    }
  };
}

function groupAt(
  groups: Map<CanonicalKey, Group>,
  values: readonly Value[],
  aggregators: readonly Aggregator[],
): Group {
  const key = keyOfTuple(values);
  let group = groups.get(key);
  if (group === undefined) {
    group = { keys: values, states: aggregators.map((aggregator) => aggregator.init()) };
    groups.set(key, group);
  }
  return group;
}

function updateGroup(group: Group, aggregators: readonly Aggregator[], frame: Frame): void {
  for (let i = 0; i < aggregators.length; i++) {
    (aggregators[i] as Aggregator).update(group.states[i] as AggregateState, frame);
  }
}

interface Group {
  readonly keys: readonly Value[];
  readonly states: readonly AggregateState[];
}

export function compileAggregation(
  node: AggregateNode,
  input: RowSource,
  compiler: Compiler,
): RowSource {
  const lookAhead = new LookAhead([...node.keys, ...node.aggregates.flatMap(callExpressions)]);
  const ahead = compiler.lookingAhead(lookAhead);
  const keys = node.keys.map((key) => ahead.evaluator(key));
  const aggregators = node.aggregates.map((call) => compileAggregate(call, ahead));
  const rows = lookAhead.over(input);
  return function* () {
    const groups = collectGroups(rows, keys, aggregators);
    if (groups.length === 0 && !node.explicit && aggregators.some((each) => each.countsEmpty)) {
      groups.push({ keys: [], states: aggregators.map((aggregator) => aggregator.init()) });
    }
    groups.sort(comparingWithCancellation(compareGroups, compiler.runtime.scope));
    for (const { keys: values, states } of groups) {
      yield new GroupRow(
        values,
        states.map((state, i) => (aggregators[i] as Aggregator).finish(state)),
      );
    }
  };
}

function collectGroups(
  input: RowSource,
  keys: readonly Evaluator[],
  aggregators: readonly Aggregator[],
): Group[] {
  const groups = new Map<CanonicalKey, Group>();
  const frame = new Frame();
  const keyCount = keys.length;
  for (const row of input()) {
    frame.at(row);
    const values = new Array<Value>(keyCount);
    for (let i = 0; i < keyCount; i++) values[i] = (keys[i] as Evaluator)(frame);
    updateGroup(groupAt(groups, values, aggregators), aggregators, frame);
  }
  return [...groups.values()];
}

function compareGroups(a: Group, b: Group): number {
  return compareTuples(a.keys, b.keys);
}

function compareTuples(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareValues(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return 0;
}
