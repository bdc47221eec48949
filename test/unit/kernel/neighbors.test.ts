import { describe, expect, test } from 'vitest';
import { GRAPH_TASK, GRAPH_TASK_SIZE } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

type Point = readonly number[];

const squaredDistance = (a: Point, b: Point): number =>
  a.reduce((sum, x, i) => sum + (x - (b[i] as number)) ** 2, 0);

/** Room for a graph of points whose numbers are small, so that distances are exact. */
function graphOf(points: readonly Point[], m: number, levels: readonly number[], ef: number) {
  const count = points.length;
  const stride = (points[0] as Point).length;
  const starts: number[] = [];
  let lists = 0;
  for (const level of levels) {
    starts.push(lists);
    lists += level;
  }
  const links = put(new Int32Array(count * (2 * m + 1)));
  const fields: Record<keyof typeof GRAPH_TASK, number> = {
    points: put(Float32Array.from(points.flat())),
    ...{ stride: stride * 4, count, m, links, entry: -1, topLevel: -1 },
    upperStarts: put(Int32Array.from(starts)),
    upper: put(new Int32Array(Math.max(1, lists) * (m + 1))),
    visited: room(Math.ceil(count / 32) * 4),
    beam: room((Math.max(ef, count) + 1) * 8),
    fresh: room((2 * m + 4) * 4),
    chosen: room(2 * m * 4),
    ranked: room((2 * m + 1) * 8),
  };
  const words = new Int32Array(GRAPH_TASK_SIZE / 4);
  for (const [name, value] of Object.entries(fields)) {
    words[GRAPH_TASK[name as keyof typeof GRAPH_TASK] / 4] = value;
  }
  const task = put(words);
  const linked = room(m * 4);
  for (const [point, level] of levels.entries()) {
    kernels.insertIntoGraph(task, point, level, ef, linked);
  }
  const rows = read(Int32Array, links, count * (2 * m + 1));
  const linksOf = (point: number): number[] => {
    const at = point * (2 * m + 1);
    return [...rows.subarray(at + 1, at + 1 + (rows[at] as number))];
  };
  const search = (query: Point, efSearch: number): number[] => {
    const found = room(efSearch * 4);
    const at = put(Float32Array.from(query));
    const foundCount = kernels.searchGraph(task, at, efSearch, found);
    return [...read(Int32Array, found, foundCount)];
  };
  return { linksOf, search };
}

const pointsOf = (draw: Draw, count: number, width: number): Point[] =>
  draw.list(count, () => draw.list(width, () => draw.integer(-40, 40)));

/** Points of which none is nearer to another chosen one than to the query, nearest first. */
function plainChoice(points: readonly Point[], of: number, among: readonly number[]): number[] {
  const distance = (a: number, b: number) =>
    squaredDistance(points[a] as Point, points[b] as Point);
  const chosen: number[] = [];
  for (const point of among) {
    if (chosen.every((other) => distance(point, other) >= distance(point, of))) chosen.push(point);
  }
  return chosen;
}

describe('a graph', () => {
  test('insertIntoGraph links a point to those around it', () => {
    repeat((draw) => {
      const points = pointsOf(draw, draw.integer(1, 20), 8);
      const { linksOf } = graphOf(points, 20, new Array(points.length).fill(0), 20);
      for (const [point, own] of points.entries()) {
        const before = [...points.keys()].slice(0, point);
        const distances = before.map((other) => squaredDistance(own, points[other] as Point));
        // Equally near points have no order among them.
        if (new Set(distances).size < distances.length) continue;
        const sorted = before.sort(
          (a, b) => (distances[a] as number) - (distances[b] as number) || a - b,
        );
        const chosen = plainChoice(points, point, sorted);
        expect(linksOf(point).slice(0, chosen.length)).toEqual(chosen);
        for (const other of chosen) expect(linksOf(other)).toContain(point);
      }
    });
  });

  test('searchGraph finds what links lead to, nearest first', () => {
    repeat((draw) => {
      const count = draw.integer(1, 120);
      const m = draw.integer(2, 5);
      const points = pointsOf(draw, count, draw.pick([4, 12]));
      const levels = draw.list(count, () => (draw.chance(0.2) ? draw.integer(1, 3) : 0));
      const { linksOf, search } = graphOf(points, m, levels, 20);
      const query = draw.pick(points);
      const distances = (found: readonly number[]) =>
        found.map((point) => squaredDistance(points[point] as Point, query));
      const found = search(query, count);
      const reached = new Set(found);
      expect(reached.size).toBe(found.length);
      for (const point of found) {
        const links = linksOf(point);
        expect(links.length).toBeLessThanOrEqual(2 * m);
        expect(links.every((other) => reached.has(other) && other !== point)).toBe(true);
      }
      const sorted = distances(found).sort((a, b) => a - b);
      expect(distances(found)).toEqual(sorted);
      const few = Math.min(count, 3);
      const nearest = distances(search(query, few));
      expect(nearest).toEqual([...nearest].sort((a, b) => a - b));
      expect(nearest).toHaveLength(Math.min(few, found.length));
    });
  });
});

test('nearCodes', () => {
  repeat((draw) => {
    const stride = draw.pick([8, 16, 40]);
    const count = draw.pick([4, 8, 20]);
    const codes = draw.list(count, () => draw.list(stride, () => draw.integer(-127, 127)));
    const query = draw.list(stride, () => draw.integer(-1000, 1000));
    const dot = (a: Point, b: Point) => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
    const scores = codes.map((code) => 2 * dot(code, query) - dot(code, code));
    const limit = draw.pick(scores);
    const found = room(count * 4);
    const from = draw.pick([0, 4]);
    const at = put(new Uint8Array(Int8Array.from(codes.flat()).buffer));
    const squares = put(Int32Array.from(codes.map((code) => dot(code, code))));
    const queryAt = put(new Uint8Array(Int16Array.from(query).buffer));
    const foundCount = kernels.nearCodes(at, squares, stride, from, count, queryAt, limit, found);
    expect([...read(Int32Array, found, foundCount)]).toEqual(
      [...codes.keys()].filter((i) => i >= from && (scores[i] as number) >= limit),
    );
  });
});
