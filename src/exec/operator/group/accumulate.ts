// Groups whose rows kernels number and accumulate.
import { isKernelAggregate } from '../../../physical/capability.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import type { VectorEngine } from '../../vector/engine.ts';
import { GroupQuery, type GroupRows, type GroupSelection } from '../../vector/group/aggregate.ts';
import type { GroupTable } from '../../vector/group/group-table.ts';
import { arenaOf, buildBlocks, buildSource } from '../build.ts';
import type { OperatorContext } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { storeExpressions } from './stored-calls.ts';

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
  return suited(groupKnown(node, pipeline, context));
}

/** Undefined when kernels do not know an aggregate, or have no room for its cells. */
export function groupKnown(
  node: Grouping,
  pipeline: Pipeline,
  context: OperatorContext,
): GroupTable | undefined {
  return run(node, pipeline, context) ?? groupMaterialized(node, pipeline, context);
}

function run(
  node: Grouping,
  pipeline: Pipeline,
  { engine, tables }: OperatorContext,
): GroupTable | undefined {
  if (!node.aggregates.every(isKernelAggregate)) return undefined;
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
): GroupTable | undefined {
  const { table, ...stored } = storeExpressions(grouping, pipeline, context);
  return run({ ...grouping, ...stored }, table, context);
}
