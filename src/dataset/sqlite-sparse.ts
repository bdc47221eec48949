import { Type } from 'typebox';
import { url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { datasetType } from './dataset-type.ts';
import type { RecordedRow } from './recorded-row.ts';
import { openSparseWriter } from './sparse-writer.ts';

/** Any rows with any columns, in a file that other programs can read. */
export const sqliteSparse = datasetType({
  name: 'sqliteSparse',
  summary:
    'Rows with any columns in one SQLite 3 file; each recording is visible and durable at once.',
  parameters: Type.Object({
    dataFileUrl: url({
      description: 'file:// URL of the database; empty: a private one, lost when it is deleted',
      default: '',
    }),
  }),
  check({ dataFileUrl }) {
    if (dataFileUrl === '' || dataFileUrl.startsWith('file://')) return;
    throw failure('INVALID_PARAMETER', `SQLite database requires file:// URI; got ${dataFileUrl}`);
  },
  recording: {
    visibility: () => 'write',
    initialState: null,
    admit: (rows) => ({ rows: rows.map(inMilliseconds), state: null }),
    openWriter: openSparseWriter,
  },
  external: {
    url: ({ dataFileUrl }) => (dataFileUrl === '' ? undefined : dataFileUrl),
    async load(path, context) {
      const { readSqlite } = await import('../format/sqlite/sparse-database.ts');
      return readSqlite(path, context);
    },
    async append(path, rows) {
      const { appendSqlite } = await import('../format/sqlite/sparse-database.ts');
      appendSqlite(path, rows);
    },
  },
  status: () => null,
});

/** Timestamps are cut to whole milliseconds. */
function inMilliseconds({ name, cells }: RecordedRow): RecordedRow {
  return {
    name,
    cells: cells.map(([column, atom, ts]) => [column, atom, truncated(ts)] as const),
  };
}

/** How far a product of seconds may lie below the whole milliseconds that it stands for. */
const ROUNDING = 2 ** -51;

/** Whole milliseconds, towards zero; 1.001 s are 1001 ms although their product is a little less. */
function truncated(seconds: number): number {
  if (!Number.isFinite(seconds)) return seconds;
  const ms = seconds * 1000;
  const whole = Math.round(ms);
  return (Math.abs(ms - whole) <= Math.abs(ms) * ROUNDING ? whole : Math.trunc(ms)) / 1000;
}
