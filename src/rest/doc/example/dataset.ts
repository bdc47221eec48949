// Examples of dataset types.
import { COLLECTION, DATABASE, dataset, record, type TypeExamples, table } from './example.ts';

const ROWS = [
  ['first', [['x', 1, '2026-01-01T00:00:00Z']]],
  ['second', [['x', 1, '2026-01-02T00:00:00Z']]],
];
const LEFT = table('left_rows', "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name)");
const RIGHT = table('right_rows', 'SELECT * FROM (VALUES (1, 10), (2, 20)) AS t(id, price)');

/** The saved pieces of a continuous dataset lie in memory, as files of the type `tabular`. */
const SAVE_PIECE = `const url = 'mem://' + args.datasetId + '.piece';
const path = '/v1/datasets/' + encodeURIComponent(args.datasetId) + '/routes/saves';
const saved = rowan.perform('POST', path, [], { dataFileUrl: url });
({ config: JSON.parse(saved.response), metadata: { country: 'fr' } })`;

const STREAM = {
  metadataDataset: { id: 'pieces', type: 'sqliteSparse' },
  createStorageDataset: {
    type: 'script.run',
    params: { scriptConfig: { source: "({ config: { type: 'tabular' } })" } },
  },
  saveStorageDataset: {
    type: 'script.run',
    params: { scriptConfig: { source: SAVE_PIECE } },
  },
};

export const DATASET_EXAMPLES: TypeExamples = {
  beh: {
    before: [
      dataset('written', 'beh.mutable', { dataFileUrl: 'mem://example.beh' }),
      ...record('written', ROWS),
    ],
    params: { dataFileUrl: 'mem://example.beh' },
  },
  'beh.binary': {
    before: [
      dataset('written', 'beh.binary.mutable', { dataFileUrl: 'mem://example.beh' }),
      ...record('written', ROWS),
    ],
    params: { dataFileUrl: 'mem://example.beh' },
  },
  'beh.binary.mutable': {
    params: { dataFileUrl: 'mem://example.beh' },
    after: record('example', ROWS),
  },
  'beh.mutable': {
    params: { dataFileUrl: 'mem://example.beh' },
    after: record('example', ROWS),
  },
  continuous: { params: STREAM, after: record('example', ROWS) },
  'continuous.window': {
    before: [dataset('stream', 'continuous', STREAM), ...record('stream', ROWS)],
    params: {
      metadataDataset: 'pieces',
      from: '2026-01-01T00:00:00Z',
      to: '2026-02-01T00:00:00Z',
    },
  },
  'docdb.dataset': { params: COLLECTION },
  'docdb.record': { params: COLLECTION },
  embedding: {
    params: { metric: 'cosine' },
    after: record('example', [
      [
        'first',
        [
          ['x', 1, 0],
          ['y', 2, 0],
        ],
      ],
      [
        'second',
        [
          ['x', 2, 0],
          ['y', 1, 0],
        ],
      ],
    ]),
  },
  joined: {
    before: [LEFT, RIGHT],
    params: { left: 'left_rows AS l', right: 'right_rows AS r', on: 'l.id = r.id' },
  },
  merged: {
    before: [LEFT, RIGHT],
    params: { datasets: ['left_rows', 'right_rows'] },
  },
  clickhouse: { params: { url: 'http://localhost:8123', table: 'visits', rowNameColumn: 'id' } },
  'postgresql.dataset': { params: { ...DATABASE, tableName: 'orders', primaryKey: 'id' } },
  'postgresql.recorder': { params: { ...DATABASE, tableName: 'orders', rowNameColumn: 'id' } },
  sampled: {
    before: [LEFT],
    params: { dataset: 'left_rows', rows: 1, seed: 1 },
  },
  'sparse.mutable': { params: {}, after: record('example', ROWS) },
  sqliteSparse: { params: {}, after: record('example', ROWS) },
  'structured.mutable': { params: {}, after: record('example', ROWS) },
  tabular: { params: { unknownColumns: 'add' }, after: record('example', ROWS) },
  transposed: { before: [LEFT], params: { dataset: 'left_rows' } },
  union: { before: [LEFT, RIGHT], params: { datasets: ['left_rows', 'right_rows'] } },
};
