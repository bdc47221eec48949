// The nearest points of all points, by comparing all pairs.
import { POINT_GROUP } from '../../kernel/generated.ts';
import { type Points, unitRowCount } from '../points.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  type Workspace,
  withScratch,
} from '../workspace.ts';

export interface Neighbors {
  /** neighbours of each point */
  readonly count: number;
  /** `count` numbers a point, nearest first */
  readonly indices: Int32Array;
  /** their Euclidean distances */
  readonly distances: Float64Array;
}

interface NeighborTask {
  readonly points: Points;
  readonly unitRows: number;
  readonly count: number;
  readonly indices: number;
  readonly distances: number;
}

/** Rows that are compared between two looks at the cancel flag. */
const ROWS_PER_CHECK = 64;

export function nearestPointsJob(workspace: Workspace): LearnJob<NeighborTask, void> {
  return {
    name: 'learn.nearest-points',
    execute({ points, unitRows, count, indices, distances }, unit, scope) {
      const { span, stride, rowCount, dimension } = points;
      const scratchSize = dimension * 32 + (rowCount + POINT_GROUP) * 32;
      withScratch(workspace, span.arena, scratchSize, (scratch) => {
        const end = Math.min(rowCount, (unit + 1) * unitRows);
        for (let from = unit * unitRows; from < end; from += ROWS_PER_CHECK) {
          scope.checkCancelled();
          const to = Math.min(end, from + ROWS_PER_CHECK);
          workspace
            .kernels(span.arena)
            .nearestPoints(
              ...([span.offset, stride, rowCount, dimension, from, to, count] as const),
              ...([indices, distances, scratch] as const),
            );
        }
      });
    },
  };
}

/**
 * Cost: rows^2 x dimension, spread over the threads.
 * @param count at most one less than there are points
 */
export function nearestNeighbors(context: FitContext, points: Points, count: number): Neighbors {
  const { workspace, parallel } = context;
  const { rowCount, span } = points;
  const unitRows = Math.min(512, unitRowCount(rowCount));
  const unitCount = Math.ceil(rowCount / unitRows);
  const place = (base: number) => {
    const layout = new Layout(base);
    return {
      indices: layout.take(rowCount * count * 4),
      distances: layout.take(rowCount * count * 8),
      layout,
    };
  };
  return withScratch(workspace, span.arena, place(0).layout.sizeBytes, (base) => {
    const { indices, distances } = place(base);
    const job = nearestPointsJob(workspace);
    parallel.run(job, { points, unitRows, count, indices, distances }, unitCount);
    const { buffer } = workspace.memory.get(span.arena).memory;
    return {
      count,
      indices: new Int32Array(buffer, indices, rowCount * count).slice(),
      distances: new Float64Array(buffer, distances, rowCount * count).map(Math.sqrt),
    };
  });
}
