// The jobs that learners split over threads; whoever runs threads makes them known to each.
import { expectationJob } from './cluster/gaussian.ts';
import { kmeansJob } from './cluster/kmeans.ts';
import { splitSearchJob, subtreeJob } from './decision-tree/decision-tree.ts';
import { forestTreeJob } from './forest/train-tree.ts';
import { boostGradientJob } from './gbt/objective.ts';
import { boostHistogramJob, boostPartitionJob } from './gbt/row-histograms.ts';
import { linearGramJob } from './glz/problem.ts';
import { layoutForcesJob } from './layout/tsne.ts';
import { nearestPointsJob } from './neighbor/exact.ts';
import { normalProductJob } from './svd/svd.ts';
import { scoreJob } from './tree/scorer.ts';
import type { LearnJob, Workspace } from './workspace.ts';

export function learnJobs(workspace: Workspace): LearnJob<never, unknown>[] {
  return [
    boostGradientJob(workspace),
    boostHistogramJob(workspace),
    boostPartitionJob(workspace),
    forestTreeJob(workspace),
    linearGramJob(workspace),
    splitSearchJob(workspace),
    subtreeJob(workspace),
    scoreJob(workspace),
    kmeansJob(workspace),
    expectationJob(workspace),
    normalProductJob(workspace),
    nearestPointsJob(workspace),
    layoutForcesJob(workspace),
  ];
}
