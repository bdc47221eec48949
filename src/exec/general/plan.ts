// A logical plan to sources of rows: each operator over those below it.

import { isEvaluated, type Observe } from '../../physical/observation.ts';
import type { PhysicalNode } from '../../physical/physical.ts';
import { printExpression } from '../../plan/explain-expression.ts';
import { datasetsReadBy, expressionsOf, inputsOf } from '../../plan/map-plan.ts';
import type { RelationColumn } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import { unreachable } from '../../sql/node.ts';
import { listColumns } from './column-list.ts';
import type { Compiler, InputColumns, Runtime } from './compiler.ts';
import { compileEvaluator, compilePoints, compilePredicate } from './expression.ts';
import type { LookAhead } from './look-ahead.ts';
import { compileAggregation, compileGroupingSets } from './operator/aggregate.ts';
import { compileColumnwise } from './operator/columnwise-aggregate.ts';
import { compileDistinct, compileSetOperation } from './operator/distinct.ts';
import { compileDistinctOn } from './operator/distinct-on.ts';
import { compileFilter } from './operator/filter.ts';
import { compileJoin } from './operator/join.ts';
import { compileLateral } from './operator/lateral.ts';
import { compileLimit, compileLimitBy } from './operator/limit.ts';
import { compileMerge } from './operator/merge.ts';
import { observedSource } from './operator/observe.ts';
import { compileProject } from './operator/project.ts';
import { compileRecursive } from './operator/recursive.ts';
import { compileRejoin } from './operator/rejoin.ts';
import { compileRowDataset } from './operator/row-dataset.ts';
import { compileSample } from './operator/sample.ts';
import { compileAsk, compileScan } from './operator/scan.ts';
import { compileSeries } from './operator/series.ts';
import { compileSort } from './operator/sort.ts';
import type { RowSource } from './operator/source.ts';
import { compileTranspose } from './operator/transpose.ts';
import { compileValues } from './operator/values.ts';
import { compileWhen } from './operator/when.ts';
import { compileWindow } from './operator/window.ts';
import { SINGLE_ROW } from './row.ts';

/** The rows of a node by the physical plan that is made for it. */
export function compilePlan(node: PlanNode, runtime: Runtime): RowSource {
  return compilePhysical(runtime.planner.rows(node), runtime);
}

/** The same; planned anew when a dataset that it reads has become another one. */
export function compileQuery(node: PlanNode, runtime: Runtime): RowSource {
  const { executor, namespace } = runtime;
  const datasets = executor === undefined ? [] : datasetsOf(node);
  if (datasets.length === 0) return compilePlan(node, runtime);
  const look = () => datasets.map((name) => namespace.dataset(name).snapshot);
  let seen = look();
  let source = compilePlan(node, runtime);
  return () => {
    const now = look();
    if (now.some((each, index) => each !== seen[index])) {
      seen = now;
      source = compilePlan(node, runtime);
    }
    return source();
  };
}

function datasetsOf(node: PlanNode): readonly string[] {
  return [...datasetsReadBy(node), ...inputsOf(node).flatMap(datasetsOf)];
}

/** The rows of an operator: by the executor, or by the reference where it is left to that. */
export function compilePhysical(physical: PhysicalNode, runtime: Runtime): RowSource {
  const { executor, observe } = runtime;
  const isReference = physical.way === 'rows' || executor === undefined;
  if (isReference) tellClosures(physical, observe);
  const source = isReference
    ? compileReference(physical, runtime)
    : executor.open(physical, runtime);
  return observe === undefined ? source : observedSource(source, physical, observe);
}

/** What the reference compiles to something else is told by whoever compiles it so. */
function tellClosures({ logical }: PhysicalNode, observe: Observe | undefined): void {
  if (observe === undefined) return;
  const expressions = expressionsOf(logical)
    .filter(isEvaluated)
    .map((expression) => ({ text: printExpression(expression), ways: ['closure'] as const }));
  observe(logical, { way: 'rows', expressions });
}

