// Reads what a query selects as points of a space: a coordinate a column, all of them numbers.

import type { PreparedQuery } from '../../exec/query.ts';
import { workspaceOf } from '../../exec/thread-memory.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import { type ExtractedColumns, extractColumns } from '../../exec/vector/extract.ts';
import { allocatePoints, type Points, pointColumns } from '../../learn/points.ts';
import type { ProjectItem } from '../../plan/expression.ts';
import { inputsOf } from '../../plan/map-plan.ts';
import type { PlanNode } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import type { Atom } from '../../value/atom.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { atomToJsonText } from '../../value/json.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { flatten, type Row } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import type { SampleReport } from '../training/query-sums.ts';
import { sampledQuery } from '../training/sampled-query.ts';

export interface PointRows {
  /** the span is the caller's to free */
  readonly points: Points;
  /** printed paths of the coordinates, in the order of the select list */
  readonly columnNames: readonly string[];
  /** numbers of the target column, one a row; absent when none was asked for */
  readonly targets: Float64Array | undefined;
  nameAt(row: number): Path;
  /** present: these are not all rows */
  readonly sample?: SampleReport | undefined;
}

export interface PointOptions {
  /** how many of the columns are taken, from the first; -1: all */
  readonly numInputDimensions?: number;
  /** a column that is no coordinate, and must be there */
  readonly target?: string;
  /** what the failure over no rows says */
  readonly noRows: string;
  /** too many rows of another system are sampled by it; absent: they are refused */
  readonly sampleSeed?: number;
  /** fewer rows of another system are wanted */
  readonly sampleRowCount?: number;
}

/** Rows or comparisons of two between two looks at the cancel flag. */
const STEPS_PER_CHECK = 16_384;

/**
 * Rows come in the order of their names, or of the query where it has a LIMIT or OFFSET.
 * @throws DATA_ERROR over no rows, or naming row and column of a value that is no finite number
 */
export function readPoints(
  context: ProcedureContext,
  query: InputQuery,
  options: PointOptions,
): PointRows {
  const { sampleRowCount, sampleSeed } = options;
  const { prepared, sample } =
    sampleSeed === undefined
      ? { prepared: context.query(query), sample: undefined }
      : sampledQuery(context, query, sampleSeed, sampleRowCount);
  const found =
    readPointColumns(context, prepared, options) ?? readRows(context, prepared, options);
  if (found.points.rowCount > 0) return sample === undefined ? found : { ...found, sample };
  context.arenas.free(found.points.span);
  throw failure('DATA_ERROR', options.noRows);
}

/** The way without rows: undefined when the query does more than picking columns. */
function readPointColumns(
  context: ProcedureContext,
  prepared: PreparedQuery,
  options: PointOptions,
): PointRows | undefined {
  const { arenas, namespace, parallel, scope } = context;
  const extracted = extractColumns(prepared.plan, {
    scalars: {},
    namespace,
    scope,
    engine: { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN },
  });
  if (extracted === undefined) return undefined;
  const columns = new Map<string, ColumnSnapshot>();
  for (const { path, column } of extracted.features) columns.set(path.toString(), column);
  const chosen = chooseColumns([...columns.keys()], prepared, options);
  const rows = rowsByName(extracted, context);
  const { snapshot } = extracted;
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
  const rowCount = rows?.length ?? snapshot.rowCount;
  const nameAt = (row: number) => names.pathAt(rows === undefined ? row : (rows[row] as number));
  const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
  const fill = (name: string, target: Float64Array): void => {
    const column = columns.get(name) as ColumnSnapshot;
    const view = new ColumnView(column, arenas);
    const isNumeric = column.type !== 'timestamp';
    for (let i = 0; i < rowCount; i++) {
      look();
      const row = rows === undefined ? i : (rows[i] as number);
      const value = view.numberAt(row);
      target[i] =
        isNumeric && Number.isFinite(value) ? value : coordinate(view.atomAt(row), nameAt(i), name);
    }
  };
  return place(context, rowCount, chosen, fill, nameAt);
}

/** Numbers of the selected rows in the order of their names; undefined: all, as stored. */
function rowsByName(
  { snapshot, selection }: ExtractedColumns,
  context: ProcedureContext,
): Int32Array | undefined {
  if (snapshot.rowNames.kind === 'sequence') return selection;
  const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, context.arenas);
  const numbers = selection ?? Int32Array.from({ length: snapshot.rowCount }, (_, row) => row);
  const paths = Array.from(numbers, (row) => ({ row, path: names.pathAt(row) }));
  paths.sort((a, b) => {
    look();
    return comparePaths(a.path, b.path) || a.row - b.row;
  });
  return Int32Array.from(paths, ({ row }) => row);
}

