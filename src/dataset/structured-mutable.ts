import { Type } from 'typebox';
import { failure } from '../util/error.ts';
import { datasetType } from './dataset-type.ts';
import { openSparseWriter } from './sparse-writer.ts';

/** Rows as they were recorded, with their nested structure. */
export const structuredMutable = datasetType({
  name: 'structured.mutable',
  summary: 'Rows of nested values in the order in which they were recorded; visible at once.',
  parameters: Type.Object({}),
  recording: {
    visibility: () => 'write',
    initialState: null,
    admit: (rows) => ({ rows, state: null }),
    duplicateRow: (name) =>
      failure('INVALID_PARAMETER', `row '${name}' has already been recorded into this dataset`),
    openWriter: openSparseWriter,
  },
  status({ snapshot }) {
    return {
      rowCount: snapshot.rowCount,
      columnCount: snapshot.layout === 'sparse' ? snapshot.columnCount : snapshot.columns.length,
    };
  },
});
