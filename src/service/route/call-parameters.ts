// The parameters of calls of functions, one or many: bound by the route, or in a worker where the
// body is large.
import { Type } from 'typebox';
import { failure } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';
import type { Application, ApplicationFormat } from '../engine/engine-task.ts';
import type { ParameterValues } from './route.ts';

export const BATCH_PARAMETERS = {
  input: Type.Unknown({ description: 'array or object of inputs', default: null }),
  inputFormat: Type.String({ description: 'json', default: 'json' }),
  outputFormat: Type.String({ description: 'json', default: 'json' }),
};

export type BatchValues = ParameterValues<typeof BATCH_PARAMETERS>;

/** @throws INVALID_PARAMETER for a format that is none */
export function batchInputOf(values: BatchValues): unknown {
  for (const direction of ['input', 'output'] as const) {
    const format = values[`${direction}Format`];
    if (format === 'json') continue;
    throw failure(
      'INVALID_PARAMETER',
      `batch apply only accepts 'json' ${direction} format currently; got '${format}'`,
    );
  }
  return values.input;
}

export const APPLICATION_PARAMETERS = {
  input: Type.Unknown({ description: 'object: input name to value', default: {} }),
  keepValues: Type.Unknown({
    description: 'names of the outputs to answer, in this order; empty: all',
    default: [],
  }),
  outputFormat: Type.String({ description: 'compat or json', default: 'compat' }),
};

export type ApplicationValues = ParameterValues<typeof APPLICATION_PARAMETERS>;

/** @throws INVALID_PARAMETER for a format that is none, and names that are no texts */
export function applicationOf(values: ApplicationValues): Application {
  const { input, keepValues, outputFormat } = values;
  return {
    input,
    keepValues: namesOf(keepValues),
    format: applicationFormat(outputFormat),
  };
}

function applicationFormat(text: string): ApplicationFormat {
  if (text === 'compat' || text === 'json') return text;
  throw failure(
    'INVALID_PARAMETER',
    `Unknown 'format' for application call: got ${text}, accepted is  'compat' or 'json'.`,
  );
}

function namesOf(json: unknown): string[] {
  if (Array.isArray(json) && json.every((name) => typeof name === 'string')) return json;
  throw failure(
    'INVALID_PARAMETER',
    `parameter 'keepValues': Array of strings was expected; instead got '${previewJson(json)}'`,
  );
}
