import { type ParallelJob, registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import type { ParquetJob, ParquetUnit } from '../../format/parquet/parquet-unit.ts';
import { assert } from '../../util/assert.ts';
import { failure, RowanError } from '../../util/error.ts';
import type { TablePart } from '../../value/column/concatenate.ts';
import { columnSpans } from '../../value/column/snapshot-memory.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { fileUrls } from './file-list.ts';
import { IMPORT_TABLE_PARAMETERS, importTable, type TableFile } from './import-table.ts';

/** Reads Parquet files, row groups by all threads. */
export const importParquet = workerProcedure({
  name: 'import.parquet',
  summary:
    'Reads Parquet files into a dataset; only the columns that the expressions use are read.',
  parameters: IMPORT_TABLE_PARAMETERS,
  check: ({ dataFileUrl }) => {
    fileUrls(dataFileUrl);
  },
  async run(context, params) {
    await prepare();
    const { readParquetMetadata, topColumns } = await import(
      '../../format/parquet/parquet-file.ts'
    );
    return importTable(context, params, (path, url): TableFile => {
      const metadata = readParquetMetadata(path, url);
      return {
        columns: topColumns(metadata),
        *read(columns, arrays) {
          const { parallel } = context;
          const groupCount = metadata.row_groups.length;
          const atOnce = Math.max(1, parallel.threadCount * 2);
          for (let first = 0; first < groupCount; first += atOnce) {
            const count = Math.min(atOnce, groupCount - first);
            const groups = Array.from({ length: count }, (_, index) => first + index);
            yield readGroups(context, { path, metadata, arrays, units: [] }, groups, columns, url);
          }
        },
      };
    });
  },
});

let readUnit: typeof import('../../format/parquet/parquet-unit.ts').readParquetUnit | undefined;

/** The library is loaded when the first file is read. */
async function prepare(): Promise<void> {
  readUnit ??= (await import('../../format/parquet/parquet-unit.ts')).readParquetUnit;
}

const parquetJob: ParallelJob<ParquetJob, TablePart> = registerParallelJob({
  name: 'import.parquet/unit',
  prepare,
  discard({ columns }) {
    for (const span of columns.flatMap(columnSpans)) threadArenas().free(span);
  },
  execute(job, unitIndex, scope) {
    assert(readUnit !== undefined, 'a job is prepared before it is executed');
    try {
      return readUnit(job, unitIndex, threadArenas(), () => scope.checkCancelled());
    } catch (thrown) {
      throw thrown instanceof RowanError ? thrown : unreadable(thrown);
    }
  },
});

/** What the library says of damaged bytes. */
function unreadable(thrown: unknown): Error {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return failure('DATA_ERROR', `not a Parquet file that can be read: ${reason}`);
}

/** Row groups as parts; the columns of each are shared out among threads where groups are few. */
function readGroups(
  { parallel }: ProcedureContext,
  job: ParquetJob,
  groups: readonly number[],
  columns: readonly string[],
  url: string,
): TablePart[] {
  const sliceCount = Math.min(
    columns.length,
    Math.max(1, Math.ceil((parallel.threadCount * 2) / groups.length)),
  );
  const slices = Array.from({ length: Math.max(1, sliceCount) }, (_, slice) =>
    columns.filter((_name, index) => index % sliceCount === slice),
  );
  const units = groups.flatMap((group) =>
    slices.map((names): ParquetUnit => ({ group, columns: names })),
  );
  let parts: TablePart[];
  try {
    parts = parallel.run(parquetJob, { ...job, units }, units.length);
  } catch (thrown) {
    throw thrown instanceof RowanError && thrown.code === 'DATA_ERROR'
      ? failure('DATA_ERROR', `${url}: ${thrown.message}`, { ...thrown.details, dataFileUrl: url })
      : thrown;
  }
  const order = new Map(columns.map((name, index) => [name, index]));
  const joined = groups.map((_, index): TablePart => {
    const own = parts.slice(index * slices.length, (index + 1) * slices.length);
    const all = own.flatMap((part) => part.columns);
    const rankOf = (name = '') => order.get(name) ?? columns.length;
    all.sort((a, b) => rankOf(a.path[0]) - rankOf(b.path[0]));
    return { chunkRowCounts: own[0]?.chunkRowCounts ?? [], columns: all };
  });
  return joined;
}
