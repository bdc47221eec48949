import { Type } from 'typebox';
import type { RelationRow } from '../plan/namespace.ts';
import { datasetReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { referenceIds } from './parameter.ts';
import { recordedRows, viewContent } from './view-content.ts';

/** The cells of several datasets, united by row name. */
export const merged = datasetType({
  name: 'merged',
  summary: 'A view that unites the cells of several datasets by row name.',
  parameters: Type.Object({
    datasets: Type.Array(datasetReference({ description: 'a dataset' }), {
      description: 'datasets to merge, at least one',
      isNeeded: true,
      default: [],
    }),
  }),
  check(params) {
    if (params.datasets.length > 0) return;
    throw failure('INVALID_PARAMETER', 'Attempt to merge no datasets together');
  },
  view: {
    build(context) {
      const ids = referenceIds(context.params.datasets);
      return viewContent(context, recordedRows(allRows(ids, context)), ids.map(context.status));
    },
  },
  status: (content) => content.state,
});

function* allRows(ids: readonly string[], context: ViewContext): Iterable<RelationRow> {
  for (const id of ids) yield* context.dataset(id).scan('all');
}
