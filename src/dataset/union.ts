import { Type } from 'typebox';
import type { RelationRow } from '../plan/namespace.ts';
import { datasetReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { referenceIds } from './parameter.ts';
import { recordedRows, viewContent } from './view-content.ts';

/** The rows of several datasets, one after the other; the index of the dataset leads the row name. */
export const union = datasetType({
  name: 'union',
  summary:
    'A view that stacks the rows of several datasets; row names begin with the index of theirs.',
  parameters: Type.Object({
    datasets: Type.Array(datasetReference({ description: 'a dataset' }), {
      description: 'datasets to stack, at least one',
      isNeeded: true,
      default: [],
    }),
  }),
  check(params) {
    if (params.datasets.length > 0) return;
    throw failure('INVALID_PARAMETER', 'Attempt to unify no datasets together');
  },
  view: {
    build(context) {
      const ids = referenceIds(context.params.datasets);
      return viewContent(context, recordedRows(stackedRows(ids, context)), ids.map(context.status));
    },
  },
  status: (content) => content.state,
});

function* stackedRows(ids: readonly string[], context: ViewContext): Iterable<RelationRow> {
  for (const [index, id] of ids.entries()) {
    const prefix = Path.of(String(index));
    for (const { name, row } of context.dataset(id).scan('all')) {
      yield { name: prefix.concat(name), row };
    }
  }
}
