// Examples of function types.
import {
  CLICKS,
  COLLECTION,
  call,
  DATABASE,
  dataset,
  EXPORTED,
  LABELLED_POINTS,
  POINTS,
  record,
  run,
  SCORED,
  TRAINED,
  type TypeExamples,
  table,
  WORDS,
} from './example.ts';

const FEATURES = { features: { x: 9, y: 8 } };
const POINT = { embedding: { x: 9, y: 8 } };
const ROW = { row: { x: 9, y: 8 } };
const PAGE = '<p>See <a href="https://example.org/">this</a>.</p>';

export const FUNCTION_EXAMPLES: TypeExamples = {
  classifier: {
    before: [TRAINED],
    params: { modelFileUrl: 'mem://example.cls' },
    after: call(FEATURES),
  },
  'classifier.explain': {
    before: [TRAINED],
    params: { modelFileUrl: 'mem://example.cls' },
    after: call({ ...FEATURES, label: 1 }),
  },
  'docdb.query': { params: { ...COLLECTION, output: 'FIRST_ROW' } },
  'embedding.neighbors': {
    before: [
      dataset('points', 'embedding'),
      ...record('points', [
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
            ['x', 8, 0],
            ['y', 9, 0],
          ],
        ],
      ]),
    ],
    params: { dataset: 'points', defaultNumNeighbors: 1 },
    after: call({ coords: { x: 9, y: 8 } }),
  },
  'experimental.distTable.getStats': {
    before: [
      run('train', 'experimental.distTable.train', {
        trainingData: `SELECT host, region FROM ${CLICKS}`,
        outcomes: [['click', 'click']],
        distTableFileUrl: 'mem://example.dt',
      }),
    ],
    params: { distTableFileUrl: 'mem://example.dt', statistics: ['count', 'avg'] },
    after: call({ features: { host: 'h1', region: 'north' } }),
  },
  feature_hasher: {
    params: { numBits: 4, mode: 'columnsAndValues' },
    after: call({ columns: { city: 'Paris', size: 3 } }),
  },
  fetcher: { params: {} },
  filter_stopwords: { params: {}, after: call({ words: { the: 1, wine: 2 } }) },
  gaussianclustering: {
    before: [
      run('train', 'gaussianclustering.train', {
        trainingData: POINTS,
        numClusters: 2,
        modelFileUrl: 'mem://example.gs',
      }),
    ],
    params: { modelFileUrl: 'mem://example.gs' },
    after: call(POINT),
  },
  'html.extractLinks': { params: {}, after: call({ text: PAGE }) },
  'html.parse': { params: {}, after: call({ text: PAGE }) },
  'http.useragent': {
    params: {},
    after: call({ ua: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0' }),
  },
  'image.proximatevoxels': {
    params: { expression: '[[[[1, 2, 3], [4, 5, 6]]]]', range: 0 },
    after: call({ x: 1, y: 0, z: 0 }),
  },
  'image.readpixels': {
    params: { expression: '[[1, 2], [3, 4]]' },
    after: call({ x: 1, y: 0 }),
  },
  kmeans: {
    before: [
      run('train', 'kmeans.train', {
        trainingData: POINTS,
        ...{ numClusters: 2, metric: 'euclidean', modelFileUrl: 'mem://example.kms' },
      }),
    ],
    params: { modelFileUrl: 'mem://example.kms' },
    after: call(POINT),
  },
  onnx: {
    before: [TRAINED, EXPORTED],
    params: { modelFileUrl: 'mem://example.onnx' },
    after: call(FEATURES),
  },
  pooling: {
    before: [
      table(
        'vectors',
        "SELECT x, y NAMED word FROM (VALUES ('red', 1, 2), ('wine', 3, 4)) AS t(word, x, y)",
      ),
    ],
    params: { embeddingDataset: 'vectors', aggregators: ['avg', 'max'] },
    after: call({ words: { red: 1, wine: 1 } }),
  },
  'postgresql.query': {
    params: { ...DATABASE, query: 'SELECT * FROM orders WHERE id = $id' },
  },
  probabilizer: {
    before: [
      run('train', 'probabilizer.train', {
        trainingData: SCORED,
        modelFileUrl: 'mem://example.prob',
      }),
    ],
    params: { modelFileUrl: 'mem://example.prob' },
    after: call({ score: 0.6 }),
  },
  'script.apply': {
    params: { scriptConfig: { source: '[["doubled", 2 * args[0][0][1][0], new Date()]]' } },
    after: call({ args: [21] }),
  },
  serial: {
    params: {
      steps: [
        { type: 'sql.expression', params: { expression: 'x * 2 AS y' } },
        { type: 'sql.expression', params: { expression: 'y + 1 AS z' } },
      ],
    },
    after: call({ x: 20 }),
  },
  'sql.expression': {
    params: { expression: 'x * 2 AS y' },
    after: call({ x: 21 }),
  },
  'sql.query': {
    before: [
      table('prices', "SELECT * FROM (VALUES ('wine', 7), ('car', 9000)) AS t(name, price)"),
    ],
    params: { query: 'SELECT price FROM prices WHERE name = $name' },
    after: call({ name: 'wine' }),
  },
  'statsTable.bagOfWords.posneg': {
    before: [
      table('texts', WORDS, 'sparse.mutable'),
      run('train', 'statsTable.bagOfWords.train', {
        trainingData: 'SELECT * FROM texts',
        outcomes: [['red', 'red IS NOT NULL']],
        statsTableFileUrl: 'mem://example.st',
      }),
    ],
    params: { statsTableFileUrl: 'mem://example.st', outcomeToUse: 'red', minTrials: 1 },
    after: call({ words: { wine: 1, car: 1 } }),
  },
  'statsTable.getCounts': {
    before: [
      run('train', 'statsTable.train', {
        trainingData: `SELECT host, region FROM ${CLICKS}`,
        outcomes: [['click', 'click = 1']],
        statsTableFileUrl: 'mem://example.st',
      }),
    ],
    params: { statsTableFileUrl: 'mem://example.st' },
    after: call({ keys: { host: 'h1', region: 'north' } }),
  },
  stemmer: { params: { language: 'english' }, after: call({ words: { running: 1, runs: 2 } }) },
  stemmerdoc: { params: { language: 'english' }, after: call({ document: 'running runs' }) },
  'svd.embedRow': {
    before: [
      run('train', 'svd.train', {
        trainingData: POINTS,
        ...{ numSingularValues: 2, modelFileUrl: 'mem://example.svd' },
      }),
    ],
    params: { modelFileUrl: 'mem://example.svd' },
    after: call(ROW),
  },
  svm: {
    before: [
      run('train', 'svm.train', {
        trainingData: LABELLED_POINTS,
        modelFileUrl: 'mem://example.svm',
      }),
    ],
    params: { modelFileUrl: 'mem://example.svm' },
    after: call(POINT),
  },
  tfidf: {
    before: [
      run('train', 'tfidf.train', { trainingData: WORDS, modelFileUrl: 'mem://example.tfidf' }),
    ],
    params: { modelFileUrl: 'mem://example.tfidf', tfType: 'log' },
    after: call({ input: { red: 1, wine: 2 } }),
  },
  tokensplit: {
    before: [table('smileys', "SELECT * FROM (VALUES (':)'), (':(')) AS t(token)")],
    params: { tokens: 'SELECT token FROM smileys' },
    after: call({ text: 'Well:) or not:(' }),
  },
  'tsne.embedRow': {
    before: [
      run('train', 'tsne.train', {
        trainingData: POINTS,
        ...{ perplexity: 2, modelFileUrl: 'mem://example.tsne' },
      }),
    ],
    params: { modelFileUrl: 'mem://example.tsne' },
    after: call(POINT),
  },
  'umap.embedRow': {
    before: [
      run('train', 'umap.train', {
        trainingData: POINTS,
        ...{ numNeighbors: 3, modelFileUrl: 'mem://example.umap' },
      }),
    ],
    params: { modelFileUrl: 'mem://example.umap' },
    after: call(POINT),
  },
};
