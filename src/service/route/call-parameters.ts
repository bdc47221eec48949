// The parameters of calls of functions, one or many: bound by the route, or in a worker where the
// body is large.
import { failure } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';
import type { Application, ApplicationFormat } from '../engine/engine-task.ts';
import type { ParameterSet } from './route.ts';

export const BATCH_PARAMETERS: ParameterSet = {
  input: { type: 'json', description: 'array or object of inputs', default: null },
  inputFormat: { type: 'text', description: 'json', default: 'json' },
  outputFormat: { type: 'text', description: 'json', default: 'json' },
};

/** @throws INVALID_PARAMETER for a format that is none */
export function batchInputOf(values: Readonly<Record<string, unknown>>): unknown {
  for (const direction of ['input', 'output']) {
    const format = values[`${direction}Format`];
    if (format === 'json') continue;
    throw failure(
      'INVALID_PARAMETER',
      `batch apply only accepts 'json' ${direction} format currently; got '${format}'`,
    );
  }
  return values.input;
}

export const APPLICATION_PARAMETERS: ParameterSet = {
  input: { type: 'json', description: 'object: input name to value', default: {} },
  keepValues: {
    type: 'json',
    description: 'names of the outputs to answer, in this order; empty: all',
    default: [],
  },
  outputFormat: { type: 'text', description: 'compat or json', default: 'compat' },
};

/** @throws INVALID_PARAMETER for a format that is none, and names that are no texts */
export function applicationOf(values: Readonly<Record<string, unknown>>): Application {
  const { input, keepValues, outputFormat } = values;
  return {
    input,
    keepValues: namesOf(keepValues),
    format: applicationFormat(outputFormat as string),
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
