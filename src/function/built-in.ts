// The function types that come with the service.
import { classifier } from './classifier.ts';
import { classifierExplain } from './classifier-explain.ts';
import { distTableGetStats } from './dist-table-get-stats.ts';
import { embeddingNeighbors } from './embedding-neighbors.ts';
import { featureHasher } from './feature-hasher.ts';
import { fetcherFunction } from './fetcher.ts';
import { filterStopwords } from './filter-stopwords.ts';
import type { FunctionType } from './function-type.ts';
import { gaussianClustering } from './gaussianclustering.ts';
import { httpUseragent } from './http-useragent.ts';
import { kmeans } from './kmeans.ts';
import { tsneEmbedRow, umapEmbedRow } from './layout-embed-row.ts';
import { pooling } from './pooling.ts';
import { probabilizer } from './probabilizer.ts';
import { scriptApply } from './script-apply.ts';
import { serialFunction } from './serial.ts';
import { sqlExpression } from './sql-expression.ts';
import { sqlQuery } from './sql-query.ts';
import { statsTableGetCounts } from './stats-table-get-counts.ts';
import { statsTablePosneg } from './stats-table-posneg.ts';
import { stemmer, stemmerdoc } from './stemmer.ts';
import { svdEmbedRow } from './svd-embed-row.ts';
import { svm } from './svm.ts';
import { tfidf } from './tfidf.ts';
import { tokensplit } from './tokensplit.ts';

export const FUNCTION_TYPES: readonly FunctionType[] = [
  classifier,
  distTableGetStats,
  embeddingNeighbors,
  featureHasher,
  fetcherFunction,
  filterStopwords,
  classifierExplain,
  gaussianClustering,
  httpUseragent,
  kmeans,
  pooling,
  probabilizer,
  scriptApply,
  serialFunction,
  sqlExpression,
  sqlQuery,
  statsTableGetCounts,
  statsTablePosneg,
  stemmer,
  stemmerdoc,
  svdEmbedRow,
  svm,
  tfidf,
  tokensplit,
  tsneEmbedRow,
  umapEmbedRow,
];
