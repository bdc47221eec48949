import { Type } from 'typebox';
import { choice } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { openColumnarWriter } from './columnar-writer.ts';
import { type Admission, datasetType, type Params } from './dataset-type.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';
import { oneTimestamp } from './tabular.ts';

/** The columns of the first recorded row in its order; null before it. */
type EmbeddingState = readonly (readonly string[])[] | null;

/** Points of a space: the same numeric columns in every row, 32 bits each. */
export const embedding = datasetType({
  name: 'embedding',
  summary:
    'Points of a space: the same numeric columns in every row, for nearest-neighbour search.',
  parameters: Type.Object({
    metric: choice(['euclidean', 'cosine', 'none'], {
      description: 'distance of two rows',
      default: 'euclidean',
    }),
  }),
  check(params) {
    if (params.metric === 'none')
      throw failure('INVALID_PARAMETER', 'No metric space was specified');
  },
  recording: {
    visibility: () => 'commit',
    initialState: null,
    admit: admitRows,
    duplicateRow: (name) =>
      failure(
        'INVALID_PARAMETER',
        `Row '${name}' has already been recorded into embedding dataset.  Are you re-using an output dataset (2)?`,
      ),
    openWriter: openColumnarWriter,
  },
  status: () => null,
  columnNames: (content) =>
    ((content.state as EmbeddingState) ?? []).map((elements) => new Path(elements)),
});

function admitRows(rows: readonly RecordedRow[], _params: Params, state: unknown): Admission {
  let columns = state as EmbeddingState;
  const admitted = rows.map((row) => {
    columns ??= row.cells.map(([column]) => column.elements);
    return { name: row.name, cells: orderedCells(row, columns) };
  });
  return { rows: admitted, state: columns };
}

function orderedCells(row: RecordedRow, columns: readonly (readonly string[])[]): RecordedCell[] {
  const given = new Map(row.cells.map((cell) => [cell[0].toString(), cell]));
  if (given.size !== row.cells.length) {
    throw failure('INVALID_PARAMETER', `a column occurs twice in row '${row.name}'`);
  }
  const cells = columns.map((elements): RecordedCell => {
    const column = new Path(elements);
    const cell = given.get(column.toString());
    if (cell === undefined) {
      throw failure(
        'INVALID_PARAMETER',
        `column '${column}' is missing in row '${row.name}' of embedding dataset`,
      );
    }
    given.delete(column.toString());
    return [column, coordinate(cell, row.name), cell[2]];
  });
  for (const key of given.keys()) {
    throw failure(
      'INVALID_PARAMETER',
      `Couldn't extract column with name '${key}' of row '${row.name}': the first row has no such column`,
    );
  }
  return oneTimestamp(cells, row.cells);
}

function coordinate(cell: RecordedCell, row: Path): number {
  const [column, atom] = cell;
  const number = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof number === 'number' && Number.isFinite(number)) return Math.fround(number);
  throw failure(
    'INVALID_PARAMETER',
    `value of column '${column}' in row '${row}' of embedding dataset is not a finite number`,
  );
}
