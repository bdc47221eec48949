import type { KeyTuples, PushContext, RelationColumn, RelationRow } from '../../plan/namespace.ts';
import { isColumnNeeded, type NeededColumns } from '../../plan/needed-columns.ts';
import type { AskNode, PlanNode } from '../../plan/plan.ts';
import { atomType, type RowMember, type ValueType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { comparePaths, Path } from '../../value/path.ts';
import type { Connection, RemoteRequest } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';
import type { RemoteScan } from '../remote-relation.ts';
import { RemoteTable } from '../remote-table.ts';
import { type Asked, NOTHING_ASKED, type PushedTable, selectSql } from './clickhouse-asked.ts';
import {
  type ClickhousePlace,
  checkClickhouseUrls,
  clickhouseConnection,
} from './clickhouse-connection.ts';
import { type CopiedRows, copiedRows } from './clickhouse-copy.ts';
import { columnSql } from './clickhouse-expression.ts';
import { withKeyLists, withKeys } from './clickhouse-keys.ts';
import { MODEL_SIZE_MAX, MODEL_SIZE_MAX_OF_OLD } from './clickhouse-model.ts';
import { pushPart } from './clickhouse-push.ts';
import type {
  ClickhouseColumn,
  ClickhouseOutput,
  ClickhouseQuery,
  ClickhouseRequest,
  ClickhouseTable,
} from './clickhouse-request.ts';
import { QueryTexts, quoteName, withLiterals } from './clickhouse-text.ts';
import { parseType } from './clickhouse-value.ts';

export interface ClickhouseTablePlace extends ClickhousePlace {
  readonly table?: string | undefined;
  /** a SELECT that stands for the table */
  readonly query?: string | undefined;
  readonly rowNameColumn?: string | undefined;
  readonly timestampColumn?: string | undefined;
  readonly includeKeyColumns: boolean;
  readonly maxRows: number;
  /** the table may be made later; until then it has no rows */
  readonly createTable: boolean;
}

const ATOMS: Readonly<Record<string, Parameters<typeof atomType>[0]>> = {
  integer: 'integer',
  float: 'number',
  string: 'string',
  text: 'string',
  date: 'timestamp',
  date32: 'timestamp',
  datetime: 'timestamp',
  datetime64: 'timestamp',
};

/** Samples are as exact as one of so many parts. */
const SAMPLE_PARTS = 2 ** 30;

/** A table, a view or a SELECT: a row for each of its rows. */
export class ClickhouseRelation extends RemoteTable<ClickhouseRequest, ClickhouseTable> {
  protected readonly system = 'clickhouse';
  readonly #place: ClickhouseTablePlace;

  constructor(place: ClickhouseTablePlace, access: RemoteAccess) {
    super(access, true);
    this.#place = place;
    const push = (node: PlanNode, context: PushContext) => pushPart(node, this.#pushed(context));
    this.remote = {
      ...this.remote,
      pushing: {
        start: NOTHING_ASKED,
        rowCountMax: place.maxRows,
        sample: (share, seed) => ({ ...NOTHING_ASKED, where: [this.#sampled(share, seed)] }),
        push,
        withKeys: (node, keys, sent, namespace) =>
          withKeys(node, keys, sent, this.#pushed({ namespace, exactTimestamps: true })),
        rows: (ask, keys) => this.rowsOf(this.#askFor(ask, keys).request),
        describe: (ask) => this.#askFor(ask, undefined).text,
      },
    };
  }

  columns(): readonly RelationColumn[] {
    const { rowCount } = this;
    return this.#cells()
      .map(({ name }) => ({ path: Path.of(name), rowCount }))
      .sort((a, b) => comparePaths(a.path, b.path));
  }

  override columnCount(): number {
    return this.#cells().length;
  }

  protected override columnTypes(): ValueType {
    const members = this.#cells().flatMap(({ name, type }): RowMember[] => {
      const atom = ATOMS[parseType(type).type.kind];
      return atom === undefined ? [] : [{ name, type: atomType(atom) }];
    });
    return { kind: 'row', members, open: true };
  }

  protected countRows(): number {
    if (this.table().columns === undefined) return 0;
    const sql = `SELECT count() FROM ${this.#from()}`;
    return this.access.execute(
      this.request({ kind: 'count', query: { sql, texts: [] } }),
    ) as number;
  }

  /** A table that is not made yet has no rows. */
  protected override *rowsOf(request: RemoteRequest): Iterable<RelationRow> {
    if (this.table().columns !== undefined) yield* super.rowsOf(request);
  }

  protected scanFor(needed: NeededColumns): RemoteScan {
    return this.#select(needed, NOTHING_ASKED);
  }

  protected lookupFor(name: Path, needed: NeededColumns): RemoteRequest | undefined {
    const { rowNameColumn } = this.#place;
    const [text = ''] = name.elements;
    if (name.length !== 1) return undefined;
    // Names are numbers in the order of the answer.
    if (rowNameColumn === undefined) return this.#select(needed, NOTHING_ASKED).request;
    const texts = new QueryTexts();
    const where = [`toString(${quoteName(rowNameColumn)}) = ${texts.add(text)}`];
    return this.#select(needed, { ...NOTHING_ASKED, where, texts: texts.all }).request;
  }

  /** Whether requests go where those of another place go. */
  isAt(other: ClickhousePlace): boolean {
    const urlsOf = (place: ClickhousePlace) => [...checkClickhouseUrls(place.url)].sort().join(' ');
    return urlsOf(this.#place) === urlsOf(other);
  }

  /** The rows of a plan over this table alone, for the server to write; undefined: Rowan makes them. */
  copiedRows(root: PlanNode): CopiedRows | undefined {
    const { rowNameColumn, timestampColumn } = this.#place;
    const from = this.#from();
    return copiedRows(root, { columns: this.#cells(), from, rowNameColumn, timestampColumn });
  }

  /** @param keys undefined: nobody knows them yet */
  #askFor(
    { columns, asked }: AskNode,
    keys: readonly (KeyTuples | undefined)[] | undefined,
  ): RemoteScan {
    return this.#select(columns, withKeyLists(asked as Asked, keys));
  }

  #select(needed: NeededColumns, asked: Asked): RemoteScan {
    const { rowNameColumn, timestampColumn, maxRows } = this.#place;
    const outputs: { readonly sql: string; readonly output: ClickhouseOutput }[] = [];
    if (asked.groups === undefined) {
      if (rowNameColumn !== undefined) {
        this.#column(rowNameColumn);
        outputs.push({ sql: `toString(${quoteName(rowNameColumn)})`, output: { kind: 'name' } });
      }
      if (timestampColumn !== undefined) {
        const sql = columnSql(this.#column(timestampColumn));
        if (this.table().columns !== undefined && (sql === undefined || sql.kind === 'string')) {
          throw failure('INVALID_PARAMETER', `column ${timestampColumn} is no time and no number`, {
            parameter: 'timestampColumn',
          });
        }
        outputs.push({ sql: `toFloat64(${sql?.text})`, output: { kind: 'ts' } });
      }
    }
    for (const [name, { text, kind }] of Object.entries(asked.computed)) {
      if (!isColumnNeeded(needed, name)) continue;
      const isInstant = kind === 'instant';
      outputs.push({ sql: text, output: { kind: 'cell', path: [name], isInstant } });
    }
    if (asked.groups === undefined) {
      for (const { name, type } of this.#cells()) {
        if (!isColumnNeeded(needed, name)) continue;
        const sql = columnSql({ name, type });
        const isInstant = sql?.kind === 'instant';
        // A value of few bits is the double that it is there, not the one that its text is.
        const isRounded = isInstant || /Float32/.test(type);
        outputs.push({
          sql: isRounded && sql !== undefined ? sql.text : quoteName(name),
          output: { kind: 'cell', path: [name], isInstant },
        });
      }
    }
    while (outputs.length < 2) outputs.push({ sql: '1', output: { kind: 'pad' } });
    const sql = selectSql(outputs.map(({ sql }) => sql).join(', '), this.#from(), asked);
    const query: ClickhouseQuery = { sql, texts: asked.texts };
    return {
      request: this.request({
        kind: 'rows',
        query,
        columns: outputs.map(({ output }) => output),
        rowCountMax: maxRows,
      }),
      text: withLiterals(query),
    };
  }

  /** Rows by a hash of their names, or of all that they have. */
  #sampled(share: number, seed: number): string {
    const { rowNameColumn } = this.#place;
    const names =
      rowNameColumn === undefined ? this.#cells().map(({ name }) => name) : [rowNameColumn];
    const texts = names.map((name) => `ifNull(toString(${quoteName(name)}), '')`);
    const hash = `cityHash64(${[...texts, Math.trunc(seed)].join(', ')})`;
    return `${hash} % ${SAMPLE_PARTS} < ${Math.ceil(share * SAMPLE_PARTS)}`;
  }

  /** Columns of rows. */
  #cells(): readonly ClickhouseColumn[] {
    const { includeKeyColumns, rowNameColumn, timestampColumn } = this.#place;
    const columns = this.table().columns ?? [];
    if (includeKeyColumns) return columns;
    return columns.filter(({ name }) => name !== rowNameColumn && name !== timestampColumn);
  }

  #column(name: string): ClickhouseColumn {
    const found = (this.table().columns ?? []).find((column) => column.name === name);
    if (found !== undefined) return found;
    if (this.table().columns === undefined) return { name, type: 'String' };
    throw failure('INVALID_PARAMETER', `the table of ClickHouse has no column ${name}`, {
      column: name,
    });
  }

  #pushed(context: PushContext): PushedTable {
    const { namespace, exactTimestamps } = context;
    const { rowNameColumn, timestampColumn } = this.#place;
    return {
      columns: new Map(this.#cells().map((column) => [column.name, column])),
      from: this.#from(),
      namesRows: rowNameColumn !== undefined,
      hasTimestamps: timestampColumn !== undefined && exactTimestamps,
      models: (name) => namespace.findUserFunction(name)?.formula?.(),
      modelSizeMax: this.table().hasDateTime64 ? MODEL_SIZE_MAX : MODEL_SIZE_MAX_OF_OLD,
      beside: (dataset) => {
        const other = namespace.dataset(dataset);
        const isThere = other instanceof ClickhouseRelation && other.#sharesWith(this.#place);
        return isThere ? other.#pushed(context) : undefined;
      },
      // Counting the rows of a SELECT may be as much work as making them.
      rowCount: () => (this.#place.query === undefined ? this.rowCount : Number.POSITIVE_INFINITY),
    };
  }

  /** Whether a query of one connection can read the rows of both. */
  #sharesWith(other: ClickhouseTablePlace): boolean {
    const { database, query } = this.#place;
    const isNamed = query === undefined && other.query === undefined;
    return this.isAt(other) && (isNamed || database === other.database);
  }

  #from(): string {
    const { database, table, query } = this.#place;
    return query === undefined
      ? `${quoteName(database)}.${quoteName(table as string)}`
      : `(${query})`;
  }

  protected connection(): Connection {
    return clickhouseConnection(this.#place, this.access);
  }

  protected tableRequest(): ClickhouseRequest {
    const { database, table, query } = this.#place;
    const source = query === undefined ? { database, table: table as string } : { query };
    return { kind: 'table', source };
  }

  protected override checkTable({ columns }: ClickhouseTable): void {
    const { database, table, createTable } = this.#place;
    if (columns !== undefined || createTable) return;
    const where = `in database ${database} of ClickHouse`;
    throw failure('REMOTE_FAILED', `there is no table ${table} ${where}`, { database, table });
  }
}
