// Tables of PostgreSQL, read and written.
import { type Static, Type } from 'typebox';
import { postgresqlConnection } from '../../remote/postgresql/postgresql-connection.ts';
import { PostgresqlRelation } from '../../remote/postgresql/postgresql-relation.ts';
import type {
  PostgresqlCell,
  PostgresqlRequest,
  PostgresqlRow,
} from '../../remote/postgresql/postgresql-request.ts';
import { choice } from '../../schema/declare.ts';
import type { Atom } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { type ContentWriter, datasetType, type WriterContext } from '../dataset-type.ts';
import { NO_ROWS } from '../no-rows.ts';
import type { RecordedRow } from '../recorded-row.ts';

/** Parameters of all that reaches a server. */
export const POSTGRESQL_PARAMETERS = {
  databaseName: Type.String({ description: 'name of the database', default: 'database' }),
  host: Type.String({ description: 'host of the server', default: 'localhost' }),
  port: Type.Integer({
    description: 'port of the server',
    default: 5432,
    minimum: 1,
    maximum: 65_535,
  }),
  ssl: choice(['prefer', 'require', 'disable'], {
    description: 'whether the connection is encrypted; prefer: where the server can',
    default: 'prefer',
  }),
};

const TABLE = {
  ...POSTGRESQL_PARAMETERS,
  tableName: Type.String({ description: 'table of the database', default: 'mytable' }),
  schema: Type.String({ description: 'schema of the table', default: 'public' }),
};

export const postgresqlDataset = datasetType({
  name: 'postgresql.dataset',
  summary: 'A table or view of PostgreSQL, read by each query.',
  parameters: Type.Object({
    ...TABLE,
    primaryKey: Type.String({ description: 'column whose value names the row', default: 'key' }),
  }),
  relation: (params, access) => new PostgresqlRelation(params, access),
  status: () => null,
});

const RECORDER = Type.Object({
  ...TABLE,
  createTable: Type.Boolean({
    description: 'make the table, without columns, when the dataset is made',
    default: false,
  }),
  dropTableIfExist: Type.Boolean({
    description: 'remove a table of the name when the dataset is made',
    default: false,
  }),
  rowNameColumn: Type.Optional(Type.String({ description: 'column that takes the row names' })),
  timestampColumn: Type.Optional(
    Type.String({ description: 'column that takes the latest timestamp of each row' }),
  ),
});

type RecorderParams = Static<typeof RECORDER>;

export const postgresqlRecorder = datasetType({
  name: 'postgresql.recorder',
  summary: 'Rows that are recorded become rows of a table of PostgreSQL; it cannot be read.',
  parameters: RECORDER,
  unreadable: () => 'PostgreSQL recorder dataset is record-only',
  recording: {
    visibility: () => 'commit',
    sends: true,
    initialState: null,
    admit: (rows) => ({ rows, state: null }),
    openWriter,
  },
  status: () => null,
});

/** Rows that are inserted together, of those that a procedure makes. */
const ROW_COUNT_MAX = 10_000;

function openWriter({ params, remote, isFirst }: WriterContext<RecorderParams>): ContentWriter {
  const { schema, tableName: table, dropTableIfExist: drops, createTable: creates } = params;
  const ask = (request: PostgresqlRequest) =>
    remote.execute({
      system: 'postgresql',
      connection: postgresqlConnection(params, remote),
      request,
    });
  if (isFirst && (drops || creates)) ask({ kind: 'prepare', schema, table, drops, creates });
  let rows: PostgresqlRow[] = [];
  const send = () => {
    if (rows.length > 0) ask({ kind: 'insert', schema, table, rows });
    rows = [];
  };
  return {
    add(row) {
      rows.push(cellsOf(row, params));
      if (rows.length >= ROW_COUNT_MAX) send();
    },
    finish() {
      send();
      return NO_ROWS;
    },
  };
}

/** A column that a row has several times keeps the last value. */
function cellsOf(
  { name, cells }: RecordedRow,
  { rowNameColumn, timestampColumn }: RecorderParams,
): PostgresqlRow {
  const row = new Map<string, PostgresqlCell>();
  const add = (column: string, atom: Atom) => {
    row.set(column, { column, type: columnType(atom), text: parameterText(atom) });
  };
  for (const [column, atom] of cells) add(column.toString(), atom);
  if (rowNameColumn !== undefined) add(rowNameColumn, name.toString());
  if (timestampColumn !== undefined) {
    const latest = cells.reduce((ts, cell) => laterOf(ts, cell[2]), MINUS_INFINITY);
    add(timestampColumn, new Timestamp(latest));
  }
  return [...row.values()];
}

function columnType(atom: Atom): string {
  if (atom === null || typeof atom === 'bigint') return 'bigint';
  if (typeof atom === 'number') return Number.isInteger(atom) ? 'bigint' : 'float8';
  if (atom instanceof Timestamp) return 'timestamptz';
  if (atom instanceof Interval) return 'interval';
  return atom instanceof Uint8Array ? 'bytea' : 'varchar';
}

function parameterText(atom: Atom): string | null {
  if (atom === null) return null;
  if (atom instanceof Timestamp) {
    if (Number.isNaN(atom.seconds)) return null;
    if (!Number.isFinite(atom.seconds)) return atom.seconds > 0 ? 'infinity' : '-infinity';
    return atomText(atom);
  }
  if (atom instanceof Interval) {
    const { months, days, seconds, negative } = atom;
    const sign = negative ? '-' : '';
    return `${sign}${months} months ${sign}${days} days ${sign}${seconds} seconds`;
  }
  if (atom instanceof Uint8Array) return `\\x${Buffer.from(atom).toString('hex')}`;
  if (typeof atom === 'number' && !Number.isFinite(atom)) return String(atom);
  return atomText(atom);
}
