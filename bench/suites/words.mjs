// Learning from words beside fastText and scikit-learn, where they are at hand.

import { wordsCsv } from '../data/tables.mjs';
import { trainingMeasures } from '../data/trainings.mjs';

export const description = 'text classifier, tf-idf and truncated SVD of sparse words';

const WORDS = "tokenize(text, {splitChars: ' '})";

export async function prepare({ rowCount }) {
  const short = { wordCount: 100_000, length: 10 };
  const long = { wordCount: 50_000, length: 50 };
  const documentCount = Math.max(1000, rowCount / 10);
  const texts = [wordsCsv(rowCount, short), wordsCsv(20_000, { ...short, seed: 2 })];
  const forFastText = [
    wordsCsv(rowCount, { ...short, forFastText: true }),
    wordsCsv(20_000, { ...short, seed: 2, forFastText: true }),
  ];
  const documents = wordsCsv(documentCount, long);
  const folder = new URL('../.cache/', import.meta.url);
  const modelFileUrl = new URL('words.svd', folder).href;
  const classifier = {
    trainingData: `SELECT ${WORDS} AS features, label FROM texts`,
    ...{ mode: 'categorical', configuration: { type: 'fasttext' }, equalizationFactor: 0 },
    ...{ modelFileUrl: 'mem://words.cls', functionName: 'topic' },
  };
  return {
    measures: [
      ...trainingMeasures({
        ...{ name: 'text classifier', peer: 'fasttext', args: forFastText },
        task: {
          files: { texts: texts[0], test: texts[1] },
          runs: [{ type: 'classifier.train', params: classifier }],
          quality: {
            of: 'weightedStatistics.accuracy',
            test: {
              mode: 'categorical',
              testingData: `SELECT topic({features: ${WORDS}})[scores] AS score, label FROM test`,
            },
          },
        },
        ...{ goal: 1.2, tolerance: 0.02 },
      }),
      ...trainingMeasures({
        ...{ name: 'tf-idf', peer: 'tfidf', args: [documents, documents] },
        task: {
          files: { documents },
          runs: [
            {
              type: 'tfidf.train',
              params: {
                trainingData: `SELECT ${WORDS} AS * FROM documents`,
                modelFileUrl: 'mem://words.idf',
              },
            },
          ],
        },
        goal: 0.3,
      }),
      ...trainingMeasures({
        ...{ name: 'truncated SVD, 50', peer: 'svd', args: [documents, documents, 50] },
        task: {
          files: { documents },
          runs: [
            {
              type: 'svd.train',
              params: {
                // 1 or absent: one column a word, as in the peer's matrix.
                trainingData: `SELECT tokenize(text, {splitChars: ' ', value: 1}) AS * FROM documents`,
                ...{ numSingularValues: 50, numDenseBasisVectors: long.wordCount, modelFileUrl },
              },
            },
          ],
          quality: { model: modelFileUrl },
        },
        ...{ goal: 0.8, tolerance: 0.01 },
      }),
    ],
  };
}
