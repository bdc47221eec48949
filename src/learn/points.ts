// Points of a space in shared memory, column by column, as clusterings and projections take them.
import { POINT_GROUP } from '../kernel/generated.ts';
import type { Span } from '../value/column/snapshot.ts';
import type { Workspace } from './workspace.ts';

/** Plain data: can be posted to other threads, which see the same memory. */
export interface Points {
  readonly rowCount: number;
  readonly dimension: number;
  /** dimension columns of f64, `stride` bytes apart */
  readonly span: Span;
  readonly stride: number;
}

/** Room for points, all zero. The span is the caller's to free. */
export function allocatePoints(
  workspace: Workspace,
  rowCount: number,
  dimension: number,
  arena?: number,
): Points {
  const stride = Math.ceil(rowCount / POINT_GROUP) * POINT_GROUP * 8;
  const size = Math.max(16, stride * dimension);
  const { memory } = workspace;
  const span = arena === undefined ? memory.allocate(size) : memory.allocateIn(arena, size);
  new Uint8Array(memory.get(span.arena).memory.buffer, span.offset, size).fill(0);
  return { rowCount, dimension, span, stride };
}

/** The columns as arrays over the shared memory. */
export function pointColumns(workspace: Workspace, points: Points): Float64Array[] {
  const { buffer } = workspace.memory.get(points.span.arena).memory;
  return Array.from(
    { length: points.dimension },
    (_, j) => new Float64Array(buffer, points.span.offset + j * points.stride, points.rowCount),
  );
}

/** The coordinates of one point. */
export function pointAt(columns: readonly Float64Array[], row: number): Float64Array {
  return Float64Array.from(columns, (column) => column[row] as number);
}

/**
 * Rows of one unit of work, from the number of rows alone: results are put together unit by unit,
 * so they do not depend on how many threads there are. At most 64 units, each of whole groups.
 */
export function unitRowCount(rowCount: number): number {
  const rows = Math.max(8192, Math.ceil(rowCount / 64));
  return Math.ceil(rows / POINT_GROUP) * POINT_GROUP;
}

/** Lengths of the points as vectors. */
export function norms(columns: readonly Float64Array[], rowCount: number): Float64Array {
  const sums = new Float64Array(rowCount);
  for (const column of columns) {
    for (let row = 0; row < rowCount; row++) {
      const value = column[row] as number;
      sums[row] = (sums[row] as number) + value * value;
    }
  }
  return sums.map(Math.sqrt);
}

/** Each point divided by its length, and the numbers of those that have none; the span is the caller's to free. */
export function unitPoints(
  workspace: Workspace,
  points: Points,
): { readonly points: Points; readonly zeroRows: readonly number[] } {
  const { rowCount, dimension, span } = points;
  const source = pointColumns(workspace, points);
  const lengths = norms(source, rowCount);
  const unit = allocatePoints(workspace, rowCount, dimension, span.arena);
  for (const [j, target] of pointColumns(workspace, unit).entries()) {
    const column = source[j] as Float64Array;
    for (let row = 0; row < rowCount; row++) {
      target[row] = (column[row] as number) / ((lengths[row] as number) || 1);
    }
  }
  const zeroRows: number[] = [];
  for (let row = 0; row < rowCount; row++) if (lengths[row] === 0) zeroRows.push(row);
  return { points: unit, zeroRows };
}

/** Squared Euclidean distance of the point `row` of columns to a center. */
export function squaredDistanceAt(
  columns: readonly Float64Array[],
  row: number,
  center: Float64Array,
): number {
  let sum = 0;
  for (let j = 0; j < center.length; j++) {
    const difference = ((columns[j] as Float64Array)[row] as number) - (center[j] as number);
    sum += difference * difference;
  }
  return sum;
}
