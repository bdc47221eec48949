// Functions applied to the lines of a request, in this process and over HTTP.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Rowan } from '../../../../src/index.ts';

let rowan: Rowan;
let address: string;

beforeAll(async () => {
  rowan = await Rowan.open({ dataDir: null, workers: 1 });
  address = await rowan.listen({ host: '127.0.0.1', port: 0 });
  await make('named', { expression: 'x * 2 AS y, z', prepared: true });
  await make('total', {
    expression: 'horizontal_sum(input)',
    ...{ prepared: true, raw: true, autoInput: true },
  });
  await make('slow', { expression: 'x + 1 AS y' });
  await make('rows', {
    expression: '{x AS a} AS r, latest_timestamp(x) > 0 AS now',
    prepared: true,
  });
});
afterAll(() => rowan.close());

const make = (id: string, params: unknown, type = 'sql.expression') =>
  rowan.put(`/v1/functions/${id}`, { type, params });

async function answers(id: string, lines: readonly string[]): Promise<unknown[]> {
  const body = new TextEncoder().encode(lines.join('\n'));
  const { status, text } = await rowan.perform('POST', `/v1/functions/${id}/stream`, { body });
  expect(status).toBe(200);
  const out = text.split('\n');
  expect(out.pop()).toBe('');
  return out.map((line) => JSON.parse(line));
}

describe('each line is answered', () => {
  test('by the output in plain JSON, in order', async () => {
    expect(await answers('named', ['{"x":1}', '{"x":2,"z":"a"}', '', ' {"w":0} ', '{}\r'])).toEqual(
      [
        { y: 2, z: null },
        { y: 4, z: 'a' },
        { y: null, z: null },
        { y: null, z: null },
      ],
    );
  });

  test('for any value where the function takes any', async () => {
    const lines = ['[1,2,3]', '[ 4 , 5 ]', '7', 'null', '{"a":1,"b":[2]}', '[]', '[1,"2"]'];
    expect((await answers('total', lines)).slice(0, 6)).toEqual([6, 9, 7, null, 3, 0]);
  });

  test('by a worker where the function must be bound again', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `{"x":${i}}`);
    expect(await answers('slow', lines)).toEqual(lines.map((_, i) => ({ y: i + 1 })));
  });

  test('with the time of the request on its values', async () => {
    expect(await answers('rows', ['{"x":5}'])).toEqual([{ now: 1, r: { a: 5 } }]);
  });

  test('as often as there are lines', async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) =>
      i % 1000 === 0 ? `{"a":[${i}]}` : `[${i},${i / 8}]`,
    );
    expect(await answers('total', lines)).toEqual(
      lines.map((_, i) => (i % 1000 === 0 ? i : i + i / 8)),
    );
  });
});

describe('a line that fails is the last', () => {
  test.each([
    ['total', ['[1]', '[1', '[2]'], 2, 'INVALID_JSON'],
    ['total', ['[1]', '', '["a"]', '[2]'], 3, 'SQL_EXECUTION'],
    ['named', ['{"x":1}', '5', '{}'], 2, 'SQL_EXECUTION'],
    ['slow', ['{"x":1}', '{"x":}', '{}'], 2, 'INVALID_JSON'],
  ])('%s of %j', async (id, lines, line, code) => {
    const out = await answers(id, lines);
    expect(out).toHaveLength(2);
    expect(out[1]).toMatchObject({ error: expect.any(String), httpCode: 400, code, line });
  });

  test('bytes that are no text are none', async () => {
    const body = new Uint8Array([0x22, 0xff, 0x22, 0x0a]);
    const { text } = await rowan.perform('POST', '/v1/functions/total/stream', { body });
    expect(JSON.parse(text)).toMatchObject({ code: 'INVALID_JSON', line: 1 });
  });

  test('an unknown function is no stream', async () => {
    expect((await rowan.perform('POST', '/v1/functions/none/stream', {})).status).toBe(404);
  });
});

describe('over HTTP', () => {
  /** A stream whose lines are written and read one by one. */
  async function open(id: string) {
    const sent: ClientRequest = request(`${address}/v1/functions/${id}/stream`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson' },
    });
    sent.flushHeaders();
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.on('response', resolve);
      sent.once('error', reject);
      sent.on('error', () => undefined);
    });
    let text = '';
    let pieces: AsyncIterator<unknown> | undefined;
    return {
      ...{ sent, reply },
      write: (line: string) => sent.write(line),
      end: () => sent.end(),
      async read(): Promise<string | undefined> {
        pieces ??= reply[Symbol.asyncIterator]();
        while (!text.includes('\n')) {
          const { done, value } = await pieces.next();
          if (done === true) return undefined;
          text += String(value);
        }
        const end = text.indexOf('\n') + 1;
        const line = text.slice(0, end);
        text = text.slice(end);
        return line;
      },
    };
  }

  test('a line is answered before the next is sent', async () => {
    const stream = await open('named');
    for (let i = 0; i < 5; i++) {
      stream.write(`{"x":${i},`);
      stream.write('"z":0}\n');
      expect(await stream.read()).toBe(`{"y":${i * 2},"z":0}\n`);
    }
    stream.end();
    expect(await stream.read()).toBeUndefined();
    expect(stream.reply.complete).toBe(true);
  });

  test('a function that is replaced answers the lines that follow, a removed one fails', async () => {
    await make('changing', { expression: '1 AS v', prepared: true });
    const stream = await open('changing');
    stream.write('{}\n');
    expect(await stream.read()).toBe('{"v":1}\n');
    await make('changing', { expression: '2 AS v', prepared: true });
    stream.write('{}\n');
    expect(await stream.read()).toBe('{"v":2}\n');
    await rowan.delete('/v1/functions/changing');
    stream.write('{}\n');
    expect(JSON.parse((await stream.read()) as string)).toMatchObject({ httpCode: 404, line: 3 });
    expect(await stream.read()).toBeUndefined();
    stream.end();
  });

  test('a reader that is slower holds the writer back', async () => {
    const { sent, reply } = await open('named');
    const line = `{"z":"${'a'.repeat(10_000)}"}\n`;
    let sentSize = 0;
    let isOver = false;
    const write = () => {
      while (!isOver && sent.write(line)) sentSize += line.length;
      sentSize += line.length;
    };
    sent.on('drain', write);
    write();
    for (let before = -1; before !== sentSize; ) {
      before = sentSize;
      await new Promise((resolve) => setTimeout(resolve, 300));
      // All buffers between here and there are smaller.
      expect(sentSize).toBeLessThan(100 * 2 ** 20);
    }
    const stalledAt = sentSize;
    reply.resume();
    await new Promise((resolve) => sent.once('drain', resolve));
    expect(sentSize).toBeGreaterThan(stalledAt);
    isOver = true;
    sent.destroy();
  });
});
