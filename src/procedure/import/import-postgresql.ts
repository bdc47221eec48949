import { Type } from 'typebox';
import { POSTGRESQL_PARAMETERS } from '../../dataset/remote/postgresql.ts';
import { nameOfValue } from '../../exec/general/operator/project.ts';
import { atomType } from '../../plan/type/type.ts';
import { postgresqlConnection } from '../../remote/postgresql/postgresql-connection.ts';
import type { PostgresqlRequest } from '../../remote/postgresql/postgresql-request.ts';
import { outputDataset } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import { constant, type Row, Scalar } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { recordRemoteRows } from './remote-import.ts';
import { secondsOf } from './row-import.ts';

/** Copies the result of a query of PostgreSQL. */
export const importPostgresql = workerProcedure({
  name: 'postgresql.import',
  aliases: ['import.postgresql'],
  summary: 'Reads the result of a query of PostgreSQL, by a cursor of the server.',
  parameters: Type.Object({
    ...POSTGRESQL_PARAMETERS,
    databaseName: Type.String({ description: 'database; empty: that of the user', default: '' }),
    postgresqlQuery: Type.String({ description: 'a SELECT of PostgreSQL' }),
    outputDataset: Type.Optional(
      outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
    ),
    rowNameColumn: Type.Optional(
      Type.String({ description: 'column that names rows; absent: row_0, row_1 and so on' }),
    ),
    timestampColumn: Type.Optional(
      Type.String({ description: 'column with the timestamp of the cells' }),
    ),
    select: Type.String({ description: 'SELECT list over the columns', default: '*' }),
    where: Type.String({ description: 'rows that are kept', default: 'true' }),
    named: Type.Optional(
      Type.String({ description: 'name of the row; lineNumber() counts rows from 1' }),
    ),
    fetchSize: Type.Integer({
      description: 'rows that are fetched at a time',
      default: 10_000,
      minimum: 1,
      maximum: 1_000_000,
    }),
    ...runOnCreation,
  }),
  run(context, params) {
    const { rowNameColumn, timestampColumn, named, select, where } = params;
    const output = context.output(params.outputDataset, 'sparse.mutable');
    const request: PostgresqlRequest = {
      kind: 'rows',
      sql: params.postgresqlQuery.replace(/;\s*$/, ''),
      parameters: [],
      isNamed: false,
      batchRowCount: params.fetchSize,
    };
    recordRemoteRows(context, {
      request: {
        system: 'postgresql',
        connection: postgresqlConnection(params, context.remote),
        request,
      },
      output,
      select,
      where,
      named,
      functions: { lineNumber: atomType('integer') },
      call: (_name, _wire, index) => constant(index + 1),
      nameOf: (row, index) =>
        rowNameColumn === undefined
          ? Path.of(`row_${index}`)
          : nameOfValue(cellOf(row, rowNameColumn)),
      ...(timestampColumn === undefined
        ? {}
        : { tsOf: (row: Row) => secondsOf(cellOf(row, timestampColumn)) }),
    });
    return { result: output.commit() };
  },
});

function cellOf(row: Row, column: string): Scalar {
  const value = row.values[row.indexOf(column)];
  if (value instanceof Scalar) return value;
  throw failure('INVALID_PARAMETER', `the result of the query has no column ${column}`, { column });
}
