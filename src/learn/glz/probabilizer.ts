// Scores as probabilities: a generalised linear model of one number.

import { makeDesign } from '../design/design.ts';
import type { FitContext } from '../workspace.ts';
import { fitGlz } from './fit.ts';
import type { Link } from './link.ts';

/** Keeps separable scores from running away. */
const RIDGE = 1e-10;

/**
 * Fits target ~ link(slope x score + constant) by weighted likelihood.
 * @returns slope and constant
 * @see Platt, "Probabilistic outputs for support vector machines", 1999
 */
export function fitProbabilizer(
  context: FitContext,
  scores: Float64Array,
  targets: Float64Array,
  weights: Float64Array,
  link: Link,
): readonly [number, number] {
  const columns = {
    features: Int32Array.of(0),
    extracts: Uint8Array.of(0),
    categories: Int32Array.of(-1),
  };
  const values = [{ kind: 'numbers', values: scores } as const];
  const design = makeDesign(context.workspace, columns, values, scores.length);
  try {
    const beta = fitGlz(context, design, targets, weights, {
      link,
      addBias: true,
      normalize: false,
      regularization: 'l2',
      lambda: RIDGE,
      pathLength: 0,
      sweepCountMax: 1,
      epsilon: 1,
      condition: false,
    });
    return [beta[0] as number, beta[1] as number];
  } finally {
    context.workspace.memory.free(design.span);
  }
}
