import { Type } from 'typebox';
import { DOCDB_PARAMETERS } from '../../dataset/remote/docdb.ts';
import { atomType } from '../../plan/type/type.ts';
import { checkDocdb, docdbConnection } from '../../remote/docdb/docdb-address.ts';
import type { DocdbRequest } from '../../remote/docdb/docdb-request.ts';
import { outputDataset } from '../../schema/declare.ts';
import { constant } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { recordRemoteRows } from './remote-import.ts';

/** Copies the documents of a collection. */
export const importDocdb = workerProcedure({
  name: 'docdb.import',
  aliases: ['mongodb.import'],
  summary: 'Reads a collection of a document database (MongoDB), a row for each document.',
  parameters: Type.Object({
    ...DOCDB_PARAMETERS,
    outputDataset: Type.Optional(
      outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
    ),
    limit: Type.Integer({ description: 'documents to take; -1: all', default: -1, minimum: -1 }),
    offset: Type.Integer({ description: 'documents to skip first', default: 0, minimum: 0 }),
    ignoreParsingErrors: Type.Boolean({
      description: 'documents that cannot be rows are counted and left out',
      default: false,
    }),
    select: Type.String({ description: 'SELECT list over the fields of a document', default: '*' }),
    where: Type.String({ description: 'documents that become rows', default: 'true' }),
    named: Type.String({
      description: 'name of the row; oid() is the object id of the document',
      default: 'oid()',
    }),
    ...runOnCreation,
  }),
  check: ({ uriConnectionScheme, collection }) => checkDocdb(uriConnectionScheme, collection),
  run(context, params) {
    const { uriConnectionScheme, collection, limit, offset, select, where, named } = params;
    const output = context.output(params.outputDataset, 'sparse.mutable');
    const request: DocdbRequest = {
      kind: 'find',
      collection,
      filter: '{}',
      skip: offset,
      limit: limit === -1 ? undefined : limit,
    };
    let numParsingErrors = 0;
    const numInsertedRows =
      limit === 0
        ? 0
        : recordRemoteRows(context, {
            request: {
              system: 'docdb',
              connection: docdbConnection(uriConnectionScheme, context.remote),
              request,
            },
            output,
            select,
            where,
            named,
            functions: { oid: atomType('string') },
            call: (_name, wire) => constant(wire.name?.[0] ?? null),
            ...(params.ignoreParsingErrors ? { onFaulty: () => void numParsingErrors++ } : {}),
          });
    const status = output.commit();
    const own = typeof status === 'object' && status !== null ? status : {};
    return { result: { ...own, numParsingErrors, numInsertedRows } };
  },
});
