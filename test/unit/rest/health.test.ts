// The main thread never computes: health answers whatever the workers do.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rowan } from '../../../src/index.ts';
import { HttpClient } from '../../support/http.ts';

const POLL_COUNT = 100;

let rowan: Rowan;
let client: HttpClient;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  client = new HttpClient(await rowan.listen());
  await client.send('GET', '/v1/health');
});

afterAll(async () => {
  client?.close();
  await rowan?.close();
});

test('health answers while workers compute', { timeout: 60_000 }, async () => {
  const abort = new AbortController();
  const from = Array.from({ length: 12 }, (_, i) => `row_dataset({a:1,b:2,c:3,d:4,e:5}) AS t${i}`);
  const sql = `SELECT count(*) FROM ${from.join(' JOIN ')}`;
  const work = rowan.query(sql, { signal: abort.signal }).catch(() => undefined);
  while (rowan.service.engine.activeTaskCount === 0) await pause(5);
  for (let i = 0; i < POLL_COUNT; i++) {
    expect((await client.send('GET', '/v1/health')).status).toBe(200);
  }
  expect(rowan.service.engine.activeTaskCount).toBe(1);
  abort.abort();
  await work;
});

test('health answers HEAD, and names the version', async () => {
  const { status, text } = await client.send('HEAD', '/v1/health');
  expect([status, text]).toEqual([200, '']);
  const { ready, version } = JSON.parse((await client.send('GET', '/v1/health')).text);
  expect([ready, version]).toEqual([true, expect.stringMatching(/^\d/)]);
});

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
