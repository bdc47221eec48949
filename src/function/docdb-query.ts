import { Type } from 'typebox';
import { DOCDB_PARAMETERS } from '../dataset/remote/docdb.ts';
import { atomType, OPEN_ROW_TYPE } from '../plan/type/type.ts';
import { checkDocdb, docdbConnection } from '../remote/docdb/docdb-address.ts';
import { PathLists, rowOf } from '../remote/remote-relation.ts';
import { choice } from '../schema/declare.ts';
import { failure, RowanError } from '../util/error.ts';
import { EMPTY_ROW, Scalar, sortedRow, type Value } from '../value/value.ts';
import { functionType } from './function-type.ts';
import { memberOf } from './input-member.ts';

/** Documents that a filter finds. */
export const docdbQuery = functionType({
  name: 'docdb.query',
  aliases: ['mongodb.query'],
  summary:
    'Documents of a document database (MongoDB) that a filter finds: the first one, or all of them.',
  parameters: Type.Object({
    ...DOCDB_PARAMETERS,
    output: choice(['FIRST_ROW', 'NAMED_COLUMNS'], {
      description:
        'FIRST_ROW: the fields of the first document; NAMED_COLUMNS: a column for each document, named by its object id',
      default: 'FIRST_ROW',
    }),
  }),
  binding: () => 'creation',
  reachesHost: true,
  check: ({ uriConnectionScheme, collection }) => checkDocdb(uriConnectionScheme, collection),
  compile({ uriConnectionScheme, collection, output }, { remote }) {
    return {
      input: [{ kind: 'row', members: [{ name: 'query', type: atomType('string') }], open: false }],
      output: OPEN_ROW_TYPE,
      takesAnyValue: false,
      isLight: false,
      apply(input) {
        const filter = filterText(memberOf(input, 'query'));
        const isFirst = output === 'FIRST_ROW';
        const rows = remote.rows({
          system: 'docdb',
          connection: docdbConnection(uriConnectionScheme, remote),
          request: {
            kind: 'find',
            collection,
            filter,
            limit: isFirst ? 1 : undefined,
            readsTextIds: true,
          },
        });
        const names: string[] = [];
        const values: Value[] = [];
        const paths = new PathLists();
        for (const wire of rows) {
          if (wire.error !== undefined) throw RowanError.fromBody(wire.error);
          const row = rowOf(wire, paths.of(wire.paths));
          if (isFirst) return row;
          names.push(wire.name?.[0] as string);
          values.push(row);
        }
        return names.length === 0 ? EMPTY_ROW : sortedRow(names, values);
      },
    };
  },
});

function filterText(value: Value | undefined): string {
  const atom = value instanceof Scalar ? value.atom : null;
  if (typeof atom === 'string') return atom;
  throw failure('MISSING_PARAMETER', 'You must define the parameter "query"', { path: 'query' });
}
