// The common part of export.parquet and export.arrow.
import { Type } from 'typebox';
import { parseFileUrl } from '../../file/url.ts';
import { type InputQuery, inputQuery, url } from '../../schema/declare.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type { RowNamesView } from '../../value/column/row-names.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import type { ProcedureContext, ProcedureResult } from '../procedure-type.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import {
  type FileCell,
  type FileColumnType,
  fileCell,
  fileColumnType,
} from './export-column-type.ts';
import { type ExportTable, exportTable } from './export-table.ts';
import { writeWholeFile } from './whole-file.ts';

export const TABLE_FILE_PARAMETERS = {
  exportData: inputQuery({ description: 'the query; it must have a FROM clause' }),
  dataFileUrl: url({ description: 'file to write, compressed as a whole when its suffix says so' }),
  skipDuplicateCells: Type.Boolean({
    description: 'write the latest value of cells that have several, instead of failing',
    default: false,
  }),
  rowNameColumn: Type.Optional(
    Type.String({ description: 'first column, which gets the names of rows; default: none' }),
  ),
  ...runOnCreation,
};

export interface TableFileParams {
  readonly exportData: InputQuery;
  readonly dataFileUrl: string;
  readonly skipDuplicateCells: boolean;
  readonly rowNameColumn?: string;
}

/** Checks URL and query before anything runs. @throws INVALID_PARAMETER, SQL_SYNTAX */
export function checkTableFile(type: string, { exportData, dataFileUrl }: TableFileParams): void {
  parseFileUrl(dataFileUrl);
  checkTrainingQuery(exportData, { type, shape: 'any', allowsGroupBy: true });
}

/** A column of a file; cells can be had for any range of rows. */
export interface FileColumn {
  readonly name: string;
  readonly type: FileColumnType;
  /** absent: names of rows */
  readonly column?: ColumnSnapshot;
  cells(from: number, to: number): FileCell[];
}

/** Writes a table; bytes may be handed on while it works. */
export type TableWriter = (
  columns: readonly FileColumn[],
  rowCount: number,
  write: (bytes: Uint8Array) => Promise<void>,
  report: (rowCount: number) => void,
) => Promise<void>;

/** Runs the query and writes its columns; the file appears under its name when it is whole. */
export async function exportTableFile(
  type: string,
  context: ProcedureContext,
  params: TableFileParams,
  writer: TableWriter,
): Promise<ProcedureResult> {
  const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
  progress.next();
  const table = exportTable(context, params.exportData, {
    type,
    skipDuplicateCells: params.skipDuplicateCells,
    needsNames: params.rowNameColumn !== undefined,
    report: (count) => progress.update(0.5 * (1 - 1 / (1 + count / 1e5))),
  });
  try {
    const columns = columnsOf(table, params.rowNameColumn, context);
    await writeWholeFile(context, params.dataFileUrl, (sink) =>
      writer(
        columns,
        table.rowCount,
        async (bytes) => {
          context.checkCancelled();
          if (bytes.length > 0) await sink.write(bytes);
        },
        (rowCount) => {
          context.checkCancelled();
          progress.update(0.5 + (0.5 * rowCount) / (table.rowCount + 1));
        },
      ),
    );
    progress.finish();
    return { result: { rowCount: table.rowCount } };
  } finally {
    table.release();
  }
}

function columnsOf(
  { columns, names }: ExportTable,
  rowNameColumn: string | undefined,
  { arenas }: ProcedureContext,
): FileColumn[] {
  const out: FileColumn[] = [];
  if (rowNameColumn !== undefined) {
    out.push({
      name: new Path([rowNameColumn]).toText(),
      type: 'text',
      cells: (from, to) =>
        Array.from({ length: to - from }, (_, index) =>
          (names as RowNamesView).pathAt(from + index).toString(),
        ),
    });
  }
  for (const { path, column } of columns) {
    const type = fileColumnType(column, arenas);
    const view = new ColumnView(column, arenas);
    out.push({
      name: path.toString(),
      type,
      column,
      cells(from, to) {
        const cells = new Array<FileCell>(to - from);
        for (let row = from; row < to; row++) cells[row - from] = fileCell(view.atomAt(row), type);
        return cells;
      },
    });
  }
  return out;
}
