import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { workerProcedure } from '../procedure-type.ts';
import { checkTableFile, exportTableFile, TABLE_FILE_PARAMETERS } from './export-table-file.ts';

/** Writes the result of a query as a Parquet file. */
export const exportParquet = workerProcedure({
  name: 'export.parquet',
  summary: 'Writes the result of a query as a Parquet file.',
  parameters: Type.Object({
    ...TABLE_FILE_PARAMETERS,
    compression: choice(['zstd', 'snappy', 'gzip', 'none'], {
      description: 'how pages are compressed',
      default: 'snappy',
    }),
    rowGroupSize: Type.Integer({
      description: 'rows of a row group',
      default: 131_072,
      minimum: 1,
    }),
  }),
  check: (params) => checkTableFile('export.parquet', params),
  async run(context, params) {
    const { writeParquet } = await import('../../format/parquet/parquet-writer.ts');
    return exportTableFile('export.parquet', context, params, (columns, rowCount, write, report) =>
      writeParquet({ columns, rowCount, write, report, ...params }),
    );
  },
});
