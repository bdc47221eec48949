// Scores of a model on the very rows that it, or another member, was trained on.
import { addTreeOutputs } from '../decision-tree/walk.ts';
import type { LearnContext, TrainingData } from '../learner.ts';
import { type Algorithm, mirrorOf, treesOf } from '../model/classifier.ts';
import { prepare, preparedSpans } from '../model/prepare.ts';
import { scoreColumns } from '../model/score.ts';

/** Scores a row: one for each class, or the only one. */
export function trainingScores(
  context: LearnContext,
  data: TrainingData,
  algorithm: Algorithm,
): Float64Array {
  const { matrix, target } = data;
  const labelCount = target.kind === 'classes' ? target.labelCount : 1;
  const trees = treesOf(algorithm);
  if (trees !== undefined) {
    const width = trees[0]?.tree.width ?? 1;
    const sums = new Float64Array(matrix.rowCount * width);
    for (const { tree, weight } of trees) {
      context.checkCancelled();
      addTreeOutputs(context.workspace, matrix, tree, weight, sums);
    }
    return width === labelCount ? sums : mirrored(sums, mirrorOf(algorithm) ?? 0);
  }
  return otherScores(context, data, algorithm, labelCount);
}

function otherScores(
  context: LearnContext,
  { matrix, mode, sources }: TrainingData,
  algorithm: Algorithm,
  labelCount: number,
): Float64Array {
  const { workspace } = context;
  const { features, rowCount } = matrix;
  const prepared = prepare(workspace, features, algorithm, matrix.span.arena);
  try {
    const labels = Array.from({ length: labelCount }, (_, label) => String(label));
    const named = mode === 'categorical' ? labels : [];
    const model = { mode, labels: named, features };
    const scores = scoreColumns(context, { model, prepared }, sources, rowCount);
    return scores.length === rowCount * labelCount
      ? scores
      : mirrored(scores, mirrorOf(algorithm) ?? 0);
  } finally {
    if (algorithm.type !== 'gbt' && algorithm.type !== 'random_forest') {
      for (const span of preparedSpans(prepared)) workspace.memory.free(span);
    }
  }
}

/** Two scores a row from that of the second class. */
function mirrored(scores: Float64Array, whole: number): Float64Array {
  const both = new Float64Array(scores.length * 2);
  for (let row = 0; row < scores.length; row++) {
    both[2 * row] = whole - (scores[row] as number);
    both[2 * row + 1] = scores[row] as number;
  }
  return both;
}
