// Chooses the vector operators for the nodes of a plan that suit them. Whether they really do is
// decided by the data of each run; the general operators stand by.
import { someExpression } from '../../plan/children.ts';
import type { BoundExpression, NamedProjectItem } from '../../plan/expression.ts';
import { expressionsOf, inputsOf } from '../../plan/map-plan.ts';
import type { AggregateNode, LimitNode, PlanNode, ProjectNode, SortNode } from '../../plan/plan.ts';
import type { Accelerator, Compiler, Runtime } from '../general/compiler.ts';
import { compileProject } from '../general/operator/project.ts';
import type { RowSource } from '../general/operator/source.ts';
import { compilePlan, makeCompiler } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import type { Parallel } from '../parallel.ts';
import type { VectorEngine } from './engine.ts';
import { vectorFilter } from './filter.ts';
import { matchFilteredScan } from './filtered-scan.ts';
import { ALL_GROUPS, matchGroupInput, vectorGroups } from './group/aggregate.ts';
import { matchFirstOfGroups, vectorDistinctOn } from './group/distinct-on.ts';
import { GroupTable } from './group/group-table.ts';
import { NumberedRows } from './numbered-rows.ts';
import { vectorSort } from './order/sort.ts';

export function vectorAccelerator(engine: VectorEngine): Accelerator {
  return (node, runtime) => {
    const overColumns = columnOperator(node, runtime);
    if (overColumns !== undefined) return overColumns;
    const run = vectorOperator(node, engine);
    if (run === undefined) return undefined;
    // Compiled when it is needed, which for most queries is never.
    let general: RowSource | undefined;
    const runGenerally = () => {
      general ??= compilePlan(node, withoutAccelerator(runtime));
      return general();
    };
    const compiler = makeCompiler(runtime, () => []);
    return () => run(compiler) ?? runGenerally();
  };
}

/** Thrown where an operator would start: everything before it has found the data to suit. */
class Reached extends Error {}

/**
 * Whether kernels will run a node over the data as they are, for EXPLAIN. Operators decide that
 * when they run, so they are run up to their first job.
 */
export function runsOnVectors(node: PlanNode, runtime: Runtime, engine: VectorEngine): boolean {
  if (isColumnProject(node) || isGroupSort(node)) {
    return runsOnVectors(belowLimits(node.input), runtime, engine);
  }
  const parallel: Parallel = {
    threadCount: 1,
    run: () => {
      throw new Reached();
    },
  };
  const run = vectorOperator(node, {
    arenas: engine.arenas,
    rowCountMin: engine.rowCountMin,
    parallel,
  });
  if (run === undefined) return false;
  try {
    const rows = run(makeCompiler(runtime, () => []));
    if (rows === undefined) return false;
    // Rows that are not begun are not ended either.
    for (const _ of rows) break;
    return true;
  } catch (thrown) {
    if (thrown instanceof Reached) return true;
    throw thrown;
  }
}

function belowLimits(node: PlanNode): PlanNode {
  return node.kind === 'limit' ? belowLimits(node.input) : node;
}

/** The nodes that kernels may run, by their shape. */
function isVectorNode(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
      return isVectorAggregate(node);
    case 'limit':
      return isGroupLimit(node);
    case 'sort':
      return isRowSort(node) || isGroupSort(node);
    case 'project':
      return isColumnProject(node);
    case 'distinct-on':
      return matchFirstOfGroups(node) !== undefined;
    case 'filter':
      return matchFilteredScan(node) !== undefined;
    default:
      return false;
  }
}

function isRowSort({ late, ties, keys, input }: SortNode): boolean {
  const isPlain = keys.every(({ nulls }) => nulls === undefined);
  const suits = !late && ties === 'row-hash' && keys.length > 0 && isPlain;
  return suits && matchFilteredScan(input) !== undefined;
}

/** Operators over rows that lie in columns, as those below give them. */
function columnOperator(node: PlanNode, runtime: Runtime): RowSource | undefined {
  if (isColumnProject(node)) {
    const input = compilePlan(node.input, runtime);
    const compiler = makeCompiler(runtime, () => []);
    return () => {
      const rows = input();
      const hasColumns = rows instanceof GroupTable || rows instanceof NumberedRows;
      const columns = hasColumns ? rows.project(node.items) : undefined;
      return columns ?? compileProject(node, () => rows, compiler)();
    };
  }
  return undefined;
}

type ColumnProject = ProjectNode & { readonly items: readonly NamedProjectItem[] };

/** A select list of keys and aggregates over groups, or of columns over rows by number. */
function isColumnProject(node: PlanNode): node is ColumnProject {
  if (node.kind !== 'project' || node.name !== undefined || node.keepsInput) return false;
  const suits = isOverGroups(node.input)
    ? isGroupValue
    : isOverNumbers(node.input)
      ? (kind: BoundExpression['kind']) => kind === 'column'
      : undefined;
  if (suits === undefined) return false;
  const names = new Set(node.items.map((item) => (item.kind === 'named' ? item.path[0] : '')));
  return (
    names.size === node.items.length &&
    node.items.every(
      (item) => item.kind === 'named' && item.path.length === 1 && suits(item.expression.kind),
    )
  );
}

