// An example of every operation. Performed in the order of the table of routes' verbs (PUT, POST, GET,
// DELETE) they build on one another: entities named `example`, a run named `first`.

export interface OperationExample {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** Path elements that examples use unless they say otherwise. */
export const EXAMPLE_ELEMENTS: Readonly<Record<string, string>> = {
  id: 'example',
  run: 'first',
  column: 'x',
  class: 'functions',
  type: 'sql.expression',
  name: 'example.csv',
  rest: '',
};

const DATASET = { type: 'sparse.mutable' };
const FUNCTION = {
  type: 'sql.expression',
  params: { expression: 'x * 2 AS y', prepared: true },
};
const PROCEDURE = {
  type: 'transform',
  params: { inputData: 'SELECT 1 AS x', outputDataset: { id: 'example_output', type: 'tabular' } },
};
const TRAINING = {
  type: 'kmeans.train',
  params: {
    trainingData: 'SELECT * FROM (VALUES (1, 2), (8, 9)) AS t(x, y)',
    numClusters: 2,
    metric: 'euclidean',
    modelFileUrl: 'mem://example.kms',
    functionName: 'example_clusters',
    runOnCreation: true,
  },
};
/** Makes the function `example_stats`, whose type has routes of its own. */
const STATISTICS = {
  type: 'experimental.distTable.train',
  params: {
    trainingData: "SELECT host FROM (VALUES ('h1', 1), ('h2', 0)) AS t(host, click)",
    outcomes: [['click', 'click']],
    distTableFileUrl: 'mem://example.dt',
    functionName: 'example_stats',
    runOnCreation: true,
  },
};
const PLUGIN = {
  type: 'javascript',
  params: { source: { main: 'plugin.setRequestHandler(() => ({ hello: "world" }));' } },
};
const CREDENTIAL = {
  store: {
    resourceType: 'http',
    resource: 'https://data.example.org/',
    credential: { id: 'reader', secret: 'not a real password' },
  },
};
const ROW = { rowName: 'first', columns: [['x', 1, 0]] };
const COLUMN = { columnName: 'z', rows: [['first', 3, 0]] };

/** By verb and path. */
export const EXAMPLES: Readonly<Record<string, OperationExample>> = {
  'PUT /v1/datasets/:id': { body: DATASET },
  'PUT /v1/datasets': { body: { id: 'example', ...DATASET } },
  'POST /v1/datasets': { body: { id: 'example', ...DATASET } },
  'PUT /v1/functions/:id': { body: FUNCTION },
  'PUT /v1/functions': { body: { id: 'example', ...FUNCTION } },
  'POST /v1/functions': { body: { id: 'example', ...FUNCTION } },
  'PUT /v1/procedures/:id': { body: PROCEDURE },
  'PUT /v1/procedures': { body: { id: 'example_training', ...STATISTICS } },
  'POST /v1/procedures': { body: { id: 'example', ...TRAINING } },
  'PUT /v1/plugins/:id': { body: PLUGIN },
  'PUT /v1/plugins': { body: { id: 'example', ...PLUGIN } },
  'POST /v1/plugins': { body: { id: 'example', ...PLUGIN } },
  'PUT /v1/credentials/:id': { body: CREDENTIAL },
  'PUT /v1/credentials': { body: { id: 'example_put', ...CREDENTIAL } },
  'POST /v1/credentials': { body: { id: 'example_post', ...CREDENTIAL } },
  'POST /v1/datasets/:id/rows': { body: ROW },
  'POST /v1/datasets/:id/multirows': { body: [['second', [['x', 2, 0]]]] },
  'POST /v1/datasets/:id/columns': { body: COLUMN },
  'POST /v1/datasets/:id/multicolumns': { body: [['w', [['second', 4, 0]]]] },
  'POST /v1/datasets/:id/commit': {},
  'POST /v1/datasets/:id/routes/*': {
    params: { id: 'example_output', rest: 'saves' },
    body: { dataFileUrl: 'mem://example.data' },
  },
  'POST /v1/functions/:id/routes/*': {
    params: { id: 'example_stats', rest: 'increment' },
    body: { keys: [['host', 'h1']], outcomes: [1] },
  },
  'GET /v1/functions/:id/application': { query: { input: '{"x":1}' } },
  'POST /v1/functions/:id/application': { body: { input: { x: 1 } } },
  'GET /v1/functions/:id/batch': { query: { input: '[{"x":1},{"x":2}]' } },
  'POST /v1/functions/:id/batch': { body: { input: [{ x: 1 }, { x: 2 }] } },
  'GET /v1/functions/:id/card': { params: { id: 'example_clusters' } },
  'POST /v1/procedures/:id/runs': { body: {} },
  'PUT /v1/procedures/:id/runs/:run': { body: {} },
  'PUT /v1/procedures/:id/runs/:run/state': { body: { state: 'cancelled' } },
  'GET /v1/query': { query: { q: 'SELECT 1 AS x', format: 'table' } },
  'POST /v1/query': { body: { q: 'SELECT 1 AS x', format: 'table' } },
  'GET /v1/typeInfo': { query: { type: 'string' } },
  'POST /v1/types/plugins/javascript/routes/run': { body: { source: '1 + 1' } },
  'GET /v1/types/plugins/javascript/routes/modules/*': { params: { rest: 'mldb' } },
  'GET /v1/types/:class/:type/routes/*': {
    params: { class: 'plugins', type: 'javascript', rest: 'modules' },
  },
  'POST /v1/types/:class/:type/routes/*': {
    params: { class: 'plugins', type: 'javascript', rest: 'run' },
    body: { source: '1 + 1' },
  },
  'PUT /v1/uploads/:name': { body: 'x,y\n1,2\n3,4\n' },
  'POST /v1/imports': { body: { url: 'upload://example.csv' } },
  'GET /doc/*': { params: { rest: '' } },
  'POST /v1/watches': { body: [{ channel: 'names', filter: '*' }] },
};
