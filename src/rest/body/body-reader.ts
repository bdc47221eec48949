// Reads the body of a request within its limits.
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { failure, RowanError } from '../../util/error.ts';
import type { BodyShare } from './body-memory.ts';
import { decompressors } from './content-coding.ts';

export interface BodyLimits {
  readonly bodyBytesMax: number;
  readonly bodyIdleTimeoutMs: number;
}

/** Each coding costs memory and time; two of them are more than clients use. */
const CODING_COUNT_MAX = 2;

/** Copying so many bytes takes a few milliseconds. */
const JOINED_AT_ONCE_MAX = 4 * 2 ** 20;

const NO_BYTES = new Uint8Array(0);

export function hasBody(request: IncomingMessage): boolean {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const length = headers['content-length'];
  return length !== undefined && length !== '0';
}

/**
 * Notes that there is no body. A request that nobody reads is emptied by Node when it was answered,
 * with as many events as if there were one.
 */
export function skipBody(request: IncomingMessage): void {
  request.read();
}

/** Refuses a body that says it is too large before a byte of it is read. @throws BODY_TOO_LARGE */
export function checkDeclaredLength(request: IncomingMessage, limits: BodyLimits): void {
  const length = Number(request.headers['content-length'] ?? 0);
  if (length > limits.bodyBytesMax) throw bodyTooLarge(limits);
}

/** The body of a request, when it has arrived as it is meant. */
export function arrivedBody(request: IncomingMessage): Uint8Array | undefined {
  const { headers } = request;
  if (headers['content-encoding'] !== undefined) return undefined;
  const isWhole = request.readableLength === Number(headers['content-length']);
  return isWhole ? (request.read() as Buffer) : undefined;
}

/**
 * The bytes of a body, decompressed, when all have come.
 * @throws BODY_TOO_LARGE; TIMEOUT (408) when the client stops sending; INVALID_PARAMETER for a
 *   coding that is not known or bytes that are not in it
 */
export async function readBody(
  request: IncomingMessage,
  limits: BodyLimits,
  share: BodyShare,
): Promise<Uint8Array> {
  checkDeclaredLength(request, limits);
  const stages = decompressors(request.headers['content-encoding']);
  if (stages.length > CODING_COUNT_MAX) {
    throw failure('INVALID_PARAMETER', `more than ${CODING_COUNT_MAX} content codings`);
  }
  const parts: Buffer[] = [];
  let size = 0;
  const take = (part: Buffer): void => {
    size += part.length;
    if (size > limits.bodyBytesMax) throw bodyTooLarge(limits);
    share.hold(part.length);
    parts.push(part);
  };
  await consume(request, stages, take, limits.bodyIdleTimeoutMs);
  const [first] = parts;
  if (first === undefined) return NO_BYTES;
  if (parts.length === 1) return first;
  return size <= JOINED_AT_ONCE_MAX ? Buffer.concat(parts, size) : joinInTurns(parts, size);
}

/** Copies parts into one, letting other requests go on in between. */
async function joinInTurns(parts: readonly Buffer[], size: number): Promise<Buffer> {
  const whole = Buffer.allocUnsafeSlow(size);
  let position = 0;
  let turnEnd = JOINED_AT_ONCE_MAX;
  for (const part of parts) {
    position += part.copy(whole, position);
    if (position < turnEnd) continue;
    turnEnd = position + JOINED_AT_ONCE_MAX;
    await setImmediate();
  }
  return whole;
}

/** How long, and for how many bytes, the rest of an unread body is still received. */
const UNREAD_MS = 1000;
const UNREAD_BYTES_MAX = 64 * 2 ** 20;

/**
 * The pieces of a body as they arrive, decompressed; of any size together.
 * @param mayPause the client may wait between pieces for as long as it likes
 * @throws as `readBody` does, but for the size
 */
