import { Type } from 'typebox';
import { POSTGRESQL_PARAMETERS } from '../dataset/remote/postgresql.ts';
import { ANY_TYPE, OPEN_ROW_TYPE } from '../plan/type/type.ts';
import { numberParameters } from '../remote/postgresql/named-parameters.ts';
import { postgresqlConnection } from '../remote/postgresql/postgresql-connection.ts';
import type { PostgresqlRequest } from '../remote/postgresql/postgresql-request.ts';
import { PathLists, rowOf } from '../remote/remote-relation.ts';
import { failure } from '../util/error.ts';
import { atomText } from '../value/text.ts';
import { EMPTY_ROW, Scalar, type Value } from '../value/value.ts';
import { functionType } from './function-type.ts';
import { memberOf } from './input-member.ts';

/** The first row of a query of PostgreSQL. */
export const postgresqlQuery = functionType({
  name: 'postgresql.query',
  summary: 'The first row of a query of PostgreSQL; its inputs are the `$name` of the query.',
  parameters: Type.Object({
    ...POSTGRESQL_PARAMETERS,
    query: Type.String({
      description: 'a SELECT of PostgreSQL; `$name` stands for the input `name`',
    }),
  }),
  binding: () => 'creation',
  reachesHost: true,
  compile(params, { remote }) {
    const { sql, names } = numberParameters(params.query.replace(/;\s*$/, ''));
    const members = names.map((name) => ({ name, type: ANY_TYPE }));
    return {
      input: names.length === 0 ? [] : [{ kind: 'row', members, open: false }],
      output: OPEN_ROW_TYPE,
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const request: PostgresqlRequest = {
          kind: 'rows',
          sql,
          parameters: names.map((name) => parameterText(name, memberOf(input, name))),
          isNamed: false,
          batchRowCount: 1,
        };
        const connection = postgresqlConnection(params, remote);
        for (const wire of remote.rows({ system: 'postgresql', connection, request })) {
          return rowOf(wire, new PathLists().of(wire.paths));
        }
        return EMPTY_ROW;
      },
    };
  },
});

function parameterText(name: string, value: Value | undefined): string | null {
  if (value === undefined) return null;
  if (value instanceof Scalar) return value.atom === null ? null : atomText(value.atom);
  throw failure('INVALID_PARAMETER', `the input ${name} must be one value, not a row`, { name });
}
