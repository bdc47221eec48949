import { Type } from 'typebox';
import { workerProcedure } from '../procedure-type.ts';
import { fileUrls } from './file-list.ts';
import { IMPORT_TABLE_PARAMETERS, importTable, type TableFile } from './import-table.ts';

// Values of SQLite are no arrays.
const { arrays: _, ...PARAMETERS } = IMPORT_TABLE_PARAMETERS.properties;

/** Reads a table of SQLite files. */
export const importSqlite = workerProcedure({
  name: 'import.sqlite',
  summary: 'Reads a table or view of an SQLite file into a dataset.',
  parameters: Type.Object({
    ...PARAMETERS,
    table: Type.Optional(
      Type.String({ description: 'table or view to read; needed when there are several' }),
    ),
  }),
  check: ({ dataFileUrl }) => {
    fileUrls(dataFileUrl);
  },
  async run(context, params) {
    const { SqliteTable } = await import('../../format/sqlite/table-file.ts');
    const check = () => context.checkCancelled();
    return importTable(context, { ...params, arrays: 'parse' }, (path, url): TableFile => {
      const directory = context.scratch.createDirectory();
      const table = new SqliteTable(path, url, params.table, directory);
      return {
        columns: table.columns,
        *read(columns) {
          for (const part of table.read(columns, context.arenas, check)) yield [part];
        },
        close: () => table.close(),
      };
    });
  },
});
