// Workspaces and tables that the tests of learners share.
import { Type } from 'typebox';
import type { SourceColumn } from '../../../src/learn/feature/source.ts';
import { FOREST_OPTIONS, type ForestOptions } from '../../../src/learn/forest/options.ts';
import { allocatePoints, type Points, pointColumns } from '../../../src/learn/points.ts';
import { Random } from '../../../src/learn/random.ts';
import { type FitContext, makeWorkspace, serialContext } from '../../../src/learn/workspace.ts';
import { parse } from '../../../src/schema/parse.ts';
import type { Atom } from '../../../src/value/atom.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';

export function testArenas(): ArenaSet {
  return ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });
}

export function testContext(arenas = testArenas()): FitContext {
  return serialContext(makeWorkspace(arenas));
}

/** A context that runs the units of every job in another order. */
export function reversedContext(context: FitContext): FitContext {
  return {
    ...context,
    parallel: {
      threadCount: 3,
      run(job, args, unitCount) {
        const units = Array.from({ length: unitCount }, (_, unit) => unitCount - 1 - unit);
        return units.map((unit) => job.execute(args, unit, context)).reverse();
      },
    },
  };
}

export function numbers(name: string, values: readonly (number | null)[]): SourceColumn {
  const array = Float64Array.from(values, (value) => value ?? Number.NaN);
  return { kind: 'numbers', name, pieces: [{ values: array }] };
}

export function texts(name: string, values: readonly (Atom | undefined)[]): SourceColumn {
  const entries: Atom[] = [];
  const codes = Uint16Array.from(values, (value) => {
    if (value === null || value === undefined) return 0;
    const known = entries.indexOf(value);
    return known >= 0 ? known + 1 : entries.push(value);
  });
  return { kind: 'codes', name, pieces: [codes], entries };
}

/** Flights: hour, distance, carrier and airport, and whether they are late, in four of ten cases. */
export function flights(rowCount: number, seed: number) {
  const world = Random.of(99);
  const carrierEffects = Float64Array.from({ length: 12 }, () => world.uniform() * 2 - 1);
  const airportEffects = Float64Array.from({ length: 80 }, () => world.uniform() * 2 - 1);
  const random = Random.of(seed);
  const labels = new Uint8Array(rowCount);
  const hours: (number | null)[] = [];
  const distances: number[] = [];
  const carriers: string[] = [];
  const airports: (string | null)[] = [];
  for (let row = 0; row < rowCount; row++) {
    const hour = random.below(24);
    const distance = 50 + random.below(3000);
    const carrier = random.below(carrierEffects.length);
    const airport = random.below(airportEffects.length);
    const score =
      hour / 8 -
      2 +
      1.5 * (carrierEffects[carrier] as number) +
      1.5 * (airportEffects[airport] as number);
    labels[row] = random.uniform() < 1 / (1 + Math.exp(-score)) ? 1 : 0;
    hours.push(random.uniform() < 0.05 ? null : hour);
    distances.push(distance);
    carriers.push(`C${carrier}`);
    airports.push(random.uniform() < 0.05 ? null : `A${airport}`);
  }
  const sources = [
    texts('airport', airports),
    texts('carrier', carriers),
    numbers('distance', distances),
    numbers('hour', hours),
  ];
  const rows = hours.map((hour, row): (Atom | undefined)[] => [
    airports[row],
    carriers[row],
    distances[row],
    hour,
  ]);
  return { sources, labels, rows };
}

/** Lends rows of coordinates as points. */
export function placePoints<Result>(
  { workspace }: FitContext,
  rows: readonly (readonly number[])[],
  use: (points: Points) => Result,
): Result {
  const points = allocatePoints(workspace, rows.length, rows[0]?.length ?? 0);
  try {
    for (const [j, column] of pointColumns(workspace, points).entries()) {
      column.set(rows.map((row) => row[j] as number));
    }
    return use(points);
  } finally {
    workspace.memory.free(points.span);
  }
}

/** Points around a few centres that lie 20 deviations apart. */
export function blobs(count: number, size: number, dimension: number): number[][] {
  const random = Random.of(11);
  const normal = () =>
    Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
  return Array.from({ length: count * size }, (_, i) =>
    Array.from({ length: dimension }, (_, j) => normal() + (j === i % count ? 20 : 0)),
  );
}

/** The `k` nearest other rows of a row, nearest first. */
export function plainNearest(rows: readonly ArrayLike<number>[], row: number): number[] {
  const own = rows[row] as ArrayLike<number>;
  const distance = (other: ArrayLike<number>) =>
    Array.from(own, (value, j) => (value - (other[j] as number)) ** 2).reduce((a, b) => a + b, 0);
  return [...rows.keys()]
    .filter((other) => other !== row)
    .map((other) => ({ other, d: distance(rows[other] as ArrayLike<number>) }))
    .sort((a, b) => a.d - b.d)
    .map(({ other }) => other);
}

/**
 * How far the neighbours in a layout are neighbours in space: 1 when all are.
 * @see Venna & Kaski, "Neighborhood preservation in nonlinear projection methods", 2001
 */
export function trustworthiness(
  rows: readonly (readonly number[])[],
  positions: Float64Array,
  dimension: number,
  k: number,
): number {
  const n = rows.length;
  const laid = rows.map((_, i) => positions.subarray(i * dimension, (i + 1) * dimension));
  let penalty = 0;
  for (const row of rows.keys()) {
    const ranks = new Map(plainNearest(rows, row).map((other, rank) => [other, rank + 1]));
    for (const other of plainNearest(laid, row).slice(0, k)) {
      penalty += Math.max(0, (ranks.get(other) as number) - k);
    }
  }
  return 1 - (2 / (n * k * (2 * n - 3 * k - 1))) * penalty;
}

export const FOREST_DEFAULTS: ForestOptions = {
  ...parse(Type.Object(FOREST_OPTIONS), {}, 'options'),
  randomSeed: 1,
};
