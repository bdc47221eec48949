// Writes replies of routes as HTTP responses: compression, streams with back-pressure, errors.
import type { ServerResponse } from 'node:http';
import type { Transform, Writable } from 'node:stream';
import { contentTypeOf } from '../service/route/local-transport.ts';
import type { Reply } from '../service/route/request.ts';
import { stringifyJson } from '../util/exact-json.ts';
import { chooseCoding, compressor } from './body/content-coding.ts';
import type { Exchange } from './exchange.ts';

const COMPRESSED_BYTES_MIN = 1024;
const COMPRESSIBLE =
  /^(text\/(?!event-stream)|application\/(?!zip|gzip|zstd|octet-stream)|image\/svg)/;
const EVENT_STREAM = 'text/event-stream';

/** Resolves when the last byte is handed to the socket, or the client is gone. */
export function writeReply(exchange: Exchange, reply: Reply): Promise<void> | undefined {
  if (reply.stream !== undefined) return writeStream(exchange, reply, reply.stream);
  const body =
    reply.json !== undefined ? stringifyJson(reply.json) : (reply.text ?? reply.bytes ?? '');
  exchange.status = reply.status;
  const headers = exchange.commonHeaders.slice();
  const type = contentTypeOf(reply);
  if (type !== undefined) headers.push('Content-Type', type);
  addHeaders(headers, reply.headers);
  const { response } = exchange;
  const hasNoBody = reply.status === 204 || reply.status === 304;
  const size = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  if (size > COMPRESSED_BYTES_MIN && !hasNoBody && isCompressible(type, reply)) {
    headers.push('Vary', 'Accept-Encoding');
    const coding = chooseCoding(exchange.acceptEncoding);
    if (coding !== undefined) {
      headers.push('Content-Encoding', coding);
      response.writeHead(reply.status, headers);
      if (exchange.isHead) return finish(response);
      return compressWhole(exchange, compressor(coding), body);
    }
  }
  if (!hasNoBody) headers.push('Content-Length', String(size));
  response.writeHead(reply.status, headers);
  if (hasNoBody || exchange.isHead || size === 0) return finish(response);
  // ASCII, as most texts are, takes the least work in Latin-1.
  sendAtOnce(exchange, body, size === body.length ? 'latin1' : 'utf8');
  return undefined;
}

/** Hands head and body to the socket together; given to `end`, a body makes it two writes. */
function sendAtOnce(exchange: Exchange, body: string | Uint8Array, encoding: BufferEncoding): void {
  // Nobody, where the replies to earlier requests of the connection are not sent yet.
  const { response } = exchange;
  const { socket } = response;
  socket?.cork();
  response.write(body, encoding);
  socket?.uncork();
  endInTime(exchange);
}

/** Ends the reply, and gives it up when the client does not take the rest of it. */
function endInTime(exchange: Exchange): void {
  const { response } = exchange;
  response.end();
  // Once all is written, Node sets the time that the connection may wait for its next request.
  if (!response.writableFinished) limitSilence(exchange);
}

/**
 * Ends a reply that has begun and cannot be finished. What is written so far still arrives; the
 * last chunk does not, so the client sees that the reply is not whole.
 */
export function breakOff(exchange: Exchange): void {
  const { response } = exchange;
  const { socket } = response;
  if (socket === null) {
    response.destroy();
    return;
  }
  if (socket.writableLength > 0) limitSilence(exchange);
  // Clients that see the end of the connection drop what they have not read of the reply yet.
  setTimeout(() => socket.destroySoon(), READING_TIME_MS).unref();
}

/**
 * What a client has to read the last line of a reply that breaks off. TCP tells what its machine has
 * taken, not what it has read, and the reply cannot be ended in order: it would look whole.
 */
const READING_TIME_MS = 500;

/** Closes the connection when the client takes no byte of what is written for so long. */
function limitSilence({ response, replyIdleTimeoutMs }: Exchange): void {
  response.setTimeout(replyIdleTimeoutMs, giveUp);
}

function giveUp(this: ServerResponse): void {
  this.destroy();
}

function addHeaders(list: string[], headers: Readonly<Record<string, string>> | undefined): void {
  for (const name in headers) list.push(name, headers[name] as string);
}

function isCompressible(type: string | undefined, reply: Reply): boolean {
  if (type === undefined || reply.status === 206 || !COMPRESSIBLE.test(type)) return false;
  return !Object.keys(reply.headers ?? {}).some((name) => /^content-encoding$/i.test(name));
}

function finish(response: ServerResponse): undefined {
  response.end();
  return undefined;
}

async function compressWhole(
  exchange: Exchange,
  coder: Transform,
  body: string | Uint8Array,
): Promise<void> {
  coder.end(body);
  await pump(exchange, coder);
  endInTime(exchange);
}

