// What the parts of the general evaluator share while a plan is compiled to closures.

import type { Planner } from '../../physical/choice/choice.ts';
import type { Observe } from '../../physical/observation.ts';
import type { PhysicalNode } from '../../physical/physical.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import type { CallContext } from '../../plan/function.ts';
import type { Namespace, RelationColumn } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import type { Value } from '../../value/value.ts';
import type { Evaluator, PointsEvaluator, Predicate } from './frame.ts';
import type { LookAhead } from './look-ahead.ts';
import type { ExecRow } from './row.ts';

/**
 * What closures read while they run and what may differ from run to run: a plan that was compiled
 * once is run again with other parameters.
 */
export interface Runtime {
  readonly namespace: Namespace;
  /** the query text that spans refer to, where errors are to name their place */
  readonly text: string | undefined;
  scope: CallContext;
  /** values of `$name`; null for a name that the caller did not bind */
  parameters: (name: string) => Value;
  /** values of functions that the caller added to the scope, such as `lineNumber()` */
  scopeCalls: (name: string) => Value;
  /** the plans of the sub-selects that stand in expressions, by their numbers */
  readonly subqueryPlans: readonly PlanNode[];
  /** the cells of the sub-select of that number */
  subqueryCells: (index: number) => readonly Value[];
  /** the rows of the sub-select of that number, with what `outer` has for it */
  subqueryRows: (index: number) => Iterable<ExecRow>;
  /** the rows of a sub-select that runs once a run for all who read it */
  sharedRows: (index: number) => readonly ExecRow[];
  /** what each sub-select reads of the row around it: see OuterExpression */
  readonly outer: (readonly Value[])[];
  /** the rows that came last in the recursion of that number */
  readonly recursions: (readonly ExecRow[])[];
  /** makes physical plans of parts of the query */
  readonly planner: Planner;
  /** runs what physical plans do not leave to the reference; absent: they leave it everything */
  readonly executor: Executor | undefined;
  /** false: nobody looks at the timestamps of the result, and nothing computes with them */
  readonly exactTimestamps: boolean;
  /** told what operators do, for EXPLAIN; absent: nobody asks */
  readonly observe?: Observe | undefined;
  /** true: operators are lowered, over tables without rows, and no row is made: for EXPLAIN */
  readonly isDry: boolean;
  /** counts runs, so that what is computed once a run is computed again in the next */
  run: number;
}

/** Runs operators over batches of columns. */
export interface Executor {
  /** tables with fewer rows are left to the reference, which starts faster */
  readonly rowCountMin: number;
  /** The rows of an operator, which are made anew for each run. */
  open(physical: PhysicalNode, runtime: Runtime): () => Iterable<ExecRow>;
}

/** The columns of the rows that an operator reads, for COLUMN EXPR; runs the input if it must. */
export type InputColumns = (structured: boolean) => readonly RelationColumn[];

export interface Compiler {
  readonly runtime: Runtime;
  /** the columns of the FROM that the expressions are about */
  readonly inputColumns: InputColumns;
  /** calls that are made for several rows at once; absent: none are */
  readonly lookAhead: LookAhead | undefined;
  /** The same compiler for expressions of which some are evaluated ahead. */
  lookingAhead(lookAhead: LookAhead): Compiler;
  /** Evaluates to the latest value. */
  evaluator(expression: BoundExpression): Evaluator;
  /** Evaluates to all points, as a select list carries them over. */
  points(expression: BoundExpression): PointsEvaluator;
  /** IS TRUE. */
  predicate(expression: BoundExpression): Predicate;
}
