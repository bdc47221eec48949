// Queries of a table beside the same service with all memory: under 256 MB for 20M rows, and as much
// less for fewer. Answers must agree; the peak of each process is that of its resident set.

import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rowan } from '../../dist/index.js';
import { airlineCsv } from '../data/airline.mjs';

export const description = 'a table that is larger than the memory, beside all memory';

const BYTES_PER_ROW = 256e6 / 20e6;
/** Threads need room for the chunks under their hands. */
const MEMORY_BYTES_MIN = 32e6;
const ALL_COLUMNS =
  'Month, DayofMonth, DayOfWeek, DepTime, UniqueCarrier, Origin, Dest, Distance, dep_delayed_15min';

const QUERIES = [
  "SELECT sum(Distance) AS s FROM air WHERE DepTime > 1200 AND UniqueCarrier = 'AA'",
  'SELECT UniqueCarrier AS c, count(*) AS n, avg(Distance) AS a FROM air GROUP BY UniqueCarrier ORDER BY c',
  'SELECT Distance - Distance % 100 AS b, count(*) AS n FROM air GROUP BY Distance - Distance % 100 ORDER BY b',
  'SELECT count(*) AS n FROM (SELECT Distance * 2 AS d FROM air) AS t WHERE d > 1000',
  'SELECT c, count(*) AS n FROM (SELECT UniqueCarrier AS c FROM air WHERE DepTime > 600) AS u GROUP BY c ORDER BY c',
  "SELECT CASE WHEN DepTime < 600 THEN 'night' ELSE 'day' END AS p, count(*) AS n FROM air GROUP BY CASE WHEN DepTime < 600 THEN 'night' ELSE 'day' END ORDER BY p",
  'SELECT CASE WHEN Distance > 500 THEN Distance * 0.5 ELSE 1.0 END AS p, count(*) AS n FROM air GROUP BY CASE WHEN Distance > 500 THEN Distance * 0.5 ELSE 1.0 END ORDER BY n DESC, p LIMIT 9',
  'SELECT Distance, DepTime, Origin, Dest, count(*) AS n FROM air GROUP BY Distance, DepTime, Origin, Dest ORDER BY n DESC, Distance, DepTime, Origin, Dest LIMIT 9',
  'SELECT count(*) AS n, sum(n) AS s FROM (SELECT Distance, DepTime, Origin, count(*) AS n FROM air GROUP BY Distance, DepTime, Origin) AS g',
  'SELECT Origin + Dest AS k, count(*) AS n FROM air GROUP BY Origin + Dest ORDER BY n DESC, k LIMIT 9',
  'SELECT min(Origin) AS a, max(Dest) AS b FROM air',
  'SELECT d.v AS v, count(*) AS n FROM air AS a JOIN dim AS d ON a.DepTime = d.k GROUP BY d.v ORDER BY v',
  'SELECT d.v AS v, count(*) AS n FROM air AS a LEFT JOIN dim AS d ON a.Distance = d.k GROUP BY d.v ORDER BY v',
  'SELECT e.v AS v, count(*) AS n FROM air AS a JOIN dim AS d ON a.DepTime = d.k JOIN dim AS e ON a.Distance = e.k GROUP BY e.v ORDER BY v',
  'SELECT count(*) AS n FROM air AS a JOIN (SELECT UniqueCarrier AS c, max(Distance) AS m FROM air GROUP BY UniqueCarrier) AS t ON a.UniqueCarrier = t.c AND a.Distance = t.m',
  'SELECT count(*) AS n FROM air WHERE DepTime IN (SELECT k FROM dim WHERE v > 5)',
  'SELECT count(*) AS n FROM (SELECT a.Distance AS x, d.v AS v FROM air AS a JOIN dim AS d ON a.DepTime = d.k LIMIT 10) AS t',
];

