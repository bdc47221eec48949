import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { workerProcedure } from '../procedure-type.ts';
import { checkTableFile, exportTableFile, TABLE_FILE_PARAMETERS } from './export-table-file.ts';

/** Writes the result of a query as an Arrow file or stream. */
export const exportArrow = workerProcedure({
  name: 'export.arrow',
  summary: 'Writes the result of a query as an Arrow file (Feather) or stream.',
  parameters: Type.Object({
    ...TABLE_FILE_PARAMETERS,
    format: choice(['file', 'stream'], {
      description: 'file: with a footer, for random access; stream: without one',
      default: 'file',
    }),
    compression: choice(['none', 'zstd', 'lz4'], {
      description: 'how the buffers of columns are compressed',
      default: 'none',
    }),
  }),
  check: (params) => checkTableFile('export.arrow', params),
  async run(context, params) {
    const { writeArrowFile } = await import('../../format/arrow/arrow-writer.ts');
    return exportTableFile('export.arrow', context, params, (columns, rowCount, write, report) =>
      writeArrowFile({ columns, rowCount, write, report, ...params }),
    );
  },
});
