import { workerProcedure } from '../procedure-type.ts';
import { fileUrls } from './file-list.ts';
import { IMPORT_TABLE_PARAMETERS, importTable, type TableFile } from './import-table.ts';

/** Reads Arrow files, streams and Feather files. */
export const importArrow = workerProcedure({
  name: 'import.arrow',
  summary: 'Reads Arrow files, Arrow streams and Feather files (version 2) into a dataset.',
  parameters: IMPORT_TABLE_PARAMETERS,
  check: ({ dataFileUrl }) => {
    fileUrls(dataFileUrl);
  },
  async run(context, params) {
    const { openArrowFile } = await import('../../format/arrow/arrow-file.ts');
    const { registerArrowCodecs } = await import('../../format/arrow/arrow-codec.ts');
    await registerArrowCodecs();
    return importTable(context, params, (path, url): TableFile => {
      const check = () => context.checkCancelled();
      const file = openArrowFile(path, url, context.arenas, check);
      return {
        columns: file.columns,
        *read(columns, arrays) {
          for (const part of file.batches(columns, arrays)) yield [part];
        },
      };
    });
  },
});
