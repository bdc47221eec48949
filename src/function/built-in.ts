// The function types that come with the service.
import { classifier } from './classifier.ts';
import type { FunctionType } from './function-type.ts';
import { scriptApply } from './script-apply.ts';
import { serialFunction } from './serial.ts';
import { sqlExpression } from './sql-expression.ts';
import { sqlQuery } from './sql-query.ts';

export const FUNCTION_TYPES: readonly FunctionType[] = [
  classifier,
  scriptApply,
  serialFunction,
  sqlExpression,
  sqlQuery,
];
