// The procedure types that come with the service.

import { classifierExperiment } from './classifier/classifier-experiment.ts';
import { classifierFolds } from './classifier/classifier-folds.ts';
import { classifierImportance } from './classifier/classifier-importance.ts';
import { classifierTest } from './classifier/classifier-test.ts';
import { classifierTrain } from './classifier/classifier-train.ts';
import { modelExport } from './classifier/model-export.ts';
import { modelImport } from './classifier/model-import.ts';
import { probabilizerTrain } from './classifier/probabilizer-train.ts';
import { randomForestBinaryTrain } from './classifier/randomforest-binary-train.ts';
import { svmTrain } from './classifier/svm-train.ts';
import { createEntity } from './create-entity.ts';
import { exportArrow } from './export/export-arrow.ts';
import { exportCsv } from './export/export-csv.ts';
import { exportJson } from './export/export-json.ts';
import { exportParquet } from './export/export-parquet.ts';
import { importArrow } from './import/import-arrow.ts';
import { importDocdb } from './import/import-docdb.ts';
import { importJson } from './import/import-json.ts';
import { importLexicon } from './import/import-lexicon.ts';
import { importParquet } from './import/import-parquet.ts';
import { importPostgresql } from './import/import-postgresql.ts';
import { importRepo } from './import/import-repo.ts';
import { importSqlite } from './import/import-sqlite.ts';
import { importText } from './import/import-text.ts';
import { importVectors } from './import/import-vectors.ts';
import { importXlsx } from './import/import-xlsx.ts';
import { listFiles } from './list-files.ts';
import { mock } from './mock.ts';
import { nullProcedure } from './null.ts';
import { permuterRun } from './permuter-run.ts';
import { gaussianClusteringTrain } from './points/gaussianclustering-train.ts';
import { kmeansTrain } from './points/kmeans-train.ts';
import { svdTrain } from './points/svd-train.ts';
import { tsneTrain } from './points/tsne-train.ts';
import { umapTrain } from './points/umap-train.ts';
import type { ProcedureType } from './procedure-type.ts';
import { bucketize } from './reshape/bucketize.ts';
import { melt } from './reshape/melt.ts';
import { ranking } from './reshape/ranking.ts';
import { split } from './reshape/split.ts';
import { transform } from './reshape/transform.ts';
import { serialProcedure } from './serial.ts';
import { datasetStats } from './statistics/dataset-stats.ts';
import { distTableTrain } from './statistics/dist-table-train.ts';
import { statsTableBagOfWordsTrain } from './statistics/stats-table-bag-of-words-train.ts';
import { statsTableDerivedColumns } from './statistics/stats-table-derived-columns.ts';
import { statsTableTrain } from './statistics/stats-table-train.ts';
import { summaryStatistics } from './statistics/summary-statistics.ts';
import { tfidfTrain } from './statistics/tfidf-train.ts';

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
  modelExport,
  modelImport,
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
  importSqlite,
  importXlsx,
  importRepo,
  importDocdb,
  importPostgresql,
];
