import { Type } from 'typebox';
import type { ParquetUnit } from '../../format/parquet/parquet-writer.ts';
import { choice } from '../../schema/declare.ts';
import type { ChunkSnapshot } from '../../value/column/snapshot.ts';
import { workerProcedure } from '../procedure-type.ts';
import {
  checkTableFile,
  exportTableFile,
  type FileColumn,
  TABLE_FILE_PARAMETERS,
} from './export-table-file.ts';
import { type ParquetColumnUnit, parquetColumnJob } from './parquet-job.ts';

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
    await parquetColumnJob.prepare?.();
    const { parallel } = context;
    return exportTableFile('export.parquet', context, params, (columns, rowCount, write, report) =>
      writeParquet({
        ...params,
        columns,
        rowCount,
        unitCount: parallel.threadCount * UNITS_PER_THREAD,
        encode: (units) =>
          parallel.run(
            parquetColumnJob,
            {
              compression: params.compression,
              units: units.map((unit) => unitArgs(columns, unit)),
            },
            units.length,
          ),
        write,
        report,
      }),
    );
  },
});

/** Units of a round: few enough that what they write stays small, many enough for all threads. */
const UNITS_PER_THREAD = 4;

/** What a unit needs of its column. */
function unitArgs(
  columns: readonly FileColumn[],
  { column: index, from, to }: ParquetUnit,
): ParquetColumnUnit {
  const { type, column, cells } = columns[index] as FileColumn;
  if (column === undefined) return { type, from, to, texts: cells(from, to) as string[] };
  const chunks: ChunkSnapshot[] = [];
  let start = 0;
  let first = 0;
  for (const chunk of column.chunks) {
    const end = start + chunk.rowCount;
    if (end <= from) first = end;
    else if (start < to) chunks.push(chunk);
    start = end;
  }
  return { type, column: { ...column, chunks }, from: from - first, to: to - first };
}
