// Writes the result of a query as JSON, an object a line.
import { type Static, Type } from 'typebox';
import { ChunkSink } from '../../exec/output/sink.ts';
import { fileJson } from '../../exec/row-text/cell-text.ts';
import { flatMembers, structuredMembers } from '../../exec/row-text/json-members.ts';
import type { LineForm } from '../../exec/row-text/line-form.ts';
import type { FileSink } from '../../file/scheme.ts';
import { parseFileUrl } from '../../file/url.ts';
import { inputQuery, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { type Atom, compareAtoms } from '../../value/atom.ts';
import type { Path } from '../../value/path.ts';
import { compareSeconds } from '../../value/timestamp.ts';
import { flatten, type Row } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, type ProcedureResult, workerProcedure } from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import {
  type ExportSource,
  openExportSource,
  ROWS_ARE_MADE,
  writeExportSource,
  writtenBy,
} from './export-source.ts';
import { writeWholeFile } from './whole-file.ts';

const ROWS_PER_REPORT = 512;

const PARAMETERS = Type.Object({
  exportData: inputQuery({ description: 'the query; it must have a FROM clause' }),
  dataFileUrl: url({ description: 'file to write, compressed when its suffix says so' }),
  skipDuplicateCells: Type.Boolean({
    description: 'write the latest value of cells that have several, instead of failing',
    default: false,
  }),
  rowNameColumn: Type.Optional(
    Type.String({ description: 'first member, which gets the name of the row; default: none' }),
  ),
  structured: Type.Boolean({
    description: 'objects and arrays along the paths of columns; false: flat objects',
    default: true,
  }),
  includeNulls: Type.Boolean({ description: 'write members that are null', default: false }),
  ...runOnCreation,
});

type ExportJsonParams = Static<typeof PARAMETERS>;

export const exportJson = workerProcedure({
  name: 'export.json',
  summary: 'Writes the result of a query as JSON, an object a line.',
  parameters: PARAMETERS,
  check({ exportData, dataFileUrl }) {
    parseFileUrl(dataFileUrl);
    checkTrainingQuery(exportData, { type: 'export.json', shape: 'any', allowsGroupBy: true });
  },
  run,
});

async function run(context: ProcedureContext, params: ExportJsonParams): Promise<ProcedureResult> {
  const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
  progress.next();
  const source = openExportSource(context, params.exportData);
  try {
    const form = lineForm(source, params);
    const report = (count: number) => progress.update(1 - 1 / (1 + count / 1e5));
    const withRowNames = params.rowNameColumn !== undefined;
    const rowCount = await writeWholeFile(context, params.dataFileUrl, (sink) =>
      typeof form === 'string'
        ? writeRows(context, source, params, sink, report)
        : writeExportSource(context, source, { form, sink, report, withRowNames }),
    );
    progress.finish();
    const why = typeof form === 'string' ? form : undefined;
    return { result: { rowCount }, details: writtenBy(why) };
  } finally {
    source.release();
  }
}

/** How columns become lines; a text says why rows have to be looked at one by one. */
function lineForm(
  { columns, rowNames }: ExportSource,
  { rowNameColumn, structured, includeNulls }: ExportJsonParams,
): LineForm | string {
  if (columns === undefined) return ROWS_ARE_MADE;
  const named = columns.map(({ path }, column) => ({ path, column }));
  let first: { name: string; column: number } | undefined;
  if (rowNameColumn !== undefined) {
    if (rowNames === undefined) return 'only the rows tell their names';
    first = { name: rowNameColumn, column: columns.length };
  }
  const members = structured ? structuredMembers(named, first) : flatMembers(named, first);
  if (members === undefined) return 'names of members repeat, or a value lies above others';
  return { kind: 'json', members, includesNulls: includeNulls };
}

