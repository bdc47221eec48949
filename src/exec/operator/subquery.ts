// Sub-selects in expressions: those that read nothing of the row are constants, those that are looked
// up by key become built tables. The others are left to the reference.
import type { BoundExpression, SubqueryExpression } from '../../plan/expression.ts';
import type { RelationRow } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../plan/type/operator-type.ts';
import { NULL_VALUE, Scalar, type Value } from '../../value/value.ts';
import { latestAmong, valuesAt } from '../general/call/lookup.ts';
import { truthValue } from '../general/logic.ts';
import { groupResolved } from './group/accumulate.ts';
import { settle } from './join/join.ts';
import { lowerKeys } from './join/join-keys.ts';
import { addMark } from './join/semi-join.ts';
import type { OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import { HIDDEN, outputsOfTable } from './outputs.ts';
import type { Pipeline } from './pipeline.ts';

/** Runs sub-selects. */
export interface SubqueryRuns {
  open(node: PlanNode): Pipeline;
  /** rows of a sub-select that reads no row around it; those beyond `rowCountMax` may be missing */
  rows(subquery: number, rowCountMax: number): Iterable<RelationRow>;
}

/**
 * The sub-select as an expression that the pipeline resolves.
 * @throws NotSuited
 */
export function subqueryColumn(
  expression: SubqueryExpression,
  pipeline: Pipeline,
  runs: SubqueryRuns,
  context: OperatorContext,
): BoundExpression {
  const { args, lookup, mode, subquery } = expression;
  if (mode !== 'exists' && mode !== 'scalar') throw new NotSuited();
  if (lookup === undefined) {
    if (args.length > 0 || context.exactTimestamps) throw new NotSuited();
    return constantOf(expression, runs);
  }
  const plan = suited(context.compiler.runtime.subqueryPlans[subquery]);
  const rows = runs.open(plan);
  const column = (path: readonly string[]): BoundExpression => ({
    ...expression,
    kind: 'column',
    path,
  });
  const keys = lookup.keys.map((path, index) => ({
    probe: suited(pipeline.resolve(args[index] as BoundExpression)),
    build: suited(rows.resolve(column(path))),
  }));
  if (mode === 'exists') {
    return hidden(addMark(pipeline, rows, keys, context), expression, pipeline);
  }
  const table = settle(rows, context);
  const ofTable = lookup.keys.map((path) => suited(table.resolve(column(path))));
  // A key that has several rows is an error, which the reference raises where it is met.
  const grouping = { keys: ofTable, aggregates: [], explicit: true, isOrdered: false };
  if (groupResolved(grouping, table, context).rowCount !== table.base.rowCount) {
    throw new NotSuited();
  }
  const codes = lowerKeys(
    keys.map(({ probe }, index) => ({ probe, build: ofTable[index] as BoundExpression })),
    { probe: pipeline, build: table },
    context,
  );
  const number = pipeline.addBuild(
    { table: table.scope, filter: undefined, key: codes.build, keepsProbe: true },
    codes.probe,
  );
  const built = outputsOfTable(table.outputs, number);
  const read = (path: readonly string[]): BoundExpression => {
    const found = built.column(path);
    if (typeof found !== 'object') throw new NotSuited();
    return found;
  };
  const value = read(expression.columns[0] as readonly string[]);
  const { otherwise } = lookup;
  if (otherwise === undefined) return hidden(value, expression, pipeline);
  if (otherwise.kind !== 'constant') throw new NotSuited();
  const { type, start, end } = expression;
  const isFound: BoundExpression = {
    ...{ kind: 'is', operand: read(lookup.keys[0] as readonly string[]) },
    ...{ test: 'null', negated: true, type: BOOLEAN_TYPE, start, end },
  };
  const either: BoundExpression = {
    ...{ kind: 'case', operand: undefined, branches: [{ when: isFound, result: value }] },
    ...{ otherwise, emptyRow: false, type, start, end },
  };
  return hidden(either, expression, pipeline);
}

/** What a sub-select that runs once says. */
function constantOf(
  { subquery, mode, columns, type, start, end }: SubqueryExpression,
  { rows }: SubqueryRuns,
): BoundExpression {
  const found: Value[] = [];
  for (const { row } of rows(subquery, 2)) {
    found.push(latestAmong(valuesAt(row, columns[0] ?? [])) ?? NULL_VALUE);
    if (mode === 'exists' || found.length > 1) break;
  }
  if (mode === 'scalar' && found.length > 1) throw new NotSuited();
  const value =
    mode === 'exists' ? truthValue(found.length > 0, NULL_VALUE.ts) : (found[0] ?? NULL_VALUE);
  if (!(value instanceof Scalar)) throw new NotSuited();
  return { kind: 'constant', value, type, start, end };
}

/** An expression about the tables of a pipeline, as a column that its outputs know. */
function hidden(
  meaning: BoundExpression,
  { type, start, end, subquery }: SubqueryExpression,
  pipeline: Pipeline,
): BoundExpression {
  const name = `${HIDDEN}sub-select ${subquery} of ${pipeline.builds.length}`;
  const { outputs } = pipeline;
  pipeline.outputs = {
    ...outputs,
    column: (path) => (path[0] === name ? meaning : outputs.column(path)),
  };
  return { kind: 'column', path: [name], type, start, end };
}