export async function* streamBytes(
  request: IncomingMessage,
  limits: BodyLimits,
  mayPause: boolean,
): AsyncGenerator<Uint8Array> {
  const stages = decompressors(request.headers['content-encoding']);
  if (stages.length > CODING_COUNT_MAX) {
    throw failure('INVALID_PARAMETER', `more than ${CODING_COUNT_MAX} content codings`);
  }
  const source = stages.reduce<Readable>((from, stage) => from.pipe(stage), request);
  const state: { isOver: boolean; error: unknown } = { isOver: false, error: undefined };
  let wake: () => void = () => {};
  const fail = (error: unknown): void => {
    state.error ??= error;
    wake();
  };
  const onReadable = () => wake();
  const onEnd = () => {
    state.isOver = true;
    wake();
  };
  const onClose = () => {
    if (!request.complete) fail(failure('CANCELLED', 'the client went away'));
  };
  const onError = (error: Error) => fail(notInCoding(error));
  for (const stage of stages) stage.on('error', onError);
  request.on('error', onClose);
  request.on('close', onClose);
  source.on('readable', onReadable);
  source.on('end', onEnd);
  try {
    for (;;) {
      const piece = source.read() as Buffer | null;
      if (piece !== null) yield piece;
      else if (state.error !== undefined) throw state.error;
      else if (state.isOver) return;
      else {
        const idle = mayPause
          ? undefined
          : setTimeout(() => fail(bodyStalled(limits.bodyIdleTimeoutMs)), limits.bodyIdleTimeoutMs);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        clearTimeout(idle);
      }
    }
  } finally {
    request.off('close', onClose);
    source.off('readable', onReadable);
    source.off('end', onEnd);
    if (!request.complete) leaveUnread(request, stages);
  }
}

/** Takes what still comes for a moment, so that the reply arrives; then the connection is closed. */
function leaveUnread(request: IncomingMessage, stages: readonly Readable[]): void {
  request.unpipe();
  for (const stage of stages) stage.destroy();
  const { socket } = request;
  const timer = setTimeout(() => socket.destroy(), UNREAD_MS);
  let size = 0;
  request.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > UNREAD_BYTES_MAX) socket.destroy();
  });
  const end = () => clearTimeout(timer);
  request.once('end', end);
  socket.once('close', end);
  request.resume();
}

/** Leaves the request undestroyed on failure, so that the reply can still be sent. */
function consume(
  request: IncomingMessage,
  stages: readonly Readable[],
  take: (part: Buffer) => void,
  idleTimeoutMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let source: Readable = request;
    for (const stage of stages) source = source.pipe(stage as Readable & NodeJS.WritableStream);
    const idle = setTimeout(() => settle(bodyStalled(idleTimeoutMs)), idleTimeoutMs);
    const onArrival = () => idle.refresh();
    const onData = (part: Buffer) => {
      try {
        take(part);
      } catch (thrown) {
        settle(thrown);
      }
    };
    const onEnd = () => settle(undefined);
    const onClose = () => {
      if (!request.complete) settle(failure('CANCELLED', 'the client went away'));
    };
    const onCodingError = (error: Error) => settle(notInCoding(error));
    const settle = (error: unknown): void => {
      clearTimeout(idle);
      request.off('data', onArrival);
      request.off('close', onClose);
      source.off('data', onData);
      source.off('end', onEnd);
      if (error === undefined) {
        resolve();
        return;
      }
      request.unpipe();
      request.pause();
      for (const stage of stages) stage.destroy();
      reject(error);
    };
    for (const stage of stages) stage.on('error', onCodingError);
    request.on('close', onClose);
    source.on('data', onData);
    source.on('end', onEnd);
    if (stages.length > 0) request.on('data', onArrival);
    else source.on('data', onArrival);
  });
}

function notInCoding({ message }: Error): RowanError {
  return failure('INVALID_PARAMETER', `request body is not in its Content-Encoding: ${message}`);
}

function bodyTooLarge({ bodyBytesMax }: BodyLimits): RowanError {
  return failure(
    'BODY_TOO_LARGE',
    { bytes: bodyBytesMax },
    {
      bodyBytesMax,
    },
  );
}

function bodyStalled(idleTimeoutMs: number): RowanError {
  return new RowanError(
    'TIMEOUT',
    408,
    `no byte of the request body arrived for ${idleTimeoutMs} ms`,
  );
}