const STREAMED = [
  ['SELECT * as csv', 'SELECT * FROM air', 'csv'],
  ['SELECT * as arrow', 'SELECT * FROM air', 'arrow'],
  ['ORDER BY all columns, as csv', `SELECT * FROM air ORDER BY ${ALL_COLUMNS}`, 'csv'],
];

export async function prepare({ rowCount }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'rowan-bench-memory-'));
  await fill(dataDir, rowCount);
  const memoryBytes = Math.max(MEMORY_BYTES_MIN, BYTES_PER_ROW * rowCount);
  const name = `${Math.round(memoryBytes / 1e6)} MB`;
  // A directory belongs to one server.
  const copy = `${dataDir}-copy`;
  cpSync(dataDir, copy, { recursive: true });
  const servers = {
    bounded: await start(dataDir, memoryBytes),
    free: await start(copy, undefined),
  };
  const peaks = new Map();
  const run = (kind, q, format) => async () => {
    const { port, peak } = servers[kind];
    const answer = await timed(port, q, format);
    peaks.set(kind, Math.max(peaks.get(kind) ?? 0, await peak()));
    return answer;
  };
  const measure = (title, q, format, contenders) => ({
    name: title,
    agree: (a, b) => a === b,
    contenders: Object.fromEntries(
      Object.entries(contenders).map(([label, kind]) => [label, run(kind, q, format)]),
    ),
  });
  const both = { [name]: 'bounded', 'all memory': 'free' };
  const all = [...QUERIES.map((q) => [q.slice(0, 70), q, 'ndjson']), ...STREAMED];
  const peakOf = (kind) => () => ({ value: peaks.get(kind) / 1e6 });
  return {
    measures: [
      ...all.map(([title, q, format]) => measure(title, q, format, both)),
      {
        name: 'peak of the resident set',
        unit: 'MB',
        contenders: { [name]: peakOf('bounded'), 'all memory': peakOf('free') },
      },
    ],
    async close() {
      for (const server of Object.values(servers)) await server.stop();
      for (const path of [dataDir, copy]) rmSync(path, { recursive: true, force: true });
    },
  };
}

async function fill(dataDir, rowCount) {
  const rowan = await Rowan.open({ dataDir });
  const make = async (path, config) => {
    const { status, text } = await rowan.put(path, config);
    if (status !== 201) throw new Error(text);
  };
  await make('/v1/procedures/import', {
    type: 'import.text',
    params: {
      ...{ dataFileUrl: `file://${airlineCsv(rowCount, 3)}`, runOnCreation: true },
      outputDataset: { id: 'air', type: 'tabular' },
    },
  });
  await make('/v1/procedures/dim', {
    type: 'transform',
    params: {
      inputData: 'SELECT n AS k, n % 10 AS v FROM generate_series(0, 2399) AS s(n)',
      ...{ outputDataset: { id: 'dim', type: 'tabular' }, runOnCreation: true },
    },
  });
  await rowan.close();
}

async function start(dataDir, memoryBytes) {
  const child = fork(new URL('../serving/kept-server.mjs', import.meta.url), [
    JSON.stringify({ dataDir, memoryBytes }),
  ]);
  const ended = once(child, 'exit');
  const [{ port }] = await Promise.race([
    once(child, 'message'),
    ended.then(([code]) => Promise.reject(new Error(`the server ended with code ${code}`))),
  ]);
  return {
    port,
    async peak() {
      child.send('peak');
      return (await once(child, 'message'))[0];
    },
    async stop() {
      child.kill();
      await ended;
    },
  };
}

/** @returns the time to the last byte, with a checksum of all of them */
async function timed(port, q, format) {
  const started = performance.now();
  const query = new URLSearchParams({ q, format });
  const reply = await fetch(`http://127.0.0.1:${port}/v1/query?${query}`);
  if (reply.status !== 200) throw new Error(`${q}: ${await reply.text()}`);
  const hash = createHash('sha1');
  for await (const bytes of reply.body) hash.update(bytes);
  return { value: performance.now() - started, answer: hash.digest('hex') };
}
