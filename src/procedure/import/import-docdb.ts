import { Type } from 'typebox';
import { DOCDB_PARAMETERS } from '../../dataset/remote/docdb.ts';
import { nameOfValue } from '../../exec/general/operator/project.ts';
import { compileExpression, compileSelect } from '../../exec/prepared-row.ts';
import { atomType } from '../../plan/type/type.ts';
import { checkDocdb, docdbConnection } from '../../remote/docdb/docdb-address.ts';
import { PathLists, rowOf } from '../../remote/remote-relation.ts';
import { outputDataset } from '../../schema/declare.ts';
import { failure, RowanError } from '../../util/error.ts';
import { constant, NULL_VALUE, Scalar } from '../../value/value.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';

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
    const { uriConnectionScheme, collection, limit, offset } = params;
    const progress = context.steps([{ name: 'iterating', type: 'counter' }], { topLevel: true });
    progress.next();
    const functions = { oid: atomType('string') };
    const options = { namespace: context.namespace, scope: context.scope, functions };
    const select = compileSelect(params.select, options);
    const where = compileExpression(params.where, options);
    const named = compileExpression(params.named, options);
    const output = context.output(params.outputDataset, 'sparse.mutable');
    const counts = { numParsingErrors: 0, numInsertedRows: 0 };
    const paths = new PathLists();
    const rows =
      limit === 0
        ? []
        : context.remote.rows({
            system: 'docdb',
            connection: docdbConnection(uriConnectionScheme, context.remote),
            request: {
              kind: 'find',
              collection,
              filter: '{}',
              skip: offset,
              limit: limit === -1 ? undefined : limit,
            },
          });
    for (const wire of rows) {
      if (++counts.numInsertedRows % ROWS_PER_LOOK === 0) {
        context.checkCancelled();
        progress.update(counts.numInsertedRows);
      }
      if (wire.error !== undefined) {
        if (!params.ignoreParsingErrors) throw RowanError.fromBody(wire.error);
        counts.numParsingErrors++;
        continue;
      }
      const input = rowOf(wire, paths.of(wire.paths));
      const oid = constant(wire.name?.[0] ?? null);
      const rowContext = {
        call: (name: string) => (name === 'oid' ? oid : NULL_VALUE),
        scope: context.scope,
      };
      if (!where.test(input, rowContext)) continue;
      const name = named.evaluate(input, rowContext);
      if (!(name instanceof Scalar)) {
        throw failure('SQL_EXECUTION', 'the expression named must give one value, not a row');
      }
      output.recordRow(nameOfValue(name), select.apply(input, rowContext));
    }
    const status = output.commit();
    progress.finish();
    const own = typeof status === 'object' && status !== null ? status : {};
    return { result: { ...own, ...counts } };
  },
});

const ROWS_PER_LOOK = 1000;
