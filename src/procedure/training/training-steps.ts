// The steps that most training procedures tell of.
import type { StepDeclaration } from '../procedure-type.ts';

export const TRAINING_STEPS: readonly StepDeclaration[] = [
  { name: 'extracting features', type: 'percentile' },
  { name: 'training', type: 'percentile' },
  { name: 'saving model', type: 'percentile' },
];
