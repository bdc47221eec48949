// DISTINCT ON over the sorted rows of a dataset: the least row of each group, without sorting.
import type { DistinctOnNode, SortNode } from '../../../plan/plan.ts';
import { firstOfGroups } from '../../vector/group/distinct-on.ts';
import { VectorTable } from '../../vector/table.ts';
import { arenaOf } from '../build.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { pickRows } from '../slice.ts';

/** @param pipeline the rows that are sorted @throws NotSuited */
export function firstRows(
  node: DistinctOnNode,
  sort: SortNode,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { base, filter, lowering, isPlain, scope } = pipeline;
  if (!isPlain || !(base instanceof VectorTable)) throw new NotSuited();
  const keys = sort.keys.map((key) => ({
    ...key,
    expression: suited(pipeline.resolve(key.expression)),
  }));
  const rest = keys.splice(node.expressions.length);
  const { engine, tables } = context;
  const query = { table: base, lowering, filter, keys, rest };
  const source = { columns: scope.columns, arena: () => arenaOf(pipeline) };
  const rows = suited(firstOfGroups(query, source, tables, engine));
  return pickRows(pipeline, rows, context);
}
