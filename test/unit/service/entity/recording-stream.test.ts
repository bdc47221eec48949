// Recording from streamed bodies, in this process and over HTTP.
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Float64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';
import { recordStream } from '../../../../src/service/entity/recording-stream.ts';

let rowan: Rowan;
let address: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(() => rowan.close());

let count = 0;
async function makeDataset(type = 'sparse.mutable'): Promise<string> {
  const id = `stream${count++}`;
  await rowan.put(`/v1/datasets/${id}`, { type });
  return id;
}

async function committed(id: string, what = 'count(*), sum(v)'): Promise<unknown> {
  await rowan.post(`/v1/datasets/${id}/commit`);
  const table = (await rowan.query(`SELECT ${what} FROM ${id}`)) as unknown[][];
  return table.slice(1).map((row) => row.slice(1));
}

const lineOf = (i: number) => `["r${i}",[["v",${i},0]]]\n`;

async function* linesOf(rowCount: number, bad?: number): AsyncGenerator<Uint8Array> {
  for (let i = 0; i < rowCount; i++) {
    yield new TextEncoder().encode(i === bad ? '["r\n' : lineOf(i));
  }
}

const signal = new AbortController().signal;

describe('blocks', () => {
  test('are recorded one after the other', async () => {
    const id = await makeDataset();
    await recordStream(rowan.service.datasets.get(id), 'ndjson', linesOf(5000), {
      signal,
      blockSize: 10_000,
    });
    expect(await committed(id)).toEqual([[5000, (4999 * 5000) / 2]]);
  });

  test('before a bad one stay, and the line is named', async () => {
    const id = await makeDataset();
    const recording = recordStream(rowan.service.datasets.get(id), 'ndjson', linesOf(900, 700), {
      signal,
      blockSize: 2000,
    });
    await expect(recording).rejects.toMatchObject({ details: { line: 701 } });
    const [[rowCount]] = (await committed(id)) as [[number]];
    expect(rowCount).toBeGreaterThan(0);
    expect(rowCount).toBeLessThan(700);
  });

  test('a line that is no row is named too', async () => {
    const dataset = rowan.service.datasets.get(await makeDataset());
    async function* body() {
      yield new TextEncoder().encode('["r",[]]\n["s",[["x",1]]]\n');
    }
    await expect(recordStream(dataset, 'ndjson', body(), { signal })).rejects.toMatchObject({
      details: { line: 2, cell: 0 },
    });
  });

  test('a short body is recorded as a whole or not at all', async () => {
    const id = await makeDataset();
    const dataset = rowan.service.datasets.get(id);
    await expect(recordStream(dataset, 'ndjson', linesOf(900, 700), { signal })).rejects.toThrow(
      'line 701 of the body is not JSON',
    );
    expect(await committed(id)).toEqual([[0, 0]]);
  });

  test('of one row name twice are refused where names are unique', async () => {
    const id = await makeDataset('structured.mutable');
    const twice = async function* () {
      yield* linesOf(3000);
      yield new TextEncoder().encode(lineOf(7));
    };
    const dataset = rowan.service.datasets.get(id);
    await expect(recordStream(dataset, 'ndjson', twice(), { signal })).rejects.toThrow('r7');
    await recordStream(dataset, 'ndjson', linesOf(3000), { signal });
    expect(await committed(id)).toEqual([[3000, (2999 * 3000) / 2]]);
  });
});

function post(
  path: string,
  type: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
) {
  return fetch(`${address}${path}`, {
    method: 'POST',
    body,
    headers: { 'content-type': type, ...headers },
    ...({ duplex: 'half' } as object),
  });
}

describe('over HTTP', () => {
  test('lines may come compressed and in pieces', async () => {
    const id = await makeDataset();
    let text = '';
    for (let i = 0; i < 20_000; i++) text += lineOf(i);
    const path = `/v1/datasets/${id}/multirows`;
    const packed = gzipSync(text);
    const reply = await post(path, 'application/x-ndjson', packed, { 'content-encoding': 'gzip' });
    expect([reply.status, await reply.text()]).toEqual([200, '']);
    expect(await committed(id)).toEqual([[20_000, (19_999 * 20_000) / 2]]);
  });

  test('an Arrow stream gives rows by name or by number', async () => {
    const id = await makeDataset();
    const path = `/v1/datasets/${id}/multirows`;
    const type = 'application/vnd.apache.arrow.stream';
    const v = vectorFromArray([1, 2, 4], new Float64());
    const named = new Table({ _rowName: vectorFromArray(['a', 'b', 'c'], new Utf8()), v });
    for (const table of [named, new Table({ v })]) {
      const reply = await post(path, type, tableToIPC(table, 'stream'));
      expect([reply.status, await reply.text()]).toEqual([200, '']);
    }
    expect(await committed(id)).toEqual([[6, 14]]);
    expect(await rowan.query(`SELECT v FROM ${id} ORDER BY rowName()`)).toEqual([
      ['_rowName', 'v'],
      ...[
        ['0', 1],
        ['1', 2],
        ['2', 4],
        ['a', 1],
        ['b', 2],
        ['c', 4],
      ],
    ]);
  });

  test('a body that is no stream is refused, and the connection goes on', async () => {
    const id = await makeDataset();
    const path = `/v1/datasets/${id}/multirows`;
    const reply = await post(path, 'application/vnd.apache.arrow.stream', 'x'.repeat(100_000));
    expect(reply.status).toBe(400);
    expect(((await reply.json()) as { error: string }).error).toContain('not an Arrow IPC stream');
    expect((await fetch(`${address}/ping`)).status).toBe(200);
  });

  test('a client that leaves in the middle leaves nothing', async () => {
    const id = await makeDataset();
    const sent = request(`${address}/v1/datasets/${id}/multirows`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    sent.on('error', () => undefined);
    sent.write(lineOf(1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    sent.destroy();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await committed(id)).toEqual([[0, 0]]);
  });

  test('an unknown dataset is told before the body is read', async () => {
    const reply = await post('/v1/datasets/none/multirows', 'application/x-ndjson', lineOf(1));
    expect(reply.status).toBe(404);
  });
});
