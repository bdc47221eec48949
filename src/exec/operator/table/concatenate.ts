// The rows of several tables behind each other: chunks stay where they are, only codes of different
// dictionaries are made anew.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { Atom } from '../../../value/atom.ts';
import { nullChunk } from '../../../value/column/chunk-encoder.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ChunkSnapshot, ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { Path } from '../../../value/path.ts';
import { namedRow } from '../../general/row.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { madeOutputs } from '../outputs.ts';
import { type Output, Pipeline } from '../pipeline.ts';
import { type MadeColumn, MadeTable } from './batch-table.ts';
import { columnOf, encodeAtoms } from './encode-column.ts';
import { mergeDictionaries } from './merge-dictionaries.ts';

/** A part of a concatenation: a pipeline, and its columns under the names that all parts share. */
export interface Part {
  readonly pipeline: Pipeline;
  readonly columns: readonly { readonly name: string; readonly expression: BoundExpression }[];
  nameOf(row: Path): Path;
}

/** The rows of all parts, which have the same columns. @throws NotSuited */
export function concatenate(
  parts: readonly Part[],
  context: OperatorContext,
  { named }: { readonly named: boolean },
): Pipeline {
  const tables = parts.map((part) => tableOfPart(part, context, named));
  const chunkRowCounts = tables.flatMap(({ table }) => table.base.chunkRowCounts);
  const [first] = parts;
  const makers = new Map(
    (first?.columns ?? []).map(({ name }) => [
      name,
      () => concatenateColumn(name, tables, context),
    ]),
  );
  const starts: number[] = [];
  let rowCount = 0;
  for (const { table } of tables) {
    starts.push(rowCount);
    rowCount += table.base.rowCount;
  }
  const nameAt = (row: number): Path => {
    let part = tables.length - 1;
    while (row < (starts[part] as number)) part--;
    const { table } = tables[part] as TableOfPart;
    const { nameOf } = parts[part] as Part;
    return nameOf(
      table.namer((number) => (number === 0 ? row - (starts[part] as number) : undefined)).name,
    );
  };
  const made = new MadeTable(chunkRowCounts, makers, nameAt);
  const outputs = madeOutputs(made);
  return new Pipeline(
    made,
    outputs,
    (rowOf) => namedRow(nameAt(rowOf(0) as number)),
    context.tables,
  );
}

interface TableOfPart {
  /** rows as they lie */
  readonly table: Pipeline;
  /** the column of its base for a name */
  columnOf(name: string): number;
}

function tableOfPart(
  { pipeline, columns }: Part,
  context: OperatorContext,
  named: boolean,
): TableOfPart {
  const isReady =
    pipeline.isPlain &&
    pipeline.filter === undefined &&
    columns.every(({ expression }) => expression.kind === 'column');
  if (isReady) {
    const expressions = new Map(columns.map(({ name, expression }) => [name, expression]));
    return {
      table: pipeline,
      columnOf(name) {
        const expression = expressions.get(name);
        const found =
          expression?.kind === 'column' ? pipeline.base.find(expression.path.slice(1)) : undefined;
        if (typeof found !== 'number') throw new NotSuited();
        return found;
      },
    };
  }
  const outputs = columns.map(({ name, expression }): Output => ({ path: [name], expression }));
  const table = materialize(pipeline, outputs, context, { named });
  return {
    table,
    columnOf(name) {
      const found = table.base.find([name]);
      if (typeof found !== 'number') throw new NotSuited();
      return found;
    },
  };
}

function concatenateColumn(
  name: string,
  parts: readonly TableOfPart[],
  context: OperatorContext,
): MadeColumn {
  const columns = parts.map((part) => {
    const column = part.columnOf(name);
    const { base } = part.table;
    return { base, snapshot: base.columns[column] as ColumnSnapshot, column };
  });
  const times = columns.filter(({ snapshot, base }) => hasValues(snapshot, base.rowCount));
  const [first] = times;
  const ts = first === undefined ? Number.NEGATIVE_INFINITY : first.base.tsOf(first.column);
  if (context.exactTimestamps) {
    const same = times.every(
      ({ base, column }) => base.timedOf(column) === true && base.tsOf(column) === ts,
    );
    if (!same) throw new NotSuited();
  }
  const snapshots = columns.map(({ snapshot }) => snapshot);
  const rowCounts = columns.map(({ base }) => base.chunkRowCounts);
  return { snapshot: joinSnapshots([name], snapshots, rowCounts, context), ts };
}

function hasValues({ nullCount }: ColumnSnapshot, rowCount: number): boolean {
  return nullCount < rowCount;
}

function joinSnapshots(
  path: readonly string[],
  columns: readonly ColumnSnapshot[],
  chunkRowCounts: readonly (readonly number[])[],
  context: OperatorContext,
): ColumnSnapshot {
  const { memory } = context;
  const present = columns.filter((column, i) =>
    hasValues(
      column,
      (chunkRowCounts[i] as readonly number[]).reduce((sum, n) => sum + n, 0),
    ),
  );
  const nulls = (counts: readonly number[]): ChunkSnapshot[] => counts.map(nullChunk);
  const chunksWhere = (chunksOf: (column: ColumnSnapshot) => readonly ChunkSnapshot[]) =>
    columns.flatMap((column, i) =>
      present.includes(column) ? chunksOf(column) : nulls(chunkRowCounts[i] as readonly number[]),
    );
  const isCoded = present.map(({ dictionary }) => dictionary !== undefined);
  if (isCoded.every(Boolean)) {
    const merged = mergeDictionaries(present, context);
    if (merged === undefined)
      return columnOf(
        path,
        'null',
        chunksWhere(() => []),
      );
    const type = merged.dictionary.kind === 'text' ? 'string' : 'mixed';
    return columnOf(path, type, chunksWhere(merged.chunksOf), merged.dictionary);
  }
  const types = new Set(present.map(({ type }) => type));
  const isNumeric = [...types].every((type) => type === 'integer' || type === 'number');
  if (isNumeric || (types.size === 1 && types.has('timestamp'))) {
    const type = types.has('number') ? 'number' : [...types][0];
    return columnOf(
      path,
      type as ColumnSnapshot['type'],
      chunksWhere(({ chunks }) => chunks),
    );
  }
  const atoms: Atom[] = [];
  columns.forEach((column) => {
    for (const atom of new ColumnView(column, memory.arenas).atoms()) atoms.push(atom);
  });
  return encodeAtoms(path, atoms, chunkRowCounts.flat(), memory);
}

/** The same for rows that have all of their columns. @throws NotSuited */
export function cellColumns(pipeline: Pipeline): Part['columns'] {
  const list = suited(pipeline.outputs.list());
  if (list.some(({ presence }) => presence !== undefined)) throw new NotSuited();
  return namedColumns(pipeline);
}

/** The columns of a pipeline by their printed paths. */
export function namedColumns(pipeline: Pipeline): Part['columns'] {
  return suited(pipeline.outputs.list()).map(({ path, expression }) => ({
    name: path.join('\u0000'),
    expression,
  }));
}
