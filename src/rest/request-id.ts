// Ids of requests: the caller's own when it is well formed, else one made here.
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

/** Ends of ids: an id is one of them behind digits that seldom change. */
const TAILS = Array.from({ length: 4096 }, (_, index) => index.toString(16).padStart(3, '0'));

const process = randomBytes(4).toString('hex');
let count = randomBytes(4).readUInt32LE();
let head = headOf(count);

/** 16 hex digits: those of the process, then a counter. */
function nextRequestId(): string {
  count = (count + 1) >>> 0;
  const tail = count % TAILS.length;
  if (tail === 0) head = headOf(count);
  return head + (TAILS[tail] as string);
}

function headOf(number: number): string {
  return process + number.toString(16).padStart(8, '0').slice(0, 5);
}

export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : nextRequestId();
}
