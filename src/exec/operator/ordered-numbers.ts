// The stored rows that a query selects, by their numbers in its order: for readers that want no row.

import { makePlanner } from '../../physical/planner.ts';
import type { CallContext } from '../../plan/function.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode, QueryPlan, SortNode } from '../../plan/plan.ts';
import type { ColumnarSnapshot } from '../../value/column/snapshot.ts';
import { makeCompiler } from '../general/plan.ts';
import { makeRuntime } from '../general/runtime.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { runNumbers } from './executor.ts';

export interface OrderedNumbers {
  readonly snapshot: ColumnarSnapshot;
  /** of the selected rows, in order */
  readonly numbers: Uint32Array;
}

export interface OrderedNumbersOptions {
  readonly namespace: Namespace;
  readonly scope: CallContext;
  readonly engine: VectorEngine;
}

/**
 * Undefined when the query does anything but sorting the rows of one columnar dataset, all of them
 * or those of a simple condition, and cutting some off at either end.
 */
export function orderedNumbers(
  { root, subqueries }: QueryPlan,
  options: OrderedNumbersOptions,
): OrderedNumbers | undefined {
  if (root.kind !== 'project' || subqueries.length > 0) return undefined;
  const { sort, offset, limit } = sortBelow(root.input);
  if (sort === undefined) return undefined;
  const { engine } = options;
  const { rowCountMin } = engine;
  const compiler = makeCompiler(makeRuntime([], options), () => []);
  const physical = makePlanner({ ...options, rowCountMin, exactTimestamps: true }).rows(sort);
  if (physical.way !== 'numbers') return undefined;
  const rows = runNumbers(physical, compiler, engine);
  if (rows === undefined) return undefined;
  const end = limit === undefined ? undefined : offset + limit;
  return { snapshot: rows.snapshot, numbers: rows.numbers.subarray(offset, end) };
}

interface SlicedSort {
  readonly sort: SortNode | undefined;
  readonly offset: number;
  readonly limit?: number | undefined;
}

function sortBelow(node: PlanNode): SlicedSort {
  if (node.kind === 'sort') return { sort: node, offset: 0 };
  if (node.kind !== 'limit' || node.input.kind !== 'sort') return { sort: undefined, offset: 0 };
  const { offset = 0, limit } = node;
  return { sort: node.input, offset, limit };
}