async function writeRows(
  context: ProcedureContext,
  { known }: ExportSource,
  params: ExportJsonParams,
  sink: FileSink,
  report: (rowCount: number) => void,
): Promise<number> {
  const ready: Uint8Array[] = [];
  const text = new ChunkSink((bytes) => ready.push(bytes));
  const columns = known.flatMap((paths) => paths ?? []);
  const line = new LineWriter(params, params.includeNulls ? columns : []);
  let rowCount = 0;
  for (const { name, row } of context.query(params.exportData).run()) {
    if (rowCount++ % ROWS_PER_REPORT === 0) {
      context.checkCancelled();
      report(rowCount);
    }
    text.write(`${line.write(name, row)}\n`);
    for (let bytes = ready.shift(); bytes !== undefined; bytes = ready.shift()) {
      await sink.write(bytes);
    }
  }
  text.end();
  for (const bytes of ready) await sink.write(bytes);
  return rowCount;
}

interface Cell {
  readonly path: Path;
  readonly atom: Atom;
  readonly ts: number;
}

/** Members by name; a value of its own stands beside members below it under an empty name. */
interface Tree {
  text: string | undefined;
  readonly members: Map<string, Tree>;
}

class LineWriter {
  readonly #params: ExportJsonParams;
  /** columns that are written as null where a row lacks them */
  readonly #columns: readonly Path[];

  constructor(params: ExportJsonParams, columns: readonly Path[]) {
    this.#params = params;
    this.#columns = columns;
  }

  write(name: Path, row: Row): string {
    const { structured, includeNulls, rowNameColumn } = this.#params;
    const cells = this.#cells(name, row);
    for (const path of this.#columns) {
      const key = path.toString();
      if (!cells.has(key)) cells.set(key, { path, atom: null, ts: 0 });
    }
    const named = rowNameColumn === undefined ? [] : [[rowNameColumn, name.toString()] as const];
    if (!structured) {
      const members = named.map(
        ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
      );
      for (const [key, { atom }] of cells) {
        const text = fileJson(atom);
        if (includeNulls || text !== 'null') members.push(`${JSON.stringify(key)}:${text}`);
      }
      return `{${members.join(',')}}`;
    }
    const root: Tree = { text: undefined, members: new Map() };
    for (const [key, value] of named) {
      root.members.set(key, { text: JSON.stringify(value), members: new Map() });
    }
    for (const { path, atom } of cells.values()) {
      const text = fileJson(atom);
      if (!includeNulls && text === 'null') continue;
      let tree = root;
      for (const element of path.elements) {
        let inner = tree.members.get(element);
        if (inner === undefined) {
          inner = { text: undefined, members: new Map() };
          tree.members.set(element, inner);
        }
        tree = inner;
      }
      tree.text = text;
    }
    return objectText(root);
  }

  /** One value for each column. @throws DATA_ERROR for a column with several */
  #cells(name: Path, row: Row): Map<string, Cell> {
    const cells = new Map<string, Cell>();
    flatten(row, [], (path, atom, ts) => {
      const key = path.toString();
      const before = cells.get(key);
      if (before !== undefined) {
        if (!this.#params.skipDuplicateCells) throw severalValues(name, path);
        const order = compareSeconds(ts, before.ts);
        if (order < 0 || (order === 0 && compareAtoms(atom, before.atom) >= 0)) return;
      }
      cells.set(key, { path, atom, ts });
    });
    return cells;
  }
}

function severalValues(row: Path, column: Path): Error {
  return failure(
    'DATA_ERROR',
    `export.json does not work over cells having multiple values, at row '${row}' for column '${column}'; skipDuplicateCells takes the latest`,
    { row: row.toString(), column: column.toString() },
  );
}

function treeText({ text, members }: Tree): string {
  if (members.size === 0) return text ?? 'null';
  if (text === undefined || text === 'null') {
    const elements = arrayElements(members);
    if (elements !== undefined) return `[${elements.map(treeText).join(',')}]`;
    return objectText({ text: undefined, members });
  }
  return objectText({ text, members });
}

function objectText({ text, members }: Tree): string {
  const own = text === undefined || text === 'null' ? [] : [`"":${text}`];
  const inner = [...members].map(([name, tree]) => `${JSON.stringify(name)}:${treeText(tree)}`);
  return `{${[...own, ...inner].join(',')}}`;
}

/** The members in order when their names are 0, 1, … */
function arrayElements(members: ReadonlyMap<string, Tree>): Tree[] | undefined {
  const elements: Tree[] = [];
  for (let i = 0; i < members.size; i++) {
    const element = members.get(String(i));
    if (element === undefined) return undefined;
    elements.push(element);
  }
  return elements;
}
