// The result of a query as columns, for formats that want each column as a whole: taken from the
// dataset where the query only picks columns, else built from the rows.
import type { InputQuery } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { compareAtoms } from '../../value/atom.ts';
import { type RowNamesView, rowNamesView } from '../../value/column/row-names.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { freeSnapshot } from '../../value/column/snapshot-memory.ts';
import { TableBuilder } from '../../value/column/table-builder.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { compareSeconds } from '../../value/timestamp.ts';
import { flatten } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import { separatedRow, separateItems } from './export-columns.ts';
import { isInOrder, openExportSource } from './export-source.ts';

export interface ExportTable {
  readonly rowCount: number;
  /** in the order of the select list; a column that two items name is there twice */
  readonly columns: readonly ExportedColumn[];
  /** absent where nobody asked for them and only rows tell them */
  readonly names: RowNamesView | undefined;
  /** Gives back what was built. */
  release(): void;
}

export interface ExportedColumn {
  readonly path: Path;
  readonly column: ColumnSnapshot;
}

export interface ExportTableOptions {
  /** procedure type, for messages */
  readonly type: string;
  readonly skipDuplicateCells: boolean;
  readonly needsNames: boolean;
  report(rowCount: number): void;
}

const ROWS_PER_REPORT = 512;

/** @throws DATA_ERROR for a cell with several values, unless the latest is to be taken */
export function exportTable(
  context: ProcedureContext,
  query: InputQuery,
  options: ExportTableOptions,
): ExportTable {
  const { arenas } = context;
  const source = openExportSource(context, query);
  const { known, columns: made, rowNames } = source;
  if (made !== undefined && isInOrder(source) && (rowNames !== undefined || !options.needsNames)) {
    return {
      rowCount: source.rowCount,
      columns: made,
      names: rowNames && rowNamesView(rowNames, source.rowCount, arenas),
      release: source.release,
    };
  }
  source.release();
  const prepared = context.query(query, separateItems);
  const table = new TableBuilder(arenas);
  const found = new Map<string, FoundColumn>();
  for (const [item, paths] of known.entries()) {
    for (const path of paths ?? []) addColumn(found, table, item, path);
  }
  let rowCount = 0;
  for (const { name, row } of prepared.run()) {
    if (rowCount++ % ROWS_PER_REPORT === 0) {
      context.checkCancelled();
      options.report(rowCount);
    }
    const latest = new Map<string, { readonly atom: Atom; readonly ts: number }>();
    flatten(separatedRow(row), [], (placed, atom, ts) => {
      const key = placed.toString();
      const before = latest.get(key);
      if (before !== undefined) {
        if (!options.skipDuplicateCells) throw severalValues(options.type, name, placed);
        if (!isLater(atom, ts, before)) return;
      }
      latest.set(key, { atom, ts });
      if (found.has(key)) return;
      addColumn(found, table, Number(placed.elements[0]), placed.slice(1));
    });
    for (const [key, { atom }] of latest) {
      const column = found.get(key) as FoundColumn;
      column.hasValue ||= atom !== null;
      table.set(column.index, atom);
    }
    table.endRow(name, 0);
  }
  const snapshot = table.seal(() => context.checkCancelled());
  const columns = [...found.values()];
  const wanted = columns.filter(
    (column) =>
      column.hasValue ||
      known[column.item] !== undefined ||
      !columns.some((other) => isBelow(other, column)),
  );
  wanted.sort(
    (a, b) => a.item - b.item || (known[a.item] === undefined ? comparePaths(a.path, b.path) : 0),
  );
  return {
    rowCount,
    columns: wanted.map(({ path, index }) => ({
      path,
      column: snapshot.columns[index] as ColumnSnapshot,
    })),
    names: rowNamesView(snapshot.rowNames, rowCount, arenas),
    release: () => freeSnapshot(snapshot, arenas),
  };
}

interface FoundColumn {
  readonly item: number;
  readonly path: Path;
  readonly index: number;
  hasValue: boolean;
}

function addColumn(
  found: Map<string, FoundColumn>,
  table: TableBuilder,
  item: number,
  path: Path,
): void {
  const placed = new Path([String(item), ...path.elements]);
  const index = table.columnIndex(placed);
  found.set(placed.toString(), { item, path, index, hasValue: false });
}

/** A name that only stands for columns below it. */
function isBelow(other: FoundColumn, column: FoundColumn): boolean {
  const { path } = other;
  return (
    other.item === column.item && path.length > column.path.length && path.startsWith(column.path)
  );
}

function isLater(
  atom: Atom,
  ts: number,
  before: { readonly atom: Atom; readonly ts: number },
): boolean {
  const order = compareSeconds(ts, before.ts);
  return order > 0 || (order === 0 && compareAtoms(atom, before.atom) < 0);
}

function severalValues(type: string, row: Path, placed: Path): Error {
  const column = placed.slice(1).toString();
  return failure(
    'DATA_ERROR',
    `${type} does not work over cells having multiple values, at row '${row}' for column '${column}'; skipDuplicateCells takes the latest`,
    { row: row.toString(), column },
  );
}
