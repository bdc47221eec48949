// GROUP BY over a pipeline: groups are numbered and accumulated by kernels.
import { isKernelAggregate, isOnlyFiltered, isQuantile } from '../../physical/capability.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { AggregateCall, AggregateNode } from '../../plan/plan.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { GroupQuery, type GroupRows, type GroupSelection } from '../vector/group/aggregate.ts';
import { GroupTable } from '../vector/group/group-table.ts';
import { arenaOf, buildBlocks, buildSource } from './build.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import { tableColumn } from './outputs.ts';
import type { Pipeline } from './pipeline.ts';
import { countOfRows, quantileColumn } from './quantile.ts';

/** @throws NotSuited when kernels do not know an aggregate */
export function groupPipeline(
  node: AggregateNode,
  pipeline: Pipeline,
  context: OperatorContext,
  selection: GroupSelection,
): GroupTable {
  const keys = node.keys.map((key) => suited(pipeline.resolve(key)));
  const { explicit } = node;
  const calls = node.aggregates.map(withoutFilter);
  const quantiles = calls.filter(isQuantile).map((call) => resolveCall(call, pipeline));
  const others = calls.filter((call) => !isQuantile(call));
  const aggregates = resolveCalls(others, pipeline);
  if (quantiles.length === 0) {
    return groupResolved({ keys, aggregates, explicit, ...selection }, pipeline, context);
  }
  if (context.exactTimestamps || selection.sortKeys.length > 0) throw new NotSuited();
  const ordered = { explicit, isOrdered: true };
  const groups = groupResolved({ keys, aggregates, ...ordered }, pipeline, context);
  const counts = new Map<BoundExpression, GroupTable>();
  const columnOf = (call: AggregateCall) => {
    const value = suited(call.args[0]);
    let counted = counts.get(value);
    if (counted === undefined) {
      const byValue = { keys: [...keys, value], aggregates: [countOfRows(call)], explicit: true };
      counted = groupResolved({ ...byValue, isOrdered: true }, pipeline, context);
      counts.set(value, counted);
    }
    return quantileColumn(call, counted, groups.rowCount, keys.length);
  };
  const made = quantiles.map(columnOf);
  const plain = [...groups.aggregates];
  const columns = calls.map((call) => suited((isQuantile(call) ? made : plain).shift()));
  const all = new GroupTable(groups.rowCount, groups.keys, columns);
  const { keep = all.rowCount } = selection;
  return keep < all.rowCount ? all.slice(0, keep) : all;
}

/** Calls about the tables of a pipeline. @throws NotSuited when kernels do not know one */
export function resolveCalls(
  aggregates: readonly AggregateCall[],
  pipeline: Pipeline,
): readonly AggregateCall[] {
  const calls = aggregates.map(withoutFilter);
  if (!calls.every(isKernelAggregate)) throw new NotSuited();
  return calls.map((call) => resolveCall(call, pipeline));
}

function resolveCall(call: AggregateCall, pipeline: Pipeline): AggregateCall {
  return { ...call, args: call.args.map((arg) => suited(pipeline.resolve(arg))) };
}

/** Nulls do not count, so an argument that is null where FILTER does not hold says the same. */
function withoutFilter(call: AggregateCall): AggregateCall {
  const { modifiers, args } = call;
  if (modifiers?.filter === undefined || !isOnlyFiltered(call)) return call;
  const { filter } = modifiers;
  const guarded = args.map(
    (arg): BoundExpression => ({
      ...{ kind: 'case', operand: undefined, branches: [{ when: filter, result: arg }] },
      ...{ otherwise: undefined, emptyRow: false, type: arg.type, start: arg.start, end: arg.end },
    }),
  );
  return { ...call, args: guarded, modifiers: undefined };
}

export interface Grouping extends Partial<GroupSelection> {
  readonly keys: readonly BoundExpression[];
  readonly aggregates: readonly AggregateCall[];
  readonly explicit: boolean;
  /** false: groups may come in any order */
  readonly isOrdered: boolean;
}

/** Groups of expressions that were resolved already. @throws NotSuited */
export function groupResolved(
  node: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable {
  return run(node, pipeline, context) ?? groupMaterialized(node, pipeline, context);
}

function run(
  node: Grouping,
  pipeline: Pipeline,
  { engine, tables }: OperatorContext,
): GroupTable | undefined {
  const { lowering, filter } = pipeline;
  const query = new GroupQuery(node, { rows: groupRows(pipeline), lowering, filter }, tables);
  const { isOrdered, keep, sortKeys = [] } = node;
  return query.isLowered ? query.run(engine, { isOrdered, keep, sortKeys }) : undefined;
}

function groupRows(pipeline: Pipeline): GroupRows {
  const { base, isPlain } = pipeline;
  return {
    rowCount: base.rowCount,
    chunkRowCounts: base.chunkRowCounts,
    get arena() {
      return arenaOf(pipeline);
    },
    canBeNumbered: isPlain,
    columns: pipeline.scope.columns,
    build: (engine: VectorEngine) => buildSource(pipeline, engine),
    blocks: (engine: VectorEngine) => buildBlocks(pipeline, engine),
  };
}

/** Keys and arguments are put into a table first, and this is grouped. */
function groupMaterialized(
  grouping: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable {
  const { keys, aggregates } = grouping;
  const expressions: BoundExpression[] = [];
  const column = (expression: BoundExpression): BoundExpression => {
    if (expression.kind === 'constant') return expression;
    const index = expressions.push(expression) - 1;
    return { ...tableColumn([`e${index}`]), type: expression.type };
  };
  const node: Grouping = {
    ...grouping,
    keys: keys.map(column),
    aggregates: aggregates.map((call) => ({ ...call, args: call.args.map(column) })),
  };
  const outputs = expressions.map((expression, index) => ({ path: [`e${index}`], expression }));
  const table = materialize(pipeline, outputs, context, { named: false });
  return suited(run(node, table, context));
}
