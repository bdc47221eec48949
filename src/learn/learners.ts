// The learners that configurations can name.
import { failure } from '../util/error.ts';
import type { ConfigurationEntry } from './configuration.ts';
import { decisionTreeLearner } from './decision-tree/decision-tree.ts';
import type { Learner } from './learner.ts';

export const LEARNERS: readonly Learner[] = [decisionTreeLearner];

/** @throws INVALID_PARAMETER naming the types that there are */
export function findLearner({ path, type }: ConfigurationEntry): Learner {
  const learner = LEARNERS.find((candidate) => candidate.type === type);
  if (learner !== undefined) return learner;
  const known = LEARNERS.map((candidate) => candidate.type).sort();
  throw failure(
    'INVALID_PARAMETER',
    `unknown classifier type '${type}' at '${path}'; there are ${known.join(', ')}`,
  );
}
