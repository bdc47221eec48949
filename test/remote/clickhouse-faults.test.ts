// ClickHouse: what servers that fail leave behind, and what is said about it.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ClickhouseServer,
  findClickhouse,
  hasSmallDisks,
  startClickhouse,
} from '../support/clickhouse.ts';
import { openRowan, type TestService } from '../support/rowan.ts';
import { serviceCalls } from '../support/service-calls.ts';
import { canTest } from '../support/services.ts';

const DISK_MEGABYTES = 10;

describe.runIf(canTest('ClickHouse', findClickhouse()))('faults of ClickHouse', () => {
  const canFill = hasSmallDisks();
  let servers: readonly ClickhouseServer[] = [];
  let first: ClickhouseServer;
  let second: ClickhouseServer;
  let rowan: TestService;
  const { perform, put } = serviceCalls(() => rowan);

  beforeAll(async () => {
    const disk = canFill ? { diskMegabytes: DISK_MEGABYTES } : {};
    [servers, rowan] = await Promise.all([startClickhouse(2, disk), openRowan()]);
    [first, second] = servers as [ClickhouseServer, ClickhouseServer];
    for (const each of servers) {
      await each.run(
        'CREATE TABLE part ENGINE = MergeTree ORDER BY n AS SELECT number AS n FROM system.numbers LIMIT 1000',
      );
      await each.run('CREATE VIEW endless AS SELECT number AS n FROM system.numbers');
    }
    for (const table of ['part', 'endless']) {
      await first.run(
        `CREATE TABLE all_${table} AS ${table} ENGINE = Distributed(shards, default, ${table})`,
      );
      await put(`datasets/all_${table}`, {
        type: 'clickhouse',
        params: { url: first.url, table: `all_${table}`, timeoutSeconds: 1 },
      });
    }
  }, 120_000);

  afterAll(async () => {
    await rowan?.close();
    await Promise.all(servers.map((each) => each.stop()));
  });

  async function query(q: string) {
    const { json, status } = await perform('GET', 'query', { q, format: 'aos' });
    return json.error === undefined ? json : `${status} ${json.error}`;
  }

  const sum = () => query('SELECT count(*) AS n, sum(n) AS s FROM all_part');
  const SUMS = [expect.objectContaining({ n: 2000, s: 999_000 })];
  const TOO_SLOW = () =>
    `400 Could not query ClickHouse: no answer from ${first.url} within 1 s (timeoutSeconds)`;

  test('a shard, or a server, that says nothing is waited for as long as timeoutSeconds', async () => {
    for (const stopped of [second, first]) {
      await expect.poll(sum, { timeout: 60_000 }).toEqual(SUMS);
      stopped.signal('SIGSTOP');
      expect(await sum()).toBe(TOO_SLOW());
      stopped.signal('SIGCONT');
    }
    await expect.poll(sum, { timeout: 60_000 }).toEqual(SUMS);
  });

  test.runIf(canFill)(
    'a disk that is full refuses rows, and no part of them stays',
    async () => {
      const params = (table: string) => ({
        url: first.url,
        table,
        rowNameColumn: 'id',
        writable: true,
        createTable: true,
        timeoutSeconds: 60,
      });
      await put('datasets/texts', {
        type: 'clickhouse',
        params: {
          url: first.url,
          query:
            'SELECT toString(number) AS id, concat(hex(SHA256(id)), hex(MD5(id))) AS s FROM system.numbers LIMIT 300000',
          rowNameColumn: 'id',
        },
      });
      const run = async (id: string, inputData: string) => {
        await put(`procedures/${id}`, {
          type: 'transform',
          params: { inputData, outputDataset: { id, type: 'clickhouse', params: params(id) } },
        });
        return perform('POST', `procedures/${id}/runs`, {});
      };
      for (const [id, sql] of [
        // Inside the server, and by way of Rowan.
        ['copied', 'SELECT s FROM texts'],
        ['carried', "SELECT s, upper('a') AS t FROM texts"],
      ] as const) {
        const { status, json } = await run(id, sql);
        expect(status, id).toBe(400);
        expect(JSON.stringify(json), id).toMatch(
          /Could not insert data in ClickHouse table: .*(?:No space left|Not enough space|Cannot reserve)/,
        );
        expect(await first.run(`EXISTS TABLE ${id}`), id).toBe('0\n');
        expect((await perform('GET', 'datasets')).json).not.toContain(id);
      }
      await expect.poll(sum, { timeout: 60_000 }).toEqual(SUMS);
      // What was there before stays, also when rows for it are refused.
      await first.run('CREATE TABLE older (id String, s String) ENGINE = MergeTree ORDER BY id');
      expect((await run('older', 'SELECT s FROM texts')).status).toBe(400);
      expect(await first.run('EXISTS TABLE older')).toBe('1\n');
      await first.run('DROP TABLE older');
    },
    120_000,
  );

  test('a shard that dies in the middle of a query ends it', async () => {
    await put('datasets/all_endless', {
      type: 'clickhouse',
      params: { url: first.url, table: 'all_endless', timeoutSeconds: 60 },
    });
    const running = query('SELECT sum(n) AS s FROM all_endless WHERE n % 7 = 1');
    const busy = () =>
      second.run(
        "SELECT count() FROM system.processes WHERE query LIKE '%endless%' AND query NOT LIKE '%processes%'",
      );
    await expect.poll(busy, { timeout: 9_000 }).toBe('1\n');
    await second.kill();
    expect(await running).toMatch(
      /^400 Could not query ClickHouse: .*(?:eof|reset|closed|refused)/i,
    );
    // The other shard goes on answering for what it has.
    expect(await first.run('SELECT count() FROM part')).toBe('1000\n');
    await expect
      .poll(sum, { timeout: 60_000 })
      .toMatch(/^400 Could not query ClickHouse: .*Connection refused/s);
  }, 120_000);
});
