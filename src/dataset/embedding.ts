import { Type } from 'typebox';
import { withGraph } from '../learn/neighbor/stored-graph.ts';
import { choice } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { snapshotSize } from '../value/column/snapshot-memory.ts';
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
    index: choice(['vptree', 'flat', 'hnsw'], {
      description:
        'how neighbors are found: exactly by a tree of vantage points or by looking at all rows, or approximately by a hierarchy of graphs',
      default: 'vptree',
    }),
    M: Type.Integer({
      description: 'hnsw: neighbors of a point in the graphs',
      default: 16,
      minimum: 2,
      maximum: 256,
    }),
    efConstruction: Type.Integer({
      description: 'hnsw: points that are kept in sight while the graphs are built',
      default: 200,
      minimum: 1,
      maximum: 10_000,
    }),
    efSearch: Type.Optional(
      Type.Integer({
        description:
          'hnsw: points that a search keeps in sight; default: 64, and more until 95 % of the ten nearest neighbors are found',
        minimum: 1,
        maximum: 1_000_000,
      }),
    ),
    randomSeed: Type.Integer({
      description: 'hnsw: decides the levels of points',
      default: 1,
      minimum: 0,
      maximum: 4_294_967_295,
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
    index(snapshot, { params, previous, arenas, checkCancelled }) {
      if (params.index !== 'hnsw' || snapshot.layout !== 'columnar') return snapshot;
      const before = previous?.snapshot.layout === 'columnar' ? previous.snapshot : undefined;
      const metric = params.metric === 'cosine' ? 'cosine' : 'euclidean';
      return withGraph(snapshot, before, { ...params, metric }, arenas, checkCancelled);
    },
  },
  status({ snapshot }, { index }) {
    if (snapshot.layout !== 'columnar' || snapshot.rowCount === 0) return null;
    const { rowCount, columns, graph } = snapshot;
    const memUsageMb = snapshotSize(snapshot) / 1e6;
    const size = { rowCount, columnCount: columns.length, memUsageMb };
    if (graph === undefined) return { index: { type: index, ...size } };
    const { shape, efSearch, buildSecs, recallAt10, recallSample } = graph;
    const { m: M, efConstruction, seed: randomSeed } = shape;
    const parameters = { M, efConstruction, efSearch, randomSeed };
    return { index: { type: index, parameters, buildSecs, recallAt10, recallSample, ...size } };
  },
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
