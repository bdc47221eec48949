// What the reference shows of a type: requests that run one after the other on an empty service.

export interface ExampleRequest {
  readonly verb: 'PUT' | 'POST';
  readonly path: string;
  readonly body: unknown;
}

type Params = Readonly<Record<string, unknown>>;

export interface TypeExample {
  /** what makes the entities and files that the parameters name */
  readonly before?: readonly ExampleRequest[];
  readonly params: Params;
  /** what the new entity is for */
  readonly after?: readonly ExampleRequest[];
}

/** By the names of the types. */
export type TypeExamples = Readonly<Record<string, TypeExample>>;

export function dataset(id: string, type: string, params: Params = {}): ExampleRequest {
  return { verb: 'PUT', path: `/v1/datasets/${id}`, body: { type, params } };
}

/** A procedure that runs when it is created. */
export function run(id: string, type: string, params: Params): ExampleRequest {
  const body = { type, params: { ...params, runOnCreation: true } };
  return { verb: 'PUT', path: `/v1/procedures/${id}`, body };
}

/** A dataset of the rows of a query. */
export function table(id: string, inputData: string, type = 'tabular'): ExampleRequest {
  return run(`make_${id}`, 'transform', { inputData, outputDataset: { id, type } });
}

/** A text file of rows; each is a list of SQL constants. */
export function textFile(
  dataFileUrl: string,
  delimiter: string,
  rows: readonly (readonly string[])[],
): ExampleRequest {
  const values = rows.map((row) => `(${row.join(', ')})`).join(', ');
  const names = rows[0]?.map((_, index) => `c${index}`).join(', ');
  return run('write_file', 'export.csv', {
    exportData: `SELECT * FROM (VALUES ${values}) AS t(${names})`,
    ...{ dataFileUrl, delimiter, headers: false },
  });
}

export function record(id: string, rows: readonly unknown[]): ExampleRequest[] {
  const path = `/v1/datasets/${id}`;
  return [
    { verb: 'POST', path: `${path}/multirows`, body: rows },
    { verb: 'POST', path: `${path}/commit`, body: {} },
  ];
}

/** A call of the function that the example creates. */
export function call(input: unknown): ExampleRequest[] {
  return [{ verb: 'POST', path: '/v1/functions/example/application', body: { input } }];
}

/** Two groups of points that lie apart. */
export const POINTS =
  'SELECT * FROM (VALUES (1, 2), (2, 1), (2, 2), (8, 9), (9, 8), (9, 9)) AS t(x, y)';

const LABELLED_ROWS =
  'FROM (VALUES (1, 2, 0), (2, 1, 0), (2, 2, 0), (8, 9, 1), (9, 8, 1), (9, 9, 1)) AS t(x, y, label)';

/** The same points with the number of their group. */
export const LABELLED = `SELECT {x, y} AS features, label ${LABELLED_ROWS}`;

export const LABELLED_POINTS = `SELECT x, y, label ${LABELLED_ROWS}`;

/** Scores with the labels that they are for. */
export const SCORED =
  'SELECT score, label FROM (VALUES (0.1, 0), (0.4, 0), (0.35, 1), (0.8, 1)) AS t(score, label)';

/** Texts of two words, of which some were clicked. */
export const CLICKS =
  "(VALUES ('h1', 'north', 1), ('h2', 'south', 0), ('h1', 'south', 1), ('h2', 'north', 0)) AS t(host, region, click)";

/** Words as columns, with their counts. */
export const WORDS =
  "SELECT tokenize(text, {splitChars: ' '}) AS * FROM (VALUES ('red wine'), ('white wine'), ('red car')) AS t(text)";

/** A classifier in the file `mem://example.cls`. */
export const TRAINED = run('train', 'classifier.train', {
  trainingData: LABELLED,
  configuration: { type: 'decision_tree', max_depth: 3 },
  modelFileUrl: 'mem://example.cls',
});

/** The classifier as ONNX in the file `mem://example.onnx`. */
export const EXPORTED = run('export', 'model.export', {
  modelFileUrl: 'mem://example.cls',
  outputFileUrl: 'mem://example.onnx',
});

/** A collection of a server that need not be reached to make what reads it. */
export const COLLECTION = {
  uriConnectionScheme: 'mongodb://db.example:27017/shop',
  collection: 'orders',
};

/** A database of a server that need not be reached to make what reads it. */
export const DATABASE = { host: 'db.example', databaseName: 'shop' };
