// Ids that the service makes up.
import { randomBytes } from 'node:crypto';
import { failure } from '../util/error.ts';

const ID_SIZE_MAX = 1024;

/**
 * Ids stand in paths and headers, so they are Unicode text of bounded length.
 * @throws INVALID_PARAMETER
 */
export function checkId(id: string): void {
  if (Buffer.byteLength(id) > ID_SIZE_MAX) {
    throw failure(
      'INVALID_PARAMETER',
      `an id is at most ${ID_SIZE_MAX} bytes long; this one has ${Buffer.byteLength(id)}`,
    );
  }
  if (LONE_SURROGATE.test(id)) {
    throw failure('INVALID_PARAMETER', 'an id is Unicode text; this one has half a surrogate pair');
  }
}

const LONE_SURROGATE = /\p{Surrogate}/u;

/** `auto_<16 hex>_<16 hex>`: SQL needs no quotes around it. */
export function automaticId(): string {
  const hex = randomBytes(16).toString('hex');
  return `auto_${hex.slice(0, 16)}_${hex.slice(16)}`;
}

/** `<date with six fraction digits>Z-<16 hex>`. */
export function automaticRunId(startedAtSeconds: number): string {
  const whole = Math.floor(startedAtSeconds);
  const micros = Math.min(999_999, Math.round((startedAtSeconds - whole) * 1e6));
  const date = new Date(whole * 1000).toISOString().slice(0, 19);
  return `${date}.${String(micros).padStart(6, '0')}Z-${randomBytes(8).toString('hex')}`;
}

const REQUEST_ID_SIZE = 8;
let randomPool = Buffer.alloc(0);
let randomUsed = 0;

/** 16 hex digits. Random bytes are drawn for many ids at a time: one draw costs microseconds. */
export function automaticRequestId(): string {
  if (randomUsed === randomPool.length) {
    randomPool = randomBytes(REQUEST_ID_SIZE * 512);
    randomUsed = 0;
  }
  randomUsed += REQUEST_ID_SIZE;
  return randomPool.toString('hex', randomUsed - REQUEST_ID_SIZE, randomUsed);
}

/** Now, in seconds with whole microseconds: a number has no room for more. */
export function nowSeconds(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) / 1e6;
}
