// What a dataset has is known behind a wildcard too: in the description of a function and in SQL.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';

let rowan: Rowan;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  const made = await rowan.post('/v1/procedures', {
    type: 'transform',
    params: {
      inputData: "SELECT 1 AS x, 'text' AS y, 2.5 AS a.b",
      outputDataset: { id: 't', type: 'tabular' },
      runOnCreation: true,
    },
  });
  expect(made.status, made.text).toBe(201);
});
afterAll(() => rowan?.close());

interface Known {
  readonly columnName: string;
  readonly valueInfo: { readonly kind?: string; readonly scalar?: string };
}

/** Names and kinds of the columns of the output, and whether there may be others. */
async function outputOf(query: string): Promise<unknown> {
  await rowan.put('/v1/functions/f', { type: 'sql.query', params: { query } });
  const { output } = (await rowan.get('/v1/functions/f/info')).json as {
    output: { knownColumns: Known[]; hasUnknownColumns: boolean };
  };
  const known = output.knownColumns.map(({ columnName, valueInfo }) => [
    columnName,
    valueInfo.scalar ?? valueInfo.kind,
  ]);
  return [known, output.hasUnknownColumns];
}

const ALL = [
  ['x', 'long'],
  ['y', 'string'],
  ['a', 'row'],
];

test('a query function tells the columns of its dataset', async () => {
  expect(await outputOf('SELECT * FROM t')).toEqual([ALL, false]);
  expect(await outputOf('SELECT * FROM (SELECT x FROM t)')).toEqual([[['x', 'long']], false]);
  expect(await outputOf('SELECT *, x AS z FROM t')).toEqual([[['z', 'long'], ...ALL], false]);
  // Where some are left out or renamed, the rest is not said.
  expect(await outputOf('SELECT * EXCLUDING (x) FROM t')).toEqual([[], true]);
});

test('static_known_columns({*}) does so too', async () => {
  const q = 'SELECT static_known_columns({*}) AS k FROM t';
  const [row] = (await rowan.get('/v1/query', { q, format: 'aos' })).json as [object];
  expect(row).toMatchObject({
    'k.0.columnName': 'x',
    'k.1.columnName': 'y',
    'k.2.columnName': 'a',
  });
});

test('a column that the dataset does not have is read as null all the same', async () => {
  const q = 'SELECT {*}[nothing] AS n, {*}[x] AS x FROM t';
  const reply = await rowan.get('/v1/query', { q, format: 'aos' });
  expect(reply.json).toEqual([{ _rowName: 'result', n: null, x: 1 }]);
});
