// The function types that come with the service.
import { classifier } from './classifier.ts';
import type { FunctionType } from './function-type.ts';
import { gaussianClustering } from './gaussianclustering.ts';
import { kmeans } from './kmeans.ts';
import { scriptApply } from './script-apply.ts';
import { serialFunction } from './serial.ts';
import { sqlExpression } from './sql-expression.ts';
import { sqlQuery } from './sql-query.ts';

import { svdEmbedRow } from './svd-embed-row.ts';

export const FUNCTION_TYPES: readonly FunctionType[] = [
  classifier,
  gaussianClustering,
  kmeans,
  scriptApply,
  serialFunction,
  sqlExpression,
  sqlQuery,
  svdEmbedRow,
];
