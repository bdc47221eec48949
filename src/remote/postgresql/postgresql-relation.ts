import type { RelationColumn } from '../../plan/namespace.ts';
import { isColumnNeeded, type NeededColumns } from '../../plan/needed-columns.ts';
import { atomType, type RowMember, type ValueType } from '../../plan/type/type.ts';
import { comparePaths, Path } from '../../value/path.ts';
import type { Condition } from '../condition.ts';
import type { Connection, RemoteRequest } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';
import type { RemoteScan } from '../remote-relation.ts';
import { RemoteTable } from '../remote-table.ts';
import { type PostgresqlCondition, postgresqlCondition } from './postgresql-condition.ts';
import { type PostgresqlPlace, postgresqlConnection } from './postgresql-connection.ts';
import {
  type PostgresqlRequest,
  type PostgresqlTable,
  quoteIdentifier,
} from './postgresql-request.ts';

export interface PostgresqlTablePlace extends PostgresqlPlace {
  readonly schema: string;
  readonly tableName: string;
  /** the column that names rows */
  readonly primaryKey: string;
}

const TYPES: Readonly<Record<string, Parameters<typeof atomType>[0]>> = {
  int2: 'integer',
  int4: 'integer',
  int8: 'integer',
  bool: 'integer',
  float4: 'number',
  float8: 'number',
  numeric: 'number',
  text: 'string',
  varchar: 'string',
  date: 'timestamp',
  timestamp: 'timestamp',
  timestamptz: 'timestamp',
};

/** A table or view: a row for each of its rows, named by the primary key. */
export class PostgresqlRelation extends RemoteTable<PostgresqlRequest, PostgresqlTable> {
  protected readonly system = 'postgresql';
  readonly #place: PostgresqlTablePlace;

  constructor(place: PostgresqlTablePlace, access: RemoteAccess) {
    super(access, true);
    this.#place = place;
  }

  columns(): readonly RelationColumn[] {
    const { columns, rowCount } = this.table();
    return columns
      .map(({ name }) => ({ path: Path.of(name), rowCount }))
      .sort((a, b) => comparePaths(a.path, b.path));
  }

  protected override columnTypes(): ValueType {
    const members = this.table().columns.flatMap(({ name, type }): RowMember[] => {
      const atom = TYPES[type];
      return atom === undefined ? [] : [{ name, type: atomType(atom) }];
    });
    return { kind: 'row', members, open: true };
  }

  protected countRows(): number {
    return this.table().rowCount;
  }

  protected scanFor(needed: NeededColumns, condition: Condition | undefined): RemoteScan {
    const where =
      condition === undefined ? undefined : postgresqlCondition(condition, this.table());
    const sql = this.#select(needed, where);
    const values = where?.parameters.map((text, index) => `$${index + 1} = '${text}'`) ?? [];
    const text = values.length === 0 ? sql : `${sql} (${values.join(', ')})`;
    return { request: this.request(rows(sql, where?.parameters ?? [])), text };
  }

  protected lookupFor(name: Path, needed: NeededColumns): RemoteRequest | undefined {
    const { primaryKey } = this.#place;
    const [text = ''] = name.elements;
    if (name.length !== 1 || text.includes('\0')) return undefined;
    const column = quoteIdentifier(primaryKey);
    const type = this.table().columns.find((known) => known.name === primaryKey)?.type ?? '';
    // An index of integers is used only for integers.
    const isInteger = TYPES[type] === 'integer' && /^-?\d{1,18}$/.test(text) && type !== 'bool';
    const test = isInteger ? `${column} = $1::bigint` : `${column}::text = $1::text`;
    return this.request(rows(this.#select(needed, { sql: test, parameters: [text] }), [text]));
  }

  #select(needed: NeededColumns, where: PostgresqlCondition | undefined): string {
    const { schema, tableName, primaryKey } = this.#place;
    const names = this.table().columns.map(({ name }) => name);
    const read = names.filter((name) => isColumnNeeded(needed, name));
    const columns = [`${quoteIdentifier(primaryKey)}::text`, ...read.map(quoteIdentifier)];
    const from = `${quoteIdentifier(schema)}.${quoteIdentifier(tableName)}`;
    const select = `SELECT ${columns.join(', ')} FROM ${from}`;
    return where === undefined ? select : `${select} WHERE ${where.sql}`;
  }

  protected connection(): Connection {
    return postgresqlConnection(this.#place, this.access);
  }

  protected tableRequest(): PostgresqlRequest {
    const { schema, tableName: table } = this.#place;
    return { kind: 'table', schema, table };
  }
}

function rows(sql: string, parameters: readonly string[]): PostgresqlRequest {
  return { kind: 'rows', sql, parameters, isNamed: true };
}
