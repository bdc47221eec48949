import { Type } from 'typebox';
import type { DatasetType, ViewContext } from './dataset-type.ts';
import { datasetReference, referenceIds } from './parameter.ts';
import { cellsOfRow, type RecordedCell, type RecordedRow } from './recorded-row.ts';
import { openSparseWriter } from './sparse-writer.ts';

/** Rows become columns and columns rows; values and timestamps stay. */
export const transposed: DatasetType = {
  kind: 'dataset',
  name: 'transposed',
  summary: 'A view in which the columns of a dataset are rows and its rows are columns.',
  parameters: Type.Object({
    dataset: datasetReference({ description: 'the dataset to transpose' }),
  }),
  view: {
    build(context) {
      const writer = openSparseWriter({ ...context, previous: undefined });
      for (const row of transposedRows(context)) {
        context.checkCancelled();
        writer.add(row);
      }
      return { snapshot: writer.finish(null), state: null };
    },
  },
  status: () => null,
};

function transposedRows(context: ViewContext): Iterable<RecordedRow> {
  const [id] = referenceIds([context.params.dataset]) as [string];
  const source = context.dataset(id);
  const rows = new Map<string, { name: RecordedRow['name']; cells: RecordedCell[] }>();
  for (const { path } of source.columns()) rows.set(path.toString(), { name: path, cells: [] });
  for (const { name, row } of source.scan('all')) {
    context.checkCancelled();
    for (const [column, atom, ts] of cellsOfRow(row)) {
      rows.get(column.toString())?.cells.push([name, atom, ts]);
    }
  }
  return rows.values();
}
