// Tables of ClickHouse, read by each query and written.
import { type Static, Type } from 'typebox';
import { inputsOf } from '../../plan/map-plan.ts';
import type { Namespace } from '../../plan/namespace.ts';
import type { PlanNode } from '../../plan/plan.ts';
import {
  checkClickhouseUrls,
  clickhouseConnection,
} from '../../remote/clickhouse/clickhouse-connection.ts';
import { bareType, type CopiedRows } from '../../remote/clickhouse/clickhouse-copy.ts';
import { ClickhouseRelation } from '../../remote/clickhouse/clickhouse-relation.ts';
import type {
  ClickhouseQuery,
  ClickhouseRequest,
  ClickhouseTable,
} from '../../remote/clickhouse/clickhouse-request.ts';
import {
  escapeField,
  quoteName,
  quoteText,
  withLiterals,
} from '../../remote/clickhouse/clickhouse-text.ts';
import { parseType } from '../../remote/clickhouse/clickhouse-value.ts';
import type { Connection, RemoteRequest } from '../../remote/message.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { type ContentWriter, datasetType, type WriterContext } from '../dataset-type.ts';
import { NO_ROWS } from '../no-rows.ts';
import type { RecordedRow } from '../recorded-row.ts';

const PARAMETERS = Type.Object({
  url: Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1 })], {
    description:
      'address of a server, such as http://host:8123, or of several replicas, which are asked in turn',
  }),
  database: Type.String({ description: 'name of the database', default: 'default' }),
  table: Type.Optional(Type.String({ description: 'table or view' })),
  query: Type.Optional(
    Type.String({ description: 'a SELECT of ClickHouse whose rows stand for a table' }),
  ),
  rowNameColumn: Type.Optional(
    Type.String({
      description: 'column whose value names the row; absent: numbers, in the order of the answer',
    }),
  ),
  timestampColumn: Type.Optional(
    Type.String({
      description: 'column with the timestamp of the cells: a time, or seconds; absent: -Inf',
    }),
  ),
  includeKeyColumns: Type.Boolean({
    description: 'whether the columns of names and timestamps are columns of the rows too',
    default: true,
  }),
  settings: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description: 'settings of ClickHouse for each request',
    default: {},
  }),
  timeoutSeconds: Type.Number({
    description: 'how long a server may say nothing',
    default: 60,
    exclusiveMinimum: 0,
    maximum: 86_400,
  }),
  maxRows: Type.Integer({
    description: 'rows above which the answer to one request is refused',
    default: 10_000_000,
    minimum: 1,
  }),
  writable: Type.Boolean({ description: 'whether rows can be recorded', default: false }),
  createTable: Type.Boolean({
    description:
      'with writable: the table and its columns are made when rows need them, ordered by the row name',
    default: false,
  }),
  cluster: Type.Optional(
    Type.String({ description: 'cluster on whose servers createTable makes the table' }),
  ),
});

type ClickhouseParams = Static<typeof PARAMETERS>;

export const clickhouseDataset = datasetType({
  name: 'clickhouse',
  summary: 'A table, a view or a SELECT of ClickHouse: the server computes what it can of a query.',
  parameters: PARAMETERS,
  check({ url, table, query, writable, createTable }) {
    checkClickhouseUrls(url);
    if ((table === undefined) === (query === undefined)) {
      throw failure('INVALID_PARAMETER', 'clickhouse needs either table or query', {
        parameter: 'table',
      });
    }
    if (writable && table === undefined) {
      throw failure('INVALID_PARAMETER', 'the rows of a query cannot be recorded: writable', {
        parameter: 'writable',
      });
    }
    if (createTable && !writable) {
      throw failure('INVALID_PARAMETER', 'createTable needs writable', {
        parameter: 'createTable',
      });
    }
  },
  relation: (params, access) => new ClickhouseRelation(params, access),
  recording: {
    visibility: () => 'commit',
    sends: true,
    initialState: null,
    admit(rows, { writable }) {
      if (writable) return { rows, state: null };
      throw failure('INVALID_PARAMETER', 'clickhouse dataset is read-only: it is not writable');
    },
    openWriter,
  },
  status: () => null,
});

/** Rows that go in one INSERT, which the server takes as a whole or not at all. */
const BLOCK_ROW_COUNT = 65_536;

function openWriter({ params, remote }: WriterContext<ClickhouseParams>): ContentWriter {
  let connection: Connection | undefined;
  const requestOf = (request: ClickhouseRequest): RemoteRequest => {
    // A cancelled run cannot ask for credentials any more, but removes what it made.
    connection ??= clickhouseConnection(params, remote);
    return { system: 'clickhouse', connection, request };
  };
  const writer = new TableWriter(params, (request) => remote.execute(requestOf(request)));
  return {
    add: (row) => writer.add(row),
    copyRows(root, namespace, report) {
      const source = datasetRead(root, namespace);
      const rows = params.writable && source?.isAt(params) ? source.copiedRows(root) : undefined;
      const query = rows && writer.copyOf(rows);
      if (query === undefined) return undefined;
      const doing = 'insert data in ClickHouse table';
      for (const { atoms } of remote.rows(requestOf({ kind: 'copy', query, doing }))) {
        const [read, total] = atoms as [number, number];
        if (total > 0) report(Math.min(read / total, 1));
      }
      return withLiterals(query);
    },
    finish() {
      writer.send();
      return NO_ROWS;
    },
    abandon() {
      try {
        if (writer.removal !== undefined) remote.undo(requestOf(writer.removal));
      } catch {
        // What went wrong first is told.
      }
    },
  };
}

