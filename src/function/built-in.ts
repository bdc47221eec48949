// The function types that come with the service.

import { docdbQuery } from './docdb-query.ts';
import { fetcherFunction } from './fetcher.ts';
import type { FunctionType } from './function-type.ts';
import { imageProximateVoxels, imageReadPixels } from './image/image-pixels.ts';
import { classifier } from './model/classifier.ts';
import { classifierExplain } from './model/classifier-explain.ts';
import { distTableGetStats } from './model/dist-table-get-stats.ts';
import { embeddingNeighbors } from './model/embedding-neighbors.ts';
import { featureHasher } from './model/feature-hasher.ts';
import { gaussianClustering } from './model/gaussianclustering.ts';
import { kmeans } from './model/kmeans.ts';
import { tsneEmbedRow, umapEmbedRow } from './model/layout-embed-row.ts';
import { onnx } from './model/onnx.ts';
import { probabilizer } from './model/probabilizer.ts';
import { statsTableGetCounts } from './model/stats-table-get-counts.ts';
import { statsTablePosneg } from './model/stats-table-posneg.ts';
import { svdEmbedRow } from './model/svd-embed-row.ts';
import { svm } from './model/svm.ts';
import { tfidf } from './model/tfidf.ts';
import { pooling } from './pooling.ts';
import { postgresqlQuery } from './postgresql-query.ts';
import { scriptApply } from './script-apply.ts';
import { serialFunction } from './serial.ts';
import { sqlExpression } from './sql-expression.ts';
import { sqlQuery } from './sql-query.ts';
import { filterStopwords } from './text/filter-stopwords.ts';
import { htmlExtractLinks, htmlParse } from './text/html.ts';
import { httpUseragent } from './text/http-useragent.ts';
import { stemmer, stemmerdoc } from './text/stemmer.ts';
import { tokensplit } from './text/tokensplit.ts';

export const FUNCTION_TYPES: readonly FunctionType[] = [
  classifier,
  distTableGetStats,
  docdbQuery,
  embeddingNeighbors,
  featureHasher,
  fetcherFunction,
  filterStopwords,
  classifierExplain,
  gaussianClustering,
  htmlExtractLinks,
  htmlParse,
  httpUseragent,
  imageProximateVoxels,
  imageReadPixels,
  kmeans,
  onnx,
  pooling,
  postgresqlQuery,
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
