// The runtime of one compiled plan: parameters, scope and the results of sub-selects.

import type { ChoiceName } from '../../physical/choice/choice.ts';
import type { Observe } from '../../physical/observation.ts';
import { makePlanner } from '../../physical/planner.ts';
import type { CallContext } from '../../plan/function.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import { flatten, NULL_VALUE, Scalar, type Value } from '../../value/value.ts';
import type { Executor, Runtime } from './compiler.ts';
import type { RowSource } from './operator/source.ts';
import { compileQuery } from './plan.ts';
import type { ExecRow } from './row.ts';

export interface RuntimeOptions {
  readonly namespace: Namespace;
  readonly scope: CallContext;
  readonly executor?: Executor | undefined;
  /** choices of physical plans that are not to be made */
  readonly without?: ReadonlySet<ChoiceName> | undefined;
  /** false: whoever reads the result does not look at its timestamps */
  readonly exactTimestamps?: boolean | undefined;
  readonly observe?: Observe | undefined;
  /** true: no row is made, see `Runtime.isDry` */
  readonly isDry?: boolean | undefined;
  /** the query text, for the places of errors */
  readonly text?: string | undefined;
}

export function makeRuntime(subqueries: readonly PlanNode[], options: RuntimeOptions): Runtime {
  const { namespace, scope, executor, without, text, observe } = options;
  const { exactTimestamps = true, isDry = false } = options;
  const sources: RowSource[] = [];
  const sourceOf = (index: number): RowSource => {
    if (isDry) return () => [];
    const source = sources[index];
    if (source === undefined) throw new Error(`there is no sub-select ${index}`);
    return source;
  };
  const shared = new Map<number, { readonly run: number; readonly rows: readonly ExecRow[] }>();
  const runtime: Runtime = {
    namespace,
    text,
    scope,
    executor,
    planner: makePlanner({
      namespace,
      subqueries,
      exactTimestamps,
      rowCountMin: executor?.rowCountMin,
      without,
    }),
    exactTimestamps,
    observe,
    isDry,
    parameters: () => NULL_VALUE,
    scopeCalls: () => NULL_VALUE,
    subqueryPlans: subqueries,
    subqueryCells(index) {
      const cells: Value[] = [];
      for (const { row } of sourceOf(index)()) {
        flatten(row, [], (_path, atom, ts) => cells.push(new Scalar(atom, ts)));
      }
      return cells;
    },
    subqueryRows: (index) => sourceOf(index)(),
    sharedRows(index) {
      let known = shared.get(index);
      if (known === undefined || known.run !== runtime.run) {
        known = { run: runtime.run, rows: [...sourceOf(index)()] };
        shared.set(index, known);
      }
      return known.rows;
    },
    outer: [],
    recursions: [],
    run: 0,
  };
  for (const subquery of subqueries) sources.push(compileQuery(subquery, runtime));
  return runtime;
}
