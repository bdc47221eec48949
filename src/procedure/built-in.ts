// The procedure types that come with the service.

import { bucketize } from './bucketize.ts';
import { classifierExperiment } from './classifier-experiment.ts';
import { classifierFolds } from './classifier-folds.ts';
import { classifierImportance } from './classifier-importance.ts';
import { classifierTest } from './classifier-test.ts';
import { classifierTrain } from './classifier-train.ts';
import { createEntity } from './create-entity.ts';
import { datasetStats } from './dataset-stats.ts';
import { distTableTrain } from './dist-table-train.ts';
import { exportArrow } from './export-arrow.ts';
import { exportCsv } from './export-csv.ts';
import { exportJson } from './export-json.ts';
import { exportParquet } from './export-parquet.ts';
import { gaussianClusteringTrain } from './gaussianclustering-train.ts';
import { importArrow } from './import-arrow.ts';
import { importJson } from './import-json.ts';
import { importLexicon } from './import-lexicon.ts';
import { importParquet } from './import-parquet.ts';
import { importText } from './import-text.ts';
import { importVectors } from './import-vectors.ts';
import { importXlsx } from './import-xlsx.ts';
import { kmeansTrain } from './kmeans-train.ts';
import { listFiles } from './list-files.ts';
import { melt } from './melt.ts';
import { mock } from './mock.ts';
import { nullProcedure } from './null.ts';
import { permuterRun } from './permuter-run.ts';
import { probabilizerTrain } from './probabilizer-train.ts';
import type { ProcedureType } from './procedure-type.ts';
import { randomForestBinaryTrain } from './randomforest-binary-train.ts';
import { ranking } from './ranking.ts';
import { serialProcedure } from './serial.ts';
import { split } from './split.ts';
import { statsTableBagOfWordsTrain } from './stats-table-bag-of-words-train.ts';
import { statsTableDerivedColumns } from './stats-table-derived-columns.ts';
import { statsTableTrain } from './stats-table-train.ts';
import { summaryStatistics } from './summary-statistics.ts';
import { svdTrain } from './svd-train.ts';
import { svmTrain } from './svm-train.ts';
import { tfidfTrain } from './tfidf-train.ts';
import { transform } from './transform.ts';
import { tsneTrain } from './tsne-train.ts';
import { umapTrain } from './umap-train.ts';

export const PROCEDURE_TYPES: readonly ProcedureType[] = [
  bucketize,
  classifierExperiment,
  classifierFolds,
  classifierImportance,
  classifierTest,
  classifierTrain,
  createEntity,
  datasetStats,
  distTableTrain,
  exportCsv,
  gaussianClusteringTrain,
  importJson,
  importText,
  importVectors,
  kmeansTrain,
  listFiles,
  melt,
  mock,
  nullProcedure,
  permuterRun,
  probabilizerTrain,
  randomForestBinaryTrain,
  ranking,
  serialProcedure,
  split,
  statsTableBagOfWordsTrain,
  statsTableDerivedColumns,
  statsTableTrain,
  summaryStatistics,
  svdTrain,
  svmTrain,
  tfidfTrain,
  transform,
  tsneTrain,
  umapTrain,
  exportArrow,
  exportJson,
  exportParquet,
  importArrow,
  importParquet,
  importLexicon,
  importXlsx,
];
