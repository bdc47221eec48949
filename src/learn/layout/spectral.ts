// A first layout from the graph alone: the smoothest functions on it. Parts of the graph that hang
// together are laid out each for itself, where their centres lie in space.
import { ROW_GROUP } from '../../kernel/generated.ts';
import { symmetricEigen } from '../linear-algebra.ts';
import { type Points, pointColumns } from '../points.ts';
import { Random } from '../random.ts';
import { largestEigenpairs } from '../svd/lanczos.ts';
import type { FitContext } from '../workspace.ts';
import type { Edges } from './edges.ts';

const SEED = 1;
/** A part takes this share of the room to its nearest neighbour. */
const PART_SHARE = 0.4;
/** Parts of at most so many points are placed at random around their centre. */
const SMALL_PART = 3;

/** `dimension` numbers a point. @see Belkin & Niyogi, "Laplacian eigenmaps", 2003 */
export function spectralLayout(
  context: FitContext,
  points: Points,
  edges: Edges,
  dimension: number,
): Float64Array {
  const parts = connectedParts(edges);
  const positions = new Float64Array(points.rowCount * dimension);
  const centers =
    parts.length === 1
      ? [new Float64Array(dimension)]
      : centersOf(pointColumns(context.workspace, points), parts, dimension);
  const random = Random.of(SEED);
  for (const [index, part] of parts.entries()) {
    context.checkCancelled();
    const center = centers[index] as Float64Array;
    const radius = parts.length === 1 ? 1 : PART_SHARE * nearestDistance(centers, index);
    const local =
      part.length > Math.max(SMALL_PART, dimension + 1)
        ? smoothest(context, edges, part, dimension, points.span.arena)
        : Float64Array.from({ length: part.length * dimension }, () => random.uniform() - 0.5);
    const largest = local.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
    for (const [i, row] of part.entries()) {
      for (let j = 0; j < dimension; j++) {
        const offset = ((local[i * dimension + j] as number) / largest) * radius;
        positions[row * dimension + j] = (center[j] as number) + offset;
      }
    }
  }
  return positions;
}

/** The points of each connected part, ascending. */
function connectedParts({ starts, ends }: Edges): number[][] {
  const rowCount = starts.length - 1;
  const seen = new Uint8Array(rowCount);
  const parts: number[][] = [];
  for (let row = 0; row < rowCount; row++) {
    if (seen[row] === 1) continue;
    const part = [row];
    seen[row] = 1;
    for (let i = 0; i < part.length; i++) {
      const from = part[i] as number;
      for (let e = starts[from] as number; e < (starts[from + 1] as number); e++) {
        const end = ends[e] as number;
        if (seen[end] === 1) continue;
        seen[end] = 1;
        part.push(end);
      }
    }
    parts.push(part.sort((a, b) => a - b));
  }
  return parts;
}

/** Centres of the parts, projected on the directions in which these differ most. */
function centersOf(
  columns: readonly Float64Array[],
  parts: readonly (readonly number[])[],
  dimension: number,
): Float64Array[] {
  const means = parts.map((part) =>
    Float64Array.from(
      columns,
      (column) => part.reduce((sum, row) => sum + (column[row] as number), 0) / part.length,
    ),
  );
  const width = columns.length;
  const overall = Float64Array.from({ length: width }, (_, j) =>
    means.reduce((sum, mean) => sum + (mean[j] as number) / means.length, 0),
  );
  const shifted = means.map((mean) => mean.map((value, j) => value - (overall[j] as number)));
  const gram = new Float64Array(parts.length ** 2);
  for (const [i, a] of shifted.entries()) {
    for (const [k, b] of shifted.entries()) {
      gram[i * parts.length + k] = a.reduce((sum, value, j) => sum + value * (b[j] as number), 0);
    }
  }
  const { values, vectors } = symmetricEigen(gram, parts.length);
  return parts.map((_, index) =>
    Float64Array.from({ length: dimension }, (__, j) => {
      const value = values[j] ?? 0;
      return value > 0 ? Math.sqrt(value) * (vectors[j]?.[index] as number) : 0;
    }),
  );
}

function nearestDistance(centers: readonly Float64Array[], index: number): number {
  const own = centers[index] as Float64Array;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [other, center] of centers.entries()) {
    if (other === index) continue;
    nearest = Math.min(
      nearest,
      Math.hypot(...center.map((value, j) => value - (own[j] as number))),
    );
  }
  return nearest > 0 && Number.isFinite(nearest) ? nearest : 1;
}

/** The eigenvectors of the normalised adjacency behind the first, which is the same everywhere. */
function smoothest(
  context: FitContext,
  { starts, ends, weights }: Edges,
  part: readonly number[],
  dimension: number,
  arena: number,
): Float64Array {
  const size = part.length;
  const positions = new Map(part.map((row, index) => [row, index]));
  const scale = Float64Array.from(part, (row) => {
    let degree = 0;
    for (let e = starts[row] as number; e < (starts[row + 1] as number); e++) {
      degree += weights[e] as number;
    }
    return 1 / Math.sqrt(degree);
  });
  const { f64 } = context.workspace.memory.get(arena);
  const length = Math.ceil(size / ROW_GROUP) * ROW_GROUP;
  const multiply = (x: number, y: number): void => {
    const from = f64.subarray(x >>> 3, (x >>> 3) + length);
    const to = f64.subarray(y >>> 3, (y >>> 3) + length);
    to.fill(0);
    for (const [i, row] of part.entries()) {
      let sum = 0;
      for (let e = starts[row] as number; e < (starts[row + 1] as number); e++) {
        const other = positions.get(ends[e] as number) as number;
        sum += (weights[e] as number) * (scale[other] as number) * (from[other] as number);
      }
      // Shifted by 1, so that the wanted eigenvalues are the largest in size too.
      to[i] = (from[i] as number) + (scale[i] as number) * sum;
    }
  };
  const { vectors } = largestEigenpairs(context.workspace, multiply, {
    ...{ size, count: dimension + 1, seed: SEED, arena, scope: context },
    // A start needs few digits.
    tolerance: 1e-4,
  });
  const layout = new Float64Array(size * dimension);
  for (let j = 0; j < dimension; j++) {
    const vector = vectors[j + 1] ?? new Float64Array(size);
    for (let i = 0; i < size; i++) layout[i * dimension + j] = vector[i] as number;
  }
  return layout;
}
