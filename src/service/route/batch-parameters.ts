// The parameters of a batch of function calls: bound by the route, or in a worker where the body is
// large.
import { failure } from '../../util/error.ts';
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
