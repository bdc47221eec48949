// Ids of requests: the caller's own when it is well formed, else one made here.
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const WELL_FORMED = /^[A-Za-z0-9._-]{1,128}$/;

const prefix = randomBytes(4).toString('hex');
let last = randomBytes(4).readUInt32LE();

/** 16 hex digits: those of the process, then a counter. */
function nextRequestId(): string {
  last = (last + 1) >>> 0;
  return prefix + last.toString(16).padStart(8, '0');
}

export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : nextRequestId();
}