/** Any query: row by row. */
function readRows(
  context: ProcedureContext,
  prepared: PreparedQuery,
  options: PointOptions,
): PointRows {
  const rows: { readonly name: Path; readonly row: Row }[] = [];
  const columns = new Map<string, (Atom | undefined)[]>();
  const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
  for (const { name, row } of prepared.run()) {
    look();
    rows.push({ name, row });
  }
  if (!hasWindow(prepared.plan.root)) {
    rows.sort((a, b) => {
      look();
      return comparePaths(a.name, b.name);
    });
  }
  for (const [index, { name, row }] of rows.entries()) {
    flatten(row, [], (path, atom) => {
      look();
      const key = path.toString();
      let column = columns.get(key);
      if (column === undefined) {
        column = [];
        columns.set(key, column);
      }
      if (column[index] !== undefined) {
        throw failure('DATA_ERROR', `column '${key}' has several values in row '${name}'`);
      }
      column[index] = atom;
    });
  }
  const chosen = chooseColumns([...columns.keys()], prepared, options);
  const nameAt = (row: number) => rows[row]?.name as Path;
  const fill = (name: string, target: Float64Array): void => {
    const atoms = columns.get(name) as (Atom | undefined)[];
    for (let row = 0; row < rows.length; row++) {
      look();
      target[row] = coordinate(atoms[row] ?? null, nameAt(row), name);
    }
  };
  return place(context, rows.length, chosen, fill, nameAt);
}

function hasWindow(root: PlanNode): boolean {
  return root.kind === 'limit' || (root.kind === 'sort' && root.keep !== undefined);
}

interface ChosenColumns {
  readonly coordinates: readonly string[];
  readonly target: string | undefined;
}

function chooseColumns(
  names: readonly string[],
  prepared: PreparedQuery,
  { numInputDimensions = -1, target }: PointOptions,
): ChosenColumns {
  const ordered = inSelectOrder(names, prepared.plan.root).filter((name) => name !== target);
  const coordinates = numInputDimensions > 0 ? ordered.slice(0, numInputDimensions) : ordered;
  if (target !== undefined && names.length > 0 && !names.includes(target)) {
    throw failure('DATA_ERROR', `the selected rows have no column named '${target}'`);
  }
  return { coordinates, target };
}

/** Columns stand where the select list names them; what a wildcard yields is sorted by name. */
function inSelectOrder(names: readonly string[], root: PlanNode): string[] {
  const rest = names.map((name) => Path.parse(name)).sort(comparePaths);
  const items = findProject(root)?.items ?? [];
  const ordered: Path[] = [];
  const take = (matches: (path: Path) => boolean): void => {
    for (const path of rest.filter(matches)) {
      ordered.push(path);
      rest.splice(rest.indexOf(path), 1);
    }
  };
  const explicit = items.flatMap((item) => (item.kind === 'named' ? [item.path] : []));
  for (const item of items) {
    if (item.kind === 'named') take((path) => startsWith(path, item.path));
    else take((path) => !explicit.some((prefix) => startsWith(path, prefix)));
  }
  return [...ordered, ...rest].map(String);
}

function startsWith({ elements }: Path, prefix: readonly string[]): boolean {
  return prefix.every((element, index) => elements[index] === element);
}

function findProject(node: PlanNode): { readonly items: readonly ProjectItem[] } | undefined {
  if (node.kind === 'project') return node;
  const [input] = inputsOf(node);
  return input === undefined || node.kind === 'join' ? undefined : findProject(input);
}

function place(
  context: ProcedureContext,
  rowCount: number,
  { coordinates, target }: ChosenColumns,
  fill: (name: string, target: Float64Array) => void,
  nameAt: (row: number) => Path,
): PointRows {
  const workspace = workspaceOf(context.arenas);
  const points = allocatePoints(workspace, rowCount, coordinates.length);
  try {
    const columns = pointColumns(workspace, points);
    for (const [j, name] of coordinates.entries()) fill(name, columns[j] as Float64Array);
    let targets: Float64Array | undefined;
    if (target !== undefined && rowCount > 0) {
      targets = new Float64Array(rowCount);
      fill(target, targets);
    }
    return { points, columnNames: coordinates, targets, nameAt };
  } catch (thrown) {
    context.arenas.free(points.span);
    throw thrown;
  }
}

/** @throws DATA_ERROR naming row and column */
function coordinate(atom: Atom, row: Path, column: string): number {
  const number = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw failure(
    'DATA_ERROR',
    `value ${atomToJsonText(atom)} of column '${column}' in row '${row}' is not a finite number`,
    { row: row.toString(), column },
  );
}
