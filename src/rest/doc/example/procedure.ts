// Examples of procedure types; each runs when it is created.
import {
  CLICKS,
  COLLECTION,
  DATABASE,
  EXPORTED,
  LABELLED,
  LABELLED_POINTS,
  POINTS,
  run,
  SCORED,
  TRAINED,
  type TypeExample,
  type TypeExamples,
  table,
  textFile,
  WORDS,
} from './example.ts';

const OUTPUT = { id: 'example_output', type: 'tabular' };
const SPARSE_OUTPUT = { id: 'example_output', type: 'sparse.mutable' };
const TREE = { type: 'decision_tree', max_depth: 3 };

const EXAMPLES: TypeExamples = {
  bucketize: {
    params: {
      inputData: 'SELECT x FROM (VALUES (1), (5), (3), (8)) AS t(x) ORDER BY x',
      outputDataset: SPARSE_OUTPUT,
      percentileBuckets: { low: [0, 50], high: [50, 100] },
    },
  },
  'classifier.experiment': {
    before: [table('labelled', LABELLED_POINTS)],
    params: {
      experimentName: 'example',
      inputData: 'SELECT {x, y} AS features, label FROM labelled',
      ...{ kfold: 2, stratify: true, configuration: TREE },
      modelFileUrlPattern: 'mem://example_$runid.cls',
    },
  },
  'classifier.folds': {
    params: {
      inputData: LABELLED_POINTS,
      ...{ kfold: 3, outputDataset: OUTPUT },
    },
  },
  'classifier.importance': {
    before: [TRAINED],
    params: {
      modelFileUrl: 'mem://example.cls',
      testingData: LABELLED,
      outputDataset: OUTPUT,
    },
  },
  'classifier.test': { params: { testingData: SCORED, outputDataset: OUTPUT } },
  'classifier.train': {
    params: {
      trainingData: LABELLED,
      mode: 'boolean',
      configuration: TREE,
      modelFileUrl: 'mem://example.cls',
      functionName: 'example_score',
    },
  },
  createEntity: {
    params: { kind: 'dataset', id: 'example_created', type: 'sparse.mutable' },
  },
  'dataset.stats': { params: { inputData: POINTS, outputDataset: OUTPUT } },
  'docdb.import': {
    params: { ...COLLECTION, outputDataset: OUTPUT },
  },
  'experimental.distTable.train': {
    params: {
      trainingData: `SELECT host, region FROM ${CLICKS}`,
      outcomes: [['click', 'click']],
      distTableFileUrl: 'mem://example.dt',
      functionName: 'example_stats',
    },
  },
  'experimental.statsTable.derivedColumnsGenerator': {
    before: [
      run('train', 'statsTable.train', {
        trainingData: `SELECT host, region FROM ${CLICKS}`,
        outcomes: [['click', 'click = 1']],
        statsTableFileUrl: 'mem://example.st',
      }),
    ],
    params: {
      functionId: 'example_rates',
      statsTableFileUrl: 'mem://example.st',
      expression: 'counts.click / counts.trial AS rate_$tbl',
    },
  },
  'export.arrow': { params: { exportData: POINTS, dataFileUrl: 'mem://example.arrow' } },
  'export.csv': { params: { exportData: POINTS, dataFileUrl: 'mem://example.csv' } },
  'export.json': { params: { exportData: POINTS, dataFileUrl: 'mem://example.json' } },
  'export.parquet': { params: { exportData: POINTS, dataFileUrl: 'mem://example.parquet' } },
  'gaussianclustering.train': {
    params: { trainingData: POINTS, numClusters: 2, outputDataset: OUTPUT },
  },
  'import.arrow': importOf('arrow', 'arrow'),
  'import.json': importOf('json', 'json'),
  'import.lexicon': {
    before: [
      textFile('mem://example.txt', '\t', [
        ["'a'", '1740', '0.125', '0', "'able#1'", "'having the means to do something'"],
      ]),
    ],
    params: { dataFileUrl: 'mem://example.txt', outputDataset: SPARSE_OUTPUT },
  },
  'import.parquet': importOf('parquet', 'parquet'),
  'import.repo': {
    params: { repository: 'file://my_project', outputDataset: SPARSE_OUTPUT },
  },
  'import.sqlite': {
    params: { dataFileUrl: 'file://my_tables.sqlite', table: 'people', outputDataset: OUTPUT },
  },
  'import.text': importOf('text', 'csv'),
  'import.vectors': {
    before: [
      textFile('mem://example.txt', ' ', [
        ["'red'", '1', '2'],
        ["'wine'", '3', '4'],
      ]),
    ],
    params: { dataFileUrl: 'mem://example.txt', outputDataset: OUTPUT },
  },
  'import.xlsx': { params: { dataFileUrl: 'file://my_workbook.xlsx', output: SPARSE_OUTPUT } },
  'kmeans.train': {
    params: {
      trainingData: POINTS,
      ...{ numClusters: 2, metric: 'euclidean', outputDataset: OUTPUT },
      modelFileUrl: 'mem://example.kms',
      functionName: 'example_clusters',
    },
  },
  'list.files': {
    before: [run('export', 'export.csv', { exportData: POINTS, dataFileUrl: 'mem://files/a.csv' })],
    params: { path: 'mem://files', outputDataset: OUTPUT },
  },
  melt: {
    params: {
      inputData:
        "SELECT {name} AS to_fix, {north, south} AS to_melt FROM (VALUES ('a', 1, 2), ('b', 3, 4)) AS t(name, north, south)",
      outputDataset: OUTPUT,
    },
  },
  mock: { params: { durationMs: 100 } },
  'model.export': {
    before: [TRAINED],
    params: { modelFileUrl: 'mem://example.cls', outputFileUrl: 'mem://example.onnx' },
  },
  'model.import': {
    before: [TRAINED, EXPORTED],
    params: {
      inputFileUrl: 'mem://example.onnx',
      modelFileUrl: 'mem://imported.cls',
      functionName: 'example_imported',
    },
  },
  null: { params: {} },
  'permuter.run': {
    params: {
      procedure: {
        type: 'kmeans.train',
        params: {
          trainingData: POINTS,
          metric: 'euclidean',
          modelFileUrl: 'mem://example_$permutation.kms',
        },
      },
      permutations: { numClusters: [2, 3] },
    },
  },
  'postgresql.import': {
    params: {
      ...DATABASE,
      ...{ postgresqlQuery: 'SELECT id, price FROM orders', rowNameColumn: 'id' },
      ...{ outputDataset: OUTPUT },
    },
  },
  'probabilizer.train': {
    params: {
      trainingData: SCORED,
      modelFileUrl: 'mem://example.prob',
      functionName: 'example_probability',
    },
  },
  'randomforest.binary.train': {
    params: {
      trainingData: LABELLED,
      ...{ featureVectorSamplingProp: 1, featureSamplingProp: 1 },
      modelFileUrl: 'mem://example.cls',
      functionName: 'example_score',
    },
  },
  ranking: {
    params: {
      inputData: 'SELECT x FROM (VALUES (1), (5), (3)) AS t(x) ORDER BY x DESC',
      outputDataset: OUTPUT,
    },
  },
  'script.run': { params: { scriptConfig: { source: 'args.x + 1', args: { x: 41 } } } },
  serial: {
    params: {
      steps: [
        {
          type: 'transform',
          params: { inputData: POINTS, outputDataset: { id: 'points', type: 'tabular' } },
        },
        {
          type: 'export.csv',
          params: { exportData: 'SELECT x FROM points', dataFileUrl: 'mem://example.csv' },
        },
      ],
    },
  },
  split: {
    params: {
      labels: LABELLED_POINTS,
      outputDatasets: [
        { id: 'example_training', type: 'tabular' },
        { id: 'example_testing', type: 'tabular' },
      ],
      splits: [0.5, 0.5],
    },
  },
  'statsTable.bagOfWords.train': {
    before: [table('texts', WORDS, 'sparse.mutable')],
    params: {
      trainingData: 'SELECT * FROM texts',
      outcomes: [['red', 'red IS NOT NULL']],
      statsTableFileUrl: 'mem://example.st',
      functionName: 'example_words',
      functionOutcomeToUse: 'red',
    },
  },
  'statsTable.train': {
    params: {
      trainingData: `SELECT host, region FROM ${CLICKS}`,
      outcomes: [['click', 'click = 1']],
      statsTableFileUrl: 'mem://example.st',
      functionName: 'example_counts',
    },
  },
  'summary.statistics': { params: { inputData: POINTS, outputDataset: SPARSE_OUTPUT } },
  'svd.train': {
    params: {
      trainingData: POINTS,
      ...{ numSingularValues: 2, rowOutputDataset: OUTPUT },
      modelFileUrl: 'mem://example.svd',
      functionName: 'example_embedding',
    },
  },
  'svm.train': {
    params: {
      trainingData: LABELLED_POINTS,
      modelFileUrl: 'mem://example.svm',
      functionName: 'example_class',
    },
  },
  'tfidf.train': {
    params: {
      trainingData: WORDS,
      modelFileUrl: 'mem://example.tfidf',
      functionName: 'example_weights',
    },
  },
  transform: { params: { inputData: 'SELECT 1 AS x', outputDataset: OUTPUT } },
  'tsne.train': {
    params: { trainingData: POINTS, perplexity: 2, rowOutputDataset: OUTPUT },
  },
  'umap.train': {
    params: { trainingData: POINTS, numNeighbors: 3, rowOutputDataset: OUTPUT },
  },
};

export const PROCEDURE_EXAMPLES: TypeExamples = Object.fromEntries(
  Object.entries(EXAMPLES).map(([name, { params, ...rest }]) => [
    name,
    { ...rest, params: { ...params, runOnCreation: true } },
  ]),
);

/** The import of a file that an export has written. */
function importOf(format: string, suffix: string): TypeExample {
  const dataFileUrl = `mem://example.${suffix}`;
  return {
    before: [
      run('write_file', `export.${format === 'text' ? 'csv' : format}`, {
        exportData: POINTS,
        dataFileUrl,
      }),
    ],
    params: { dataFileUrl, outputDataset: OUTPUT },
  };
}
