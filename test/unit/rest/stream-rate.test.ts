// The least rate at which a client must take a stream, on a clock and a connection of the test's own.
import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Exchange } from '../../../src/rest/exchange.ts';
import { writeReply } from '../../../src/rest/reply-writer.ts';

const RATE = 1000;
const TEN_SECONDS = 10_000;
const MINUTE = 60_000;
/** what makes the rate when it is taken each ten seconds */
const PIECE = new Uint8Array((RATE * TEN_SECONDS) / 1000);

class Connection extends EventEmitter {
  bytesWritten = 0;
  writableLength = 0;
}

/** A response whose buffer is full after every piece. */
class Response extends EventEmitter {
  readonly socket = new Connection();
  destroyed = false;
  writableFinished = false;

  write(piece: Uint8Array): boolean {
    this.socket.bytesWritten += piece.length;
    this.socket.writableLength += piece.length;
    return false;
  }

  take(byteCount: number): void {
    this.socket.writableLength -= byteCount;
    if (this.socket.writableLength === 0) this.emit('drain');
  }

  destroy(): void {
    this.destroyed = true;
    this.emit('close');
  }

  writeHead(): void {}
  setTimeout(): void {}
  end(): void {
    this.writableFinished = true;
  }
}

let response: Response;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'performance'] });
  response = new Response();
});
afterEach(() => {
  response.destroy();
  vi.useRealTimers();
});

const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

async function send(stream: AsyncIterable<Uint8Array>): Promise<void> {
  const { socket } = response;
  const exchange = {
    ...{ response, request: { socket }, commonHeaders: [], isHead: false, isLive: false },
    ...{ streamMinRate: RATE, replyIdleTimeoutMs: 10 * MINUTE, extendTime() {} },
  };
  const reply = { status: 200, headers: { 'Content-Type': 'application/zip' }, stream };
  void writeReply(exchange as unknown as Exchange, reply);
  await pass(0);
}

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (;;) yield PIECE;
}

test('a client that takes less in a minute is left', async () => {
  await send(pieces());
  response.take(PIECE.length - 1);
  await pass(MINUTE - 1);
  expect(response.destroyed).toBe(false);
  await pass(1);
  expect(response.destroyed).toBe(true);
});

test('a client that takes as much is waited for, and left when it takes less', async () => {
  await send(pieces());
  for (let i = 0; i < 18; i++) {
    response.take(PIECE.length);
    await pass(TEN_SECONDS);
  }
  expect(response.destroyed).toBe(false);
  expect(response.socket.bytesWritten).toBe(19 * PIECE.length);
  for (let i = 0; i < 5; i++) {
    response.take(PIECE.length);
    await pass(TEN_SECONDS);
  }
  response.take(PIECE.length - 1);
  await pass(TEN_SECONDS - 1);
  expect(response.destroyed).toBe(false);
  await pass(1);
  expect(response.destroyed).toBe(true);
});

test('a stream that has little to say is not the fault of its client', async () => {
  async function* slow(): AsyncGenerator<Uint8Array> {
    for (;;) {
      yield new Uint8Array(1);
      await new Promise((resolve) => setTimeout(resolve, TEN_SECONDS));
    }
  }
  await send(slow());
  for (let i = 0; i < 60; i++) {
    response.take(1);
    await pass(TEN_SECONDS);
  }
  expect(response.destroyed).toBe(false);
  expect(response.socket.bytesWritten).toBeGreaterThan(50);
});
