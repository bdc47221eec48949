// The learner that learns nothing, to compare others with.
import { Type } from 'typebox';
import type { Learner } from '../learner.ts';

export const nullLearner: Learner = {
  type: 'null',
  summary: 'learns nothing: the first label always wins',
  modes: ['boolean', 'regression', 'categorical'],
  coding: 'none',
  options: Type.Object({}),
  fit: () => ({ type: 'null' }),
};
