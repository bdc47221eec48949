import { Type } from 'typebox';
import { type DatasetReference, datasetReference } from '../schema/declare.ts';
import type { Path } from '../value/path.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { referenceIds } from './parameter.ts';
import { cellsOfRow, type RecordedCell, type RecordedRow } from './recorded-row.ts';
import { viewContent } from './view-content.ts';

/** Rows become columns and columns rows; values and timestamps stay. */
export const transposed = datasetType({
  name: 'transposed',
  summary: 'A view in which the columns of a dataset are rows and its rows are columns.',
  parameters: Type.Object({
    dataset: datasetReference({ description: 'the dataset to transpose' }),
  }),
  view: {
    build: (context) => viewContent(context, transposedRows(context), null),
  },
  status: () => null,
});

/** Cells that are held before they are recorded. */
const CELLS_AT_ONCE = 1024;

/** Each column as a row, in parts: without cells first, so that rows have the order of columns. */
function* transposedRows(
  context: ViewContext<{ readonly dataset: DatasetReference }>,
): Iterable<RecordedRow> {
  const [id] = referenceIds([context.params.dataset]) as [string];
  const source = context.dataset(id);
  const parts = new Map<string, { readonly name: Path; cells: RecordedCell[] }>();
  for (const { path } of source.columns()) {
    parts.set(path.toString(), { name: path, cells: [] });
    yield { name: path, cells: [] };
  }
  for (const { name, row } of source.scan('all')) {
    for (const [column, atom, ts] of cellsOfRow(row)) {
      const part = parts.get(column.toString());
      if (part === undefined || part.cells.push([name, atom, ts]) < CELLS_AT_ONCE) continue;
      yield { ...part };
      part.cells = [];
    }
  }
  for (const part of parts.values()) if (part.cells.length > 0) yield part;
}