async function writeStream(
  exchange: Exchange,
  reply: Reply,
  stream: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { response } = exchange;
  const type = contentTypeOf(reply);
  const iterator = stream[Symbol.asyncIterator]();
  // A failure before the first piece is still a reply of its own; an event stream opens at once.
  const isLive = type?.startsWith(EVENT_STREAM) === true || exchange.isLive;
  const first = isLive || exchange.isHead ? undefined : await iterator.next();
  exchange.status = reply.status;
  const headers = exchange.commonHeaders.slice();
  if (type !== undefined) headers.push('Content-Type', type);
  addHeaders(headers, reply.headers);
  const canCompress = !isLive && isCompressible(type, reply);
  if (canCompress) headers.push('Vary', 'Accept-Encoding');
  const coding = canCompress ? chooseCoding(exchange.acceptEncoding) : undefined;
  if (coding !== undefined) headers.push('Content-Encoding', coding);
  response.writeHead(reply.status, headers);
  if (exchange.isHead) {
    await iterator.return?.();
    return finish(response);
  }
  if (isLive) response.flushHeaders();
  const source = rest(first, iterator, exchange);
  if (coding === undefined) await pump(exchange, source);
  else await compressStream(exchange, source, compressor(coding));
  if (!response.destroyed) endInTime(exchange);
}

/** The pieces of a reply from the first on. */
async function* rest(
  first: IteratorResult<Uint8Array> | undefined,
  iterator: AsyncIterator<Uint8Array>,
  exchange: Exchange,
): AsyncGenerator<Uint8Array> {
  try {
    let next = first ?? (await iterator.next());
    while (next.done !== true) {
      yield next.value;
      exchange.extendTime();
      next = await iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}

/** Writes until the end, waiting while the client is slower; stops when it is gone. */
async function pump(exchange: Exchange, source: AsyncIterable<Uint8Array>): Promise<void> {
  const { response } = exchange;
  let pace: Pace | undefined;
  try {
    for await (const piece of source) {
      if (response.destroyed) return;
      if (response.write(piece)) continue;
      pace ??= new Pace(exchange);
      limitSilence(exchange);
      await pace.waiting(drained(response));
      response.setTimeout(0);
      response.off('timeout', giveUp);
    }
  } finally {
    pace?.end();
  }
}

const PACE_WINDOW_MS = 60_000;

/** Closes the connection of a client that is waited for and takes too little for a minute. */
class Pace {
  readonly #exchange: Exchange;
  readonly #timer: NodeJS.Timeout;
  #waitedMs = 0;
  #waitingSince: number | undefined;
  #byteCount: number;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#byteCount = this.#taken;
    this.#timer = setInterval(() => this.#look(), PACE_WINDOW_MS);
    this.#timer.unref();
  }

  async waiting(drained: Promise<void>): Promise<void> {
    this.#waitingSince = performance.now();
    await drained;
    this.#countWaiting();
    this.#waitingSince = undefined;
  }

  end(): void {
    clearInterval(this.#timer);
  }

  /** bytes that the operating system has taken for the client */
  get #taken(): number {
    const { socket } = this.#exchange.request;
    return socket.bytesWritten - socket.writableLength;
  }

  #countWaiting(): void {
    const now = performance.now();
    this.#waitedMs += now - (this.#waitingSince ?? now);
    this.#waitingSince = now;
  }

  #look(): void {
    if (this.#waitingSince !== undefined) this.#countWaiting();
    const taken = this.#taken - this.#byteCount;
    const rate = (1000 * taken) / PACE_WINDOW_MS;
    const isWaitedFor = this.#waitedMs > 0.9 * PACE_WINDOW_MS;
    if (isWaitedFor && rate < this.#exchange.streamMinRate) this.#exchange.response.destroy();
    this.#waitedMs = 0;
    this.#byteCount += taken;
  }
}

function drained(response: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
    if (response.destroyed) done();
  });
}

async function compressStream(
  exchange: Exchange,
  source: AsyncIterable<Uint8Array>,
  coder: Transform,
): Promise<void> {
  const { response } = exchange;
  let failed: { readonly thrown: unknown } | undefined;
  const feed = async (): Promise<void> => {
    try {
      for await (const piece of source) {
        if (response.destroyed) break;
        if (!coder.write(piece)) await drained(coder);
      }
    } catch (thrown) {
      failed = { thrown };
    }
    // What came before a failure is sent too: it may end with the reason.
    coder.end();
  };
  try {
    await Promise.all([feed(), pump(exchange, coder)]);
  } finally {
    coder.destroy();
  }
  if (failed !== undefined) throw failed.thrown;
}