/** The table that a plan reads, when it is the only one. */
function datasetRead(root: PlanNode, namespace: Namespace): ClickhouseRelation | undefined {
  const ids = new Set<string>();
  const visit = (node: PlanNode) => {
    if (node.kind === 'ask' || node.kind === 'scan') ids.add(node.dataset);
    for (const input of inputsOf(node)) visit(input);
  };
  visit(root);
  const [id] = ids;
  const relation = id === undefined ? undefined : namespace.dataset(id);
  return relation instanceof ClickhouseRelation && ids.size === 1 ? relation : undefined;
}

type Fields = ReadonlyMap<string, Atom>;

class TableWriter {
  readonly #params: ClickhouseParams;
  readonly #ask: (request: ClickhouseRequest) => unknown;
  readonly #table: string;
  #known: ClickhouseTable | undefined;
  #rows: Fields[] = [];
  #isMade = false;

  constructor(params: ClickhouseParams, ask: (request: ClickhouseRequest) => unknown) {
    this.#params = params;
    this.#ask = ask;
    this.#table = `${quoteName(params.database)}.${quoteName(params.table ?? '')}`;
  }

  add(row: RecordedRow): void {
    this.#rows.push(fieldsOf(row, this.#params));
    if (this.#rows.length >= BLOCK_ROW_COUNT) this.send();
  }

  send(): void {
    if (this.#rows.length === 0) return;
    const types = this.#columnsFor(this.#rows);
    const names = [...types.keys()].filter((name) => this.#rows.some((row) => row.has(name)));
    const text = this.#rows
      .map((row) =>
        names
          .map((name) => fieldText(name, row.get(name) ?? null, types.get(name) as string))
          .join('\t'),
      )
      .join('\n');
    this.#ask({ kind: 'insert', into: this.#table, columns: names, text: `${text}\n` });
    this.#rows = [];
  }

  /**
   * The statement that takes rows from another table of the server. Columns are made, where they may be.
   * @returns undefined: they are other ones than those of the rows
   */
  copyOf({ columns, name, rest, ts }: CopiedRows): ClickhouseQuery | undefined {
    const { rowNameColumn, timestampColumn } = this.#params;
    const given = columns.filter(
      (column) => column.name !== rowNameColumn && column.name !== timestampColumn,
    );
    if (rowNameColumn !== undefined) {
      if (name === undefined) return undefined;
      given.push({ name: rowNameColumn, text: name, type: 'String' });
    }
    if (timestampColumn !== undefined) {
      if (ts === undefined) return undefined;
      given.push({ name: timestampColumn, text: ts, type: 'Float64' });
    }
    const known = new Map(this.#describe().columns?.map((column) => [column.name, column.type]));
    const missing = given.filter((column) => !known.has(column.name));
    const fit = given.every(({ name, type }) => canHold(known.get(name) ?? type, type));
    if (!fit || (missing.length > 0 && !this.#params.createTable)) return undefined;
    this.#make(new Map(missing.map((column) => [column.name, column.type])));
    const names = given.map((column) => quoteName(column.name)).join(', ');
    const list = given.map(({ text }) => text).join(', ');
    return {
      sql: `INSERT INTO ${this.#table} (${names}) SELECT ${list}${rest.sql}`,
      texts: rest.texts,
    };
  }

  #describe(): ClickhouseTable {
    const { database, table = '' } = this.#params;
    this.#known ??= this.#ask({ kind: 'table', source: { database, table } }) as ClickhouseTable;
    return this.#known;
  }

  /** Makes columns, and the table when there is none. */
  #make(columns: ReadonlyMap<string, string>): void {
    if (columns.size === 0) return;
    if (this.#describe().columns === undefined) this.#create(columns);
    else {
      for (const [name, type] of columns) {
        this.#change(
          'alter ClickHouse table',
          `ALTER TABLE ${this.#table}${this.#onCluster} ADD COLUMN ${quoteName(name)} ${type}`,
        );
      }
    }
    this.#known = undefined;
  }

  /** The types of columns; those that rows need are made, where they may be. */
  #columnsFor(rows: readonly Fields[]): ReadonlyMap<string, string> {
    const { database, table = '', createTable } = this.#params;
    const { columns, hasDateTime64 } = this.#describe();
    if (columns === undefined && !createTable) {
      throw failure('REMOTE_FAILED', `there is no table ${table} in database ${database}`, {
        table,
      });
    }
    const types = new Map((columns ?? []).map(({ name, type }) => [name, type]));
    const missing = new Map<string, string>();
    for (const row of rows) {
      for (const [name, atom] of row) {
        if (types.has(name) || (missing.has(name) && missing.get(name) !== OPEN_TYPE)) continue;
        missing.set(name, this.#typeOf(name, atom, hasDateTime64));
      }
    }
    if (missing.size === 0) return types;
    const [first] = missing.keys();
    if (!createTable) {
      throw failure('INVALID_PARAMETER', `table ${table} has no column ${first}`, {
        column: first,
      });
    }
    this.#make(missing);
    return new Map((this.#describe().columns ?? []).map(({ name, type }) => [name, type]));
  }

  #typeOf(name: string, atom: Atom, hasDateTime64: boolean): string {
    const { rowNameColumn, timestampColumn } = this.#params;
    if (name === rowNameColumn) return 'String';
    // Seconds: a row without a timestamp has -Inf.
    if (name === timestampColumn) return 'Float64';
    if (atom === null) return OPEN_TYPE;
    if (typeof atom === 'bigint') return 'Nullable(Int64)';
    if (typeof atom === 'number')
      return Number.isInteger(atom) ? 'Nullable(Int64)' : 'Nullable(Float64)';
    if (!(atom instanceof Timestamp)) return 'Nullable(String)';
    return hasDateTime64 ? "Nullable(DateTime64(3, 'UTC'))" : "Nullable(DateTime('UTC'))";
  }

  #create(columns: ReadonlyMap<string, string>): void {
    const { rowNameColumn } = this.#params;
    const list = [...columns].map(([name, type]) => `${quoteName(name)} ${type}`).join(', ');
    const order = rowNameColumn === undefined ? 'tuple()' : quoteName(rowNameColumn);
    const sql = `CREATE TABLE IF NOT EXISTS ${this.#table}${this.#onCluster} (${list}) ENGINE = MergeTree ORDER BY ${order}`;
    // A run that is cancelled meanwhile does not hear whether the table was made.
    this.#isMade = true;
    this.#change('create ClickHouse table', sql);
  }

  /** What removes a table that was made for these rows; undefined: it was there before. */
  get removal(): ClickhouseRequest | undefined {
    if (!this.#isMade) return undefined;
    const sql = `DROP TABLE IF EXISTS ${this.#table}${this.#onCluster}`;
    return { kind: 'statement', query: { sql, texts: [] }, doing: 'remove ClickHouse table' };
  }

  get #onCluster(): string {
    const { cluster } = this.#params;
    return cluster === undefined ? '' : ` ON CLUSTER ${quoteText(cluster)}`;
  }

  #change(doing: string, sql: string): void {
    this.#ask({ kind: 'statement', query: { sql, texts: [] }, doing });
  }
}

/** Whether a column keeps what rows of another type have, as it would if the rows were sent. */
function canHold(column: string, value: string): boolean {
  if (bareType(column) !== bareType(value)) return false;
  return parseType(column).isNullable || !parseType(value).isNullable;
}

/** Of a column of which only nulls and integers are known: another value of the block decides. */
const OPEN_TYPE = 'Nullable(Int64)';

/** A column that a row has several times keeps the last value. */
function fieldsOf(
  { name, cells }: RecordedRow,
  { rowNameColumn, timestampColumn }: ClickhouseParams,
): Fields {
  const fields = new Map<string, Atom>();
  for (const [column, atom] of cells) fields.set(column.toString(), atom);
  if (rowNameColumn !== undefined) fields.set(rowNameColumn, name.toString());
  if (timestampColumn !== undefined) {
    const latest = cells.reduce((ts, cell) => laterOf(ts, cell[2]), MINUS_INFINITY);
    fields.set(timestampColumn, latest);
  }
  return fields;
}

/** In the format TabSeparated. */
function fieldText(column: string, atom: Atom, type: string): string {
  if (atom === null) return '\\N';
  const { kind } = parseType(type).type;
  if (atom instanceof Timestamp) return timeText(column, atom.seconds, kind, type);
  if (typeof atom === 'number' && !Number.isFinite(atom)) {
    return Number.isNaN(atom) ? 'nan' : atom > 0 ? 'inf' : '-inf';
  }
  if (typeof atom === 'number' && kind === 'integer' && !Number.isInteger(atom)) {
    throw refusal(column, type, `${atom} is no integer`);
  }
  if (atom instanceof Uint8Array) throw refusal(column, type, 'a blob cannot be recorded');
  return escapeField(atomText(atom));
}

function timeText(column: string, seconds: number, kind: string, type: string): string {
  switch (kind) {
    case 'date':
      return new Date(seconds * 1000).toISOString().slice(0, 10);
    case 'datetime':
      if (!Number.isInteger(seconds) || seconds < 0 || seconds >= 2 ** 32) {
        throw refusal(column, type, 'its times are whole seconds from 1970 to 2106');
      }
      return String(seconds).padStart(10, '0');
    case 'datetime64':
      return seconds.toFixed(3);
    case 'string':
      return atomText(new Timestamp(seconds));
    default:
      return String(seconds);
  }
}

function refusal(column: string, type: string, because: string) {
  return failure('INVALID_PARAMETER', `column ${column} of type ${type}: ${because}`, { column });
}
