// The rows of a select list as columns, for readers that want no rows: features, labels, points.
import type { PhysicalNode } from '../../physical/physical.ts';
import type { BoundExpression, ProjectItem } from '../../plan/expression.ts';
import type { PlanNode, ProjectNode } from '../../plan/plan.ts';
import { readsTimestamps } from '../../plan/timestamps.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import type { Runtime } from '../general/compiler.ts';
import { makeCompiler } from '../general/plan.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { dictionaryTables } from '../vector/program/row-function.ts';
import { isLeftToReference, suited } from './not-suited.ts';
import { type FeatureExpression, featureExpressions } from './outputs.ts';
import { resolveExpression } from './pipeline.ts';
import { PlanRunner } from './run.ts';
import { RunMemory } from './run-memory.ts';

/** They lie in memory that is given back after `use`. */
export interface PlanColumns {
  readonly rowCount: number;
  /** what the row of features consists of, names as they are below it; each name once */
  readonly features: readonly { readonly path: Path; readonly column: ColumnSnapshot }[];
  /** the other outputs that were asked for, where the query has them */
  readonly scalars: Readonly<Record<string, ColumnSnapshot>>;
  nameAt(row: number): Path;
}

export interface PlanColumnsOptions {
  /** the output that is a row of features; absent: all outputs are features */
  readonly row?: string;
  readonly scalars: readonly string[];
  readonly engine: VectorEngine;
}

/**
 * Runs a select list by operators and hands its columns to `use`.
 * @returns what `use` returns; undefined where it was not called, since the rows have to be made one
 *   by one: a value is no atom, columns are not known, an expression fails
 */
export function usePlanColumns<Result>(
  node: ProjectNode,
  runtime: Runtime,
  options: PlanColumnsOptions,
  use: (columns: PlanColumns) => Result,
): Result | undefined {
  if (node.keepsInput || node.name !== undefined) return undefined;
  if (readsTimestamps(node, runtime.namespace)) return undefined;
  const { engine } = options;
  const compiler = makeCompiler(runtime, () => []);
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  try {
    const columns = openColumns(
      node,
      runtime.planner.batches(node.input),
      new PlanRunner({ engine, compiler, tables, memory, exactTimestamps: false }),
      options,
    );
    return columns && use(columns);
  } finally {
    tables.release();
    memory.release();
  }
}

function openColumns(
  { items }: ProjectNode,
  input: PhysicalNode,
  runner: PlanRunner,
  { row, scalars, engine }: PlanColumnsOptions,
): PlanColumns | undefined {
  const features: FeatureExpression[] = [];
  const named: { readonly name: string; readonly expression: BoundExpression }[] = [];
  try {
    const table = runner.table(input, (outputs) => {
      const rowItems = row === undefined ? items : suited(rowNamed(items, row));
      features.push(...featureExpressions(rowItems, [], outputs));
      for (const name of scalars) {
        const item = items.find((each) => each.kind === 'named' && each.path.join('.') === name);
        if (item?.kind !== 'named') continue;
        named.push({ name, expression: suited(resolveExpression(item.expression, outputs)) });
      }
      return [...features, ...named].map(({ expression }) => expression);
    });
    const columns = table.columns;
    return {
      rowCount: table.rowCount,
      features: features.map(({ path }, index) => ({
        path: new Path(path),
        column: columns[index] as ColumnSnapshot,
      })),
      scalars: Object.fromEntries(
        named.map(({ name }, index) => [name, columns[features.length + index] as ColumnSnapshot]),
      ),
      nameAt: table.nameAt,
    };
  } catch (thrown) {
    if (isLeftToReference(thrown, engine)) return undefined;
    throw thrown;
  }
}

function rowNamed(items: readonly ProjectItem[], name: string): readonly ProjectItem[] | undefined {
  const item = items.find((each) => each.kind === 'named' && each.path.join('.') === name);
  if (item?.kind !== 'named' || item.expression.kind !== 'row') return undefined;
  return item.expression.items;
}

/** They lie in memory that `release` gives back. */
export interface ResultColumns {
  readonly rowCount: number;
  readonly columns: readonly { readonly path: Path; readonly column: ColumnSnapshot }[];
  release(): void;
}

/**
 * Runs a query by operators alone, for readers that want its columns and no rows.
 * @returns undefined where rows have to be made one by one, see `usePlanColumns`
 */
export function openResultColumns(
  root: PlanNode,
  runtime: Runtime,
  engine: VectorEngine,
): ResultColumns | undefined {
  const node = withLimitBelow(root);
  if (node.kind !== 'project' || node.keepsInput || node.name !== undefined) return undefined;
  if (readsTimestamps(node, runtime.namespace)) return undefined;
  const compiler = makeCompiler(runtime, () => []);
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  const release = () => {
    tables.release();
    memory.release();
  };
  let columns: PlanColumns | undefined;
  try {
    // Rows that the reference makes are read as they come, not kept.
    const runner = new PlanRunner(
      { engine, compiler, tables, memory, exactTimestamps: false },
      { makesRows: false },
    );
    columns = openColumns(node, runtime.planner.batches(node.input), runner, {
      scalars: [],
      engine,
    });
  } finally {
    if (columns === undefined) release();
  }
  return columns && { rowCount: columns.rowCount, columns: columns.features, release };
}

/** Of rows that are left out no expression is evaluated either way. */
function withLimitBelow(node: PlanNode): PlanNode {
  if (node.kind !== 'limit' || node.input.kind !== 'project') return node;
  const { input } = node;
  return { ...input, input: { ...node, input: input.input } };
}