/** Whether the rows of a node may come as numbers of rows of a table. */
function isOverNumbers(node: PlanNode): boolean {
  if (node.kind === 'limit') return isOverNumbers(node.input);
  if (node.kind === 'distinct-on') return matchFirstOfGroups(node) !== undefined;
  return node.kind === 'sort' && isRowSort(node);
}

/** Whether the rows of a select list are columns of the rows below it as they are. */
export function readsColumnsOfRows(node: PlanNode): boolean {
  return isColumnProject(node);
}

type GroupSort = SortNode & { readonly input: AggregateNode };

/** ORDER BY over groups, by their keys and aggregates. */
function isGroupSort(node: PlanNode): node is GroupSort {
  return (
    node.kind === 'sort' &&
    !node.late &&
    node.ties === 'input-order' &&
    isVectorAggregate(node.input) &&
    node.keys.every(({ expression }) => isGroupValue(expression.kind))
  );
}

type GroupLimit = LimitNode & { readonly input: AggregateNode };

/** LIMIT of groups in the order of their keys. */
function isGroupLimit(node: PlanNode): node is GroupLimit {
  return node.kind === 'limit' && node.limit !== undefined && isVectorAggregate(node.input);
}

function isVectorAggregate(node: PlanNode): node is AggregateNode {
  return node.kind === 'aggregate' && matchGroupInput(node.input) !== undefined;
}

function isGroupValue(kind: BoundExpression['kind']): boolean {
  return kind === 'group-key' || kind === 'aggregate-result';
}

/** Whether the rows of a node may come as columns of groups. */
function isOverGroups(node: PlanNode): boolean {
  if (node.kind === 'limit') return isOverGroups(node.input);
  return isGroupSort(node) || isVectorAggregate(node);
}

/** Whether a node and those below it ask for nothing that kernels do not know. */
export function suitsVectors(node: PlanNode): boolean {
  if (RUN_BY_REFERENCE.has(node.kind)) return true;
  const aggregates = node.kind === 'aggregate' ? node.aggregates : [];
  const keys = node.kind === 'sort' ? node.keys : [];
  return (
    aggregates.every(({ modifiers }) => modifiers === undefined) &&
    keys.every(({ nulls }) => nulls === undefined) &&
    !(node.kind === 'distinct-on' && !node.sorted) &&
    expressionsOf(node).every((expression) => !someExpression(expression, isOfOtherRows)) &&
    inputsOf(node).every(suitsVectors)
  );
}

/** What runs by itself, so that nothing below it matters here. */
const RUN_BY_REFERENCE: ReadonlySet<PlanNode['kind']> = new Set([
  ...(['window', 'grouping-sets', 'distinct', 'set-operation', 'values', 'series'] as const),
  ...(['shared', 'recursive', 'recursive-table', 'lateral', 'rejoin', 'limit-by'] as const),
]);

/** Values that differ although the row is the same. */
function isOfOtherRows(expression: BoundExpression): boolean {
  const { kind } = expression;
  if (kind === 'subquery') return expression.mode !== 'scalar' || expression.args.length > 0;
  return kind === 'outer' || kind === 'window-result' || kind === 'grouping';
}

type VectorOperator = (compiler: Compiler) => Iterable<ExecRow> | undefined;

function vectorOperator(node: PlanNode, engine: VectorEngine): VectorOperator | undefined {
  if (!isVectorNode(node) || !suitsVectors(node)) return undefined;
  if (isGroupSort(node)) {
    const { keys: sortKeys, keep } = node;
    return (compiler) =>
      vectorGroups(node.input, compiler, engine, { sortKeys, keep, isOrdered: true });
  }
  if (isGroupLimit(node)) return (compiler) => limitedGroups(node, compiler, engine);
  if (node.kind === 'aggregate') return (compiler) => vectorGroups(node, compiler, engine);
  if (node.kind === 'sort') return (compiler) => vectorSort(node, compiler, engine);
  if (node.kind === 'distinct-on') return (compiler) => vectorDistinctOn(node, compiler, engine);
  if (node.kind === 'filter') return (compiler) => vectorFilter(node, compiler, engine);
  return undefined;
}

function limitedGroups(
  { input, offset, limit = 0 }: GroupLimit,
  compiler: Compiler,
  engine: VectorEngine,
): Iterable<ExecRow> | undefined {
  const groups = vectorGroups(input, compiler, engine, {
    ...ALL_GROUPS,
    keep: offset + limit,
  });
  return groups?.slice(Math.min(offset, groups.rowCount), groups.rowCount);
}

/** The same runtime, seen by general operators only; what changes from run to run stays shared. */
function withoutAccelerator(runtime: Runtime): Runtime {
  return Object.create(runtime, { accelerate: { value: undefined } }) as Runtime;
}
