// Models over points as model files: clusterings, which are a list of centroids and more.
import type { Gaussian } from '../cluster/gaussian.ts';
import { CLUSTER_METRICS, type ClusterMetric } from '../cluster/kmeans.ts';
import { decodeArray, encodeArray } from './base64.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readText,
} from './container.ts';

const VERSION = 1;

export interface KmeansModel {
  /** printed paths of the coordinates */
  readonly columnNames: readonly string[];
  readonly metric: ClusterMetric;
  readonly centroids: readonly Float64Array[];
}

export function kmeansToJson({ columnNames, metric, centroids }: KmeansModel): JsonObject {
  const block = encodeArray(joined(centroids));
  return makeContainer('kmeans', VERSION, columnNames, { metric, centroids: block });
}

/** @throws DATA_ERROR when it is not what kmeansToJson writes */
export function kmeansFromJson(json: unknown): KmeansModel {
  const file = openContainer(json, 'kmeans', VERSION);
  const columnNames = readColumnNames(file);
  return {
    columnNames,
    metric: readChoice(file.metric, 'metric', CLUSTER_METRICS),
    centroids: readRows(file, 'centroids', columnNames.length),
  };
}

export interface GaussianModel {
  readonly columnNames: readonly string[];
  readonly clusters: readonly Gaussian[];
}

export function gaussiansToJson({ columnNames, clusters }: GaussianModel): JsonObject {
  return makeContainer('gaussianclustering', VERSION, columnNames, {
    means: encodeArray(joined(clusters.map(({ mean }) => mean))),
    covariances: encodeArray(joined(clusters.map(({ covariance }) => covariance))),
  });
}

/** @throws DATA_ERROR when it is not what gaussiansToJson writes */
export function gaussiansFromJson(json: unknown): GaussianModel {
  const file = openContainer(json, 'gaussianclustering', VERSION);
  const columnNames = readColumnNames(file);
  const dimension = columnNames.length;
  const means = readRows(file, 'means', dimension);
  const covariances = readRows(file, 'covariances', dimension * dimension);
  if (means.length !== covariances.length) throw invalidMember('covariances', 'one for each mean');
  const clusters = means.map((mean, index) => ({
    mean,
    covariance: covariances[index] as Float64Array,
  }));
  return { columnNames, clusters };
}

export function readColumnNames(file: JsonObject): string[] {
  return readList(file, 'columnNames').map((name) => readText(name, 'columnNames'));
}

/** All rows in one array. */
export function joined(rows: readonly Float64Array[]): Float64Array {
  const width = rows[0]?.length ?? 0;
  const all = new Float64Array(rows.length * width);
  for (const [index, row] of rows.entries()) all.set(row, index * width);
  return all;
}

/** Rows of `width` numbers from a block. @throws DATA_ERROR when the block has no whole rows */
export function readRows(file: JsonObject, name: string, width: number): Float64Array[] {
  const all = decodeArray(file[name], 'f64', name);
  if (width === 0 || all.length % width !== 0) {
    throw invalidMember(name, `rows of ${width} numbers`);
  }
  return Array.from({ length: all.length / width }, (_, index) =>
    all.slice(index * width, (index + 1) * width),
  );
}
