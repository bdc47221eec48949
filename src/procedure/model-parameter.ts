// Parameters that every training procedure has.
import { Type } from 'typebox';
import { url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';

export const modelFileUrl = url({
  description: 'where the trained model is saved; needed',
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

/** @throws MISSING_PARAMETER when there is no model file, or a function without one */
export function checkModelUrl(
  type: string,
  { modelFileUrl: model, functionName: name }: { modelFileUrl: string; functionName: string },
): void {
  if (model !== '') return;
  if (name !== '') {
    throw failure(
      'MISSING_PARAMETER',
      `${type} requires a valid modelFileUrl when specifying a functionName. modelFileUrl '' is invalid.`,
    );
  }
  throw failure('MISSING_PARAMETER', `${type} requires a modelFileUrl`);
}
