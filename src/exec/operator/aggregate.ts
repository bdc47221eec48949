// GROUP BY over a pipeline: groups are numbered and accumulated by kernels.
import type { BoundExpression } from '../../plan/expression.ts';
import type { AggregateCall, AggregateNode } from '../../plan/plan.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { ALL_GROUPS, ANY_GROUPS, GroupQuery, type GroupRows } from '../vector/group/aggregate.ts';
import { isKernelAggregate } from '../vector/group/aggregate-output.ts';
import type { GroupTable } from '../vector/group/group-table.ts';
import { arenaOf, buildBlocks, buildSource } from './build.ts';
import { materialize, type OperatorContext } from './materialize.ts';
import { NotSuited, suited } from './not-suited.ts';
import { tableColumn } from './outputs.ts';
import type { Pipeline } from './pipeline.ts';

/** @throws NotSuited when kernels do not know an aggregate */
export function groupPipeline(
  node: AggregateNode,
  pipeline: Pipeline,
  context: OperatorContext,
  isOrdered: boolean,
): GroupTable {
  const keys = node.keys.map((key) => suited(pipeline.resolve(key)));
  const aggregates = resolveCalls(node.aggregates, pipeline);
  const { explicit } = node;
  return groupResolved({ keys, aggregates, explicit, isOrdered }, pipeline, context);
}

/** Calls about the tables of a pipeline. @throws NotSuited when kernels do not know one */
export function resolveCalls(
  aggregates: readonly AggregateCall[],
  pipeline: Pipeline,
): readonly AggregateCall[] {
  const calls = aggregates.map(withoutFilter);
  if (!calls.every(isKernelAggregate)) throw new NotSuited();
  return calls.map((call) => ({
    ...call,
    args: call.args.map((arg) => suited(pipeline.resolve(arg))),
  }));
}

/** Nulls do not count, so an argument that is null where FILTER does not hold says the same. */
function withoutFilter(call: AggregateCall): AggregateCall {
  const { modifiers, args } = call;
  if (modifiers?.filter === undefined || modifiers.distinct || modifiers.orderBy.length > 0) {
    return call;
  }
  const { filter } = modifiers;
  const guarded = args.map(
    (arg): BoundExpression => ({
      ...{ kind: 'case', operand: undefined, branches: [{ when: filter, result: arg }] },
      ...{ otherwise: undefined, emptyRow: false, type: arg.type, start: arg.start, end: arg.end },
    }),
  );
  return { ...call, args: guarded, modifiers: undefined };
}

export interface Grouping {
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
  const { isOrdered } = node;
  return query.isLowered ? query.run(engine, isOrdered ? ALL_GROUPS : ANY_GROUPS) : undefined;
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
    build: (engine: VectorEngine) => buildSource(pipeline, engine),
    blocks: (engine: VectorEngine) => buildBlocks(pipeline, engine),
  };
}

/** Keys and arguments are put into a table first, and this is grouped. */
function groupMaterialized(
  { keys, aggregates, explicit, isOrdered }: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable {
  const expressions: BoundExpression[] = [];
  const column = (expression: BoundExpression): BoundExpression => {
    if (expression.kind === 'constant') return expression;
    const index = expressions.push(expression) - 1;
    return { ...tableColumn([`e${index}`]), type: expression.type };
  };
  const node: Grouping = {
    keys: keys.map(column),
    aggregates: aggregates.map((call) => ({ ...call, args: call.args.map(column) })),
    explicit,
    isOrdered,
  };
  const outputs = expressions.map((expression, index) => ({ path: [`e${index}`], expression }));
  const table = materialize(pipeline, outputs, context, { named: false });
  return suited(run(node, table, context));
}