function compileReference({ logical: node, inputs }: PhysicalNode, runtime: Runtime): RowSource {
  const compile = (input: PhysicalNode) => compilePhysical(input, runtime);
  const input = (index = 0) => compile(inputs[index] as PhysicalNode);
  const pair = () => [input(0), input(1)] as const;
  switch (node.kind) {
    case 'scan':
      return compileScan(node, makeCompiler(runtime, NO_COLUMNS));
    case 'ask':
      return compileAsk(
        node,
        (node.keys ?? []).map(({ rows }) => compilePlan(rows, runtime)),
        makeCompiler(runtime, NO_COLUMNS),
      );
    case 'single-row':
      return () => [SINGLE_ROW];
    case 'row-dataset':
      return compileRowDataset(node, makeCompiler(runtime, NO_COLUMNS));
    case 'transpose':
      return compileTranspose(node, input(), runtime);
    case 'merge':
      return compileMerge(inputs.map(compile));
    case 'sample':
      return compileSample(node, input(), makeCompiler(runtime, NO_COLUMNS));
    case 'join': {
      const compiler = makeCompiler(runtime, inputColumnsOf(node, runtime));
      return compileJoin(node, ...pair(), compiler);
    }
    case 'filter':
      return compileFilter(node, input(), compilerOver(node.input, runtime));
    case 'when':
      return compileWhen(node, input(), compilerOver(node.input, runtime));
    case 'project':
      return compileProject(node, input(), compilerOver(node.input, runtime));
    case 'aggregate': {
      const compiler = compilerOver(node.input, runtime);
      const rowByRow = compileAggregation(node, input(), compiler);
      return compileColumnwise(node, compiler, rowByRow);
    }
    case 'sort':
      return compileSort(node, input(), compilerOver(node.input, runtime));
    case 'distinct-on':
      return compileDistinctOn(node, input(), compilerOver(node.input, runtime));
    case 'limit':
      return compileLimit(node, input());
    case 'limit-by':
      return compileLimitBy(node, input(), makeCompiler(runtime, NO_COLUMNS));
    case 'grouping-sets':
      return compileGroupingSets(node, input(), compilerOver(node.input, runtime));
    case 'window':
      return compileWindow(node, input(), compilerOver(node.input, runtime));
    case 'distinct':
      return compileDistinct(node, input(), runtime);
    case 'set-operation':
      return compileSetOperation(node, ...pair(), runtime);
    case 'values':
      return compileValues(node, makeCompiler(runtime, NO_COLUMNS));
    case 'series':
      return compileSeries(node, makeCompiler(runtime, NO_COLUMNS));
    case 'shared':
      return () => runtime.sharedRows(node.subquery);
    case 'recursive':
      return compileRecursive(node, ...pair(), runtime);
    case 'recursive-table':
      return () => runtime.recursions[node.table] ?? [];
    case 'lateral': {
      const compiler = makeCompiler(runtime, inputColumnsOf(node, runtime));
      return compileLateral(node, ...pair(), compiler);
    }
    case 'rejoin':
      return compileRejoin(node, input());
    default:
      return unreachable(node);
  }
}

const NO_COLUMNS: InputColumns = () => [];

/** A compiler of expressions about the rows of a node. */
export function makeCompiler(
  runtime: Runtime,
  inputColumns: InputColumns,
  lookAhead?: LookAhead,
): Compiler {
  const compiler: Compiler = {
    runtime,
    inputColumns,
    lookAhead,
    lookingAhead: (ahead) => makeCompiler(runtime, inputColumns, ahead),
    evaluator: (expression) => compileEvaluator(expression, compiler),
    points: (expression) => compilePoints(expression, compiler),
    predicate: (expression) => compilePredicate(expression, compiler),
  };
  return compiler;
}

function compilerOver(node: PlanNode, runtime: Runtime): Compiler {
  return makeCompiler(runtime, inputColumnsOf(node, runtime));
}

/** The columns of FROM, whatever WHERE, WHEN, ORDER BY and LIMIT leave of its rows. */
function inputColumnsOf(node: PlanNode, runtime: Runtime): InputColumns {
  const source = sourceOf(node);
  const lists = new Map<boolean, { run: number; columns: readonly RelationColumn[] }>();
  return (structured) => {
    let list = lists.get(structured);
    if (list === undefined || list.run !== runtime.run) {
      list = { run: runtime.run, columns: columnsOf(source, structured, runtime) };
      lists.set(structured, list);
    }
    return list.columns;
  };
}

function sourceOf(node: PlanNode): PlanNode {
  switch (node.kind) {
    case 'filter':
    case 'when':
    case 'sort':
    case 'distinct-on':
    case 'limit':
    case 'limit-by':
    case 'window':
    case 'rejoin':
      return sourceOf(node.input);
    case 'project':
      return node.keepsInput ? sourceOf(node.input) : node;
    default:
      return node;
  }
}

function columnsOf(
  node: PlanNode,
  structured: boolean,
  runtime: Runtime,
): readonly RelationColumn[] {
  const isStored = node.kind === 'scan' || (node.kind === 'ask' && node.isStored);
  if (isStored && !structured) return runtime.namespace.dataset(node.dataset).columns();
  const whole: PlanNode = isStored
    ? { kind: 'scan', dataset: node.dataset, columns: 'all', lookup: undefined }
    : node;
  return listColumns(compilePlan(whole, runtime)(), structured);
}
