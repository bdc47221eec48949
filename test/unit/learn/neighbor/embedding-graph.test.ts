import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

const ROW_COUNT = 2000;
const WIDTH = 16;

let directory: string;
let rowan: Rowan;

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const random = randomNumbers(7);
const points = Array.from({ length: ROW_COUNT }, () => Array.from({ length: WIDTH }, random));

const rowsOf = (from: number, to: number) =>
  points
    .slice(from, to)
    .map((point, i) => [`p${from + i}`, point.map((x, column) => [`x${column}`, x, 0])]);

async function ok(reply: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await reply;
  expect(`${status} ${status < 300 ? '' : text}`).toMatch(/^20/);
}

async function create(id: string, params: object): Promise<void> {
  await ok(rowan.put(`/v1/datasets/${id}`, { type: 'embedding', params }));
}

async function commit(id: string, from: number, to: number): Promise<void> {
  await ok(rowan.post(`/v1/datasets/${id}/multirows`, rowsOf(from, to)));
  await ok(rowan.post(`/v1/datasets/${id}/commit`, {}));
}

async function indexOf(id: string): Promise<Record<string, unknown> | undefined> {
  const { json } = await rowan.get(`/v1/datasets/${id}`);
  return (json as { status?: { index: Record<string, unknown> } }).status?.index;
}

async function neighbors(fn: string, input: object): Promise<string[]> {
  const members = Object.entries(input).map(([name, value]) =>
    typeof value === 'string' ? `${name}: '${value}'` : `${name}: ${JSON.stringify(value)}`,
  );
  const sql = `SELECT print_json(${fn}({${members.join(', ')}})[neighbors]) AS x`;
  return JSON.parse((await rowan.query(sql, { format: 'atom' })) as string) as string[];
}

function isSame(a: readonly string[], b: readonly string[]): number {
  return a.filter((name) => b.includes(name)).length;
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rowan-graph-'));
  rowan = await Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
});
afterAll(async () => {
  await rowan.close();
  await rm(directory, { recursive: true });
});

describe.each(['euclidean', 'cosine'])('a graph of %s distances', (metric) => {
  const id = `${metric}_graph`;

  beforeAll(async () => {
    await create(id, { metric, index: 'hnsw', efConstruction: 60 });
    await commit(id, 0, ROW_COUNT / 2);
    await commit(id, ROW_COUNT / 2, ROW_COUNT);
    await ok(
      rowan.put(`/v1/functions/${metric}`, {
        type: 'embedding.neighbors',
        params: { dataset: id },
      }),
    );
  });

  test('says how good it is', async () => {
    const index = await indexOf(id);
    expect(index).toMatchObject({
      type: 'hnsw',
      parameters: { M: 16, efConstruction: 60, efSearch: 64, randomSeed: 1 },
      recallSample: 1000,
    });
    expect(index?.recallAt10).toBeGreaterThan(0.95);
    expect(index?.buildSecs).toBeGreaterThan(0);
  });

  test('finds what looking at all rows finds, rows of both commits', async () => {
    let found = 0;
    for (let row = 5; row < ROW_COUNT; row += 97) {
      const name = `p${row}`;
      const truth = await neighbors(metric, { coords: name, exact: true });
      const near = await neighbors(metric, { coords: name });
      expect(near[0]).toBe(name);
      expect(near).toHaveLength(10);
      found += isSame(near, truth);
    }
    expect(found / 210).toBeGreaterThan(0.9);
  });

  test('the same neighbors and distances where all are kept in sight', async () => {
    for (const [input, all] of [
      [{ coords: points[3], numNeighbors: 7 }, 7],
      [{ coords: 'p9', numNeighbors: 500, maxDistance: 10 }, 500],
      [{ coords: 'p9', numNeighbors: ROW_COUNT }, ROW_COUNT],
      [{ coords: 'p9', numNeighbors: 0 }, 0],
    ] as const) {
      const exact = await neighbors(metric, { ...input, exact: true });
      expect(exact).toHaveLength(all);
      expect(await neighbors(metric, { ...input, efSearch: ROW_COUNT })).toEqual(exact);
    }
  });

  test('fewer in sight find less', async () => {
    let found = 0;
    for (let row = 0; row < 20; row++) {
      const truth = await neighbors(metric, { coords: points[row], exact: true });
      found += isSame(await neighbors(metric, { coords: points[row], efSearch: 1 }), truth);
    }
    expect(found).toBeLessThan(200);
  });
});

test('a graph comes back after a restart', async () => {
  await create('kept', { index: 'hnsw', M: 8, efConstruction: 40, efSearch: 50 });
  await commit('kept', 0, 300);
  const { buildSecs: _, ...before } = (await indexOf('kept')) ?? {};
  await rowan.close();
  rowan = await Rowan.open({ dataDir: join(directory, 'data'), workers: 1 });
  const params = { dataset: 'kept', efSearch: 300 };
  await ok(rowan.put('/v1/functions/after', { type: 'embedding.neighbors', params }));
  expect(await neighbors('after', { coords: 'p17', numNeighbors: 5 })).toEqual(
    await neighbors('after', { coords: 'p17', numNeighbors: 5, exact: true }),
  );
  const { buildSecs: __, ...after } = (await indexOf('kept')) ?? {};
  expect(after).toEqual(before);
});

test('what a procedure makes has a graph too', async () => {
  await ok(
    rowan.put('/v1/procedures/p', {
      type: 'transform',
      params: {
        inputData: 'SELECT * FROM euclidean_graph',
        outputDataset: { id: 'made', type: 'embedding', params: { index: 'hnsw' } },
        runOnCreation: true,
      },
    }),
  );
  expect(await indexOf('made')).toMatchObject({ type: 'hnsw', recallSample: 1000 });
});

test('exact indexes say how large they are', async () => {
  for (const index of ['flat', 'vptree']) {
    await create('plain', { index });
    expect(await indexOf('plain')).toBeUndefined();
    await commit('plain', 0, 100);
    const size = { rowCount: 100, columnCount: WIDTH, memUsageMb: expect.any(Number) };
    expect(await indexOf('plain')).toEqual({ type: index, ...size });
    await ok(
      rowan.put('/v1/functions/f', { type: 'embedding.neighbors', params: { dataset: 'plain' } }),
    );
    expect((await neighbors('f', { coords: 'p4', numNeighbors: 3 }))[0]).toBe('p4');
  }
});

test('few, equal and zero points', async () => {
  await create('few', { index: 'hnsw', metric: 'cosine' });
  await ok(rowan.post('/v1/datasets/few/commit', {}));
  const rows = ['a', 'b', 'c', 'd'].map((name, i) => [name, [['x', i % 2, 0]]]);
  await ok(rowan.post('/v1/datasets/few/multirows', rows));
  await ok(rowan.post('/v1/datasets/few/commit', {}));
  await ok(
    rowan.put('/v1/functions/f', { type: 'embedding.neighbors', params: { dataset: 'few' } }),
  );
  expect(await neighbors('f', { coords: 'a' })).toEqual(['a', 'c', 'b', 'd']);
});

test.each([
  [{ index: 'tree' }, 'index'],
  [{ index: 'hnsw', M: 1 }, 'M'],
  [{ index: 'hnsw', efSearch: 0 }, 'efSearch'],
])('refuses %j', async (params, name) => {
  const reply = await rowan.put('/v1/datasets/x', { type: 'embedding', params });
  expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(name)]);
});
