// Requests that Node's parser refuses, and connections that want another protocol: each gets a
// reply that says why, then the connection is closed.

import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { failureReply } from '../service/route/failure-reply.ts';
import type { Router } from '../service/route/router.ts';
import { failure, RowanError } from '../util/error.ts';

import { parseTarget } from './request-target.ts';

interface ParserError extends Error {
  readonly code?: string;
  readonly reason?: string;
  readonly rawPacket?: Buffer;
}

/** Answers what did not become a request. */
export function answerClientError(
  error: ParserError,
  socket: Duplex,
  router: Router,
  requestId: string,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  writeRawReply(socket, explain(error, router), requestId);
}

/** The reply to a connection that is one too many. */
export function refuseConnection(socket: Duplex, requestId: string): void {
  const error = new RowanError('OVERLOADED', 503, 'too many connections are open; try again later');
  writeRawReply(socket, error, requestId);
}

/** The reply to CONNECT, which is no verb here, and to upgrades. */
export function answerUnknownVerb(
  socket: Duplex,
  verb: string,
  url: string,
  router: Router,
  requestId: string,
): void {
  writeRawReply(socket, unknownVerb(verb, url, router), requestId);
}

function explain(error: ParserError, router: Router): RowanError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return badRequest(431, 'request line and headers are too large');
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return failure('BODY_TOO_LARGE', { form: 'chunks' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RowanError('TIMEOUT', 408, 'the request did not arrive in time');
    case 'HPE_INVALID_METHOD': {
      const line = error.rawPacket?.toString('latin1').split(/\r?\n/, 1)[0] ?? '';
      const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+) (\S+) HTTP\/1\.[01]$/.exec(line);
      if (match !== null) return unknownVerb(match[1] as string, match[2] as string, router);
      break;
    }
  }
  return badRequest(400, `not a valid HTTP request: ${error.reason ?? error.message}`);
}

function unknownVerb(verb: string, url: string, router: Router): RowanError {
  try {
    const { path } = parseTarget(url);
    router.find(verb, path);
  } catch (thrown) {
    if (thrown instanceof RowanError) return thrown;
    throw thrown;
  }
  return badRequest(400, `verb ${verb} is not accepted`);
}

function badRequest(status: number, message: string): RowanError {
  return new RowanError('INVALID_PARAMETER', status, message);
}

function writeRawReply(socket: Duplex, error: RowanError, requestId: string): void {
  const { status, headers, json } = failureReply(error, requestId);
  const body = JSON.stringify(json);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  // What the client still sends is thrown away for a moment, so that the reply is not reset.
  const timer = setTimeout(() => socket.destroy(), 1000);
  socket.once('close', () => clearTimeout(timer));
  socket.on('error', () => undefined);
  socket.resume();
}
