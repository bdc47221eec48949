import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AddressGuard } from '../../../src/file/address-guard.ts';
import { collectBytes } from '../../../src/file/byte-stream.ts';
import { HttpClient, receiveBody, StallError } from '../../../src/file/http-client.ts';
import { HttpScheme } from '../../../src/file/http-scheme.ts';
import { parseFileUrl } from '../../../src/file/url.ts';

let server: Server;
let answer: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((_request, response) => answer(response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'],
  });
});
afterEach(async () => {
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function address(): URL {
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/file`);
}

function ask(): Promise<IncomingMessage> {
  const request = { method: 'GET', address: address(), headers: {}, failOnStall: true } as const;
  return new HttpClient(new AddressGuard(true)).send(request, address().href);
}

test('a head that does not come within 5 seconds is a stall', async () => {
  const asked = new Promise<void>((resolve) => {
    answer = () => resolve();
  });
  const reply = expect(ask()).rejects.toThrow(StallError);
  await asked;
  await vi.advanceTimersByTimeAsync(5000);
  await reply;
});

test('a head that comes byte by byte is a stall', async () => {
  const asked = new Promise<ServerResponse>((resolve) => {
    answer = resolve;
  });
  const reply = expect(ask()).rejects.toThrow('Timeout was reached');
  const socket = (await asked).socket;
  for (const part of 'HTTP/1') {
    socket?.write(part);
    await vi.advanceTimersByTimeAsync(1000);
  }
  await reply;
});

test.each([
  ['9 KiB', 9 * 1024, true],
  ['11 KiB', 11 * 1024, false],
])('a body of %s a second', async (_name, size, isStall) => {
  const asked = new Promise<ServerResponse>((resolve) => {
    answer = (response) => {
      response.writeHead(200).flushHeaders();
      resolve(response);
    };
  });
  const reply = await ask();
  const response = await asked;
  const body = receiveBody(reply, true)[Symbol.asyncIterator]();
  let failed: unknown;
  let received = 0;
  for (let second = 0; second < 12 && failed === undefined; second++) {
    response.write(Buffer.alloc(size));
    try {
      for (const goal = received + size; received < goal; ) {
        const next = await body.next();
        received += (next.value as Uint8Array).length;
      }
      const pending = body.next();
      pending.catch(() => undefined);
      await vi.advanceTimersByTimeAsync(1000);
      response.write('.');
      await pending;
    } catch (error) {
      failed = error;
    }
  }
  if (isStall) expect(failed).toBeInstanceOf(StallError);
  else expect(failed).toBeUndefined();
  await body.return?.();
});

test('a reader that asks to fail on stalls is told of those of the head', async () => {
  const asked = new Promise<void>((resolve) => {
    answer = () => resolve();
  });
  const scheme = new HttpScheme('http');
  const opened = expect(
    scheme.open(parseFileUrl(address().href), { failOnStall: true }),
  ).rejects.toThrow('Timeout was reached');
  await asked;
  await vi.advanceTimersByTimeAsync(5000);
  await opened;
});

test('a body that comes at once is whole', async () => {
  answer = (response) => response.end(Buffer.alloc(100_000));
  expect((await collectBytes(receiveBody(await ask(), true))).length).toBe(100_000);
});
