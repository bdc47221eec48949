// Layouts as models: the points that were laid out, where, and how new ones join them.
import { decodeArray, encodeArray } from '../model/base64.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readNumber,
} from '../model/container.ts';
import { readColumnNames } from '../model/points-model.ts';

const VERSION = 1;

export interface LayoutModel {
  readonly columnNames: readonly string[];
  /** the training points, row by row */
  readonly points: Float64Array;
  /** where they lie, `dimension` numbers a point */
  readonly positions: Float64Array;
  readonly dimension: number;
}

/** @param kind the function type that the file makes */
export function layoutToJson(kind: string, model: LayoutModel, more: JsonObject): JsonObject {
  const { columnNames, points, positions, dimension } = model;
  return makeContainer(kind, VERSION, columnNames, {
    ...more,
    dimension,
    points: encodeArray(points),
    positions: encodeArray(positions),
  });
}

/** @throws DATA_ERROR when it is not what layoutToJson writes for that kind */
export function layoutFromJson(
  kind: string,
  json: unknown,
): { readonly model: LayoutModel; readonly file: JsonObject } {
  const file = openContainer(json, kind, VERSION);
  const columnNames = readColumnNames(file);
  const dimension = readNumber(file.dimension, 'dimension', 1);
  const points = shared(decodeArray(file.points, 'f64', 'points'));
  const positions = shared(decodeArray(file.positions, 'f64', 'positions'));
  const width = columnNames.length;
  if (points.length * dimension !== positions.length * width) {
    throw invalidMember('positions', 'one for each point');
  }
  return { model: { columnNames, points, positions, dimension }, file };
}

/** A copy that threads can share instead of copying it. */
function shared(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}

export interface NearestPoints {
  /** nearest first */
  readonly rows: readonly number[];
  readonly distances: Float64Array;
}

/** The `count` training points that are nearest to a point. Cost: rows x dimension. */
export function nearestTrainingPoints(
  { points }: Pick<LayoutModel, 'points'>,
  point: Float64Array,
  count: number,
): NearestPoints {
  const width = point.length;
  const rowCount = points.length / width;
  const rows: number[] = [];
  const squares: number[] = [];
  let limit = Number.POSITIVE_INFINITY;
  for (let row = 0; row < rowCount; row++) {
    let sum = 0;
    const start = row * width;
    for (let j = 0; j < width && sum < limit; j++) {
      const difference = (points[start + j] as number) - (point[j] as number);
      sum += difference * difference;
    }
    if (sum >= limit) continue;
    let at = Math.min(rows.length, count - 1);
    while (at > 0 && (squares[at - 1] as number) > sum) {
      squares[at] = squares[at - 1] as number;
      rows[at] = rows[at - 1] as number;
      at--;
    }
    squares[at] = sum;
    rows[at] = row;
    if (rows.length === count) limit = squares[count - 1] as number;
  }
  return { rows, distances: Float64Array.from(squares, Math.sqrt) };
}

/** Where a training point lies. */
export function positionOf({ positions, dimension }: LayoutModel, row: number): Float64Array {
  return positions.slice(row * dimension, (row + 1) * dimension);
}

/** The mean of some positions, weighted; weights have a sum of 1. */
export function meanPosition(
  model: LayoutModel,
  rows: readonly number[],
  weights: ArrayLike<number>,
): Float64Array {
  const { positions, dimension } = model;
  const mean = new Float64Array(dimension);
  for (const [index, row] of rows.entries()) {
    for (let j = 0; j < dimension; j++) {
      const value = positions[row * dimension + j] as number;
      mean[j] = (mean[j] as number) + (weights[index] as number) * value;
    }
  }
  return mean;
}
