// Parameters that every training procedure has.
import { Type } from 'typebox';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';

export const modelFileUrl = url({
  description: 'where the trained model is saved',
  default: '',
  isNeeded: true,
});

/** Of procedures that have outputs beside the model. */
export const optionalModelFileUrl = url({
  description: 'where the trained model is saved; empty: nowhere',
  default: '',
});

export const functionName = Type.String({
  description: 'id of the function that the run creates or replaces; empty: none',
  default: '',
});

export const randomSeed = Type.Integer({
  description: 'seed of everything that is drawn; equal seeds give equal models',
  minimum: 0,
  default: 1,
});

export const redactFeatureStats = Type.Boolean({
  description: 'leave the statistics of features out of the model card',
  default: false,
});

interface ModelParams {
  readonly modelFileUrl: string;
  readonly functionName: string;
}

/** @throws MISSING_PARAMETER when there is no model file, or a function without one */
export function checkModelUrl(type: string, params: ModelParams): void {
  checkFunctionUrl(type, params);
  if (params.modelFileUrl === '') {
    throw failure('MISSING_PARAMETER', `${type} requires a modelFileUrl`);
  }
}

/** @throws MISSING_PARAMETER for a function without a model file to make it from */
export function checkFunctionUrl(
  type: string,
  { modelFileUrl: model, functionName: name }: ModelParams,
): void {
  if (model !== '' || name === '') return;
  throw failure(
    'MISSING_PARAMETER',
    `${type} requires a valid modelFileUrl when specifying a functionName. modelFileUrl '' is invalid.`,
  );
}
