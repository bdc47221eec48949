// Passes requests on to the primary and its replies back, both as streams.
import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import { hasBody } from '../rest/body/body-reader.ts';
import { lingerBeforeClose } from '../rest/body/unread-body.ts';
import { requestIdOf } from '../rest/request-id.ts';
import { failureReply } from '../service/route/failure-reply.ts';
import { failure, type RowanError } from '../util/error.ts';

/** Connections to the primary are given up before the primary gives them up. */
const IDLE_MS = 30_000;
const HEADER_SIZE_MAX = 16 * 2 ** 20;

/** Headers that concern one connection, not the request. */
const OF_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
]);
/** Headers of a body as it arrived. */
const OF_BODY = new Set(['content-length', 'transfer-encoding', 'content-encoding', 'expect']);
const BODY_VERBS = new Set(['POST', 'PUT', 'PATCH']);

export interface ForwardOptions {
  /** what was read of the request already, decompressed; absent: nothing was */
  readonly body?: Uint8Array | undefined;
  /**
   * Why this process has refused the request from its head alone. The primary refuses it too, and
   * may close the connection while the body is on its way, before its reply is read.
   */
  readonly refusal?: RowanError | undefined;
}

/**
 * Connections to the primary over its socket: kept alive, and waited for when the process stops.
 */
export class Forwarder {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 256 });
  readonly #idleWaiters = new Set<() => void>();
  #activeCount = 0;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  forward(incoming: IncomingMessage, response: ServerResponse, options: ForwardOptions = {}): void {
    this.#activeCount++;
    response.on('close', () => {
      if (--this.#activeCount === 0) for (const resolve of this.#idleWaiters) resolve();
    });
    this.#send(incoming, response, options, false);
  }

  /** Resolves when no reply is awaited. */
  idle(): Promise<void> {
    if (this.#activeCount === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idleWaiters.add(resolve);
    });
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(
    incoming: IncomingMessage,
    response: ServerResponse,
    options: ForwardOptions,
    isSecondTry: boolean,
  ): void {
    const { body, refusal } = options;
    const streamsBody = body === undefined && hasBody(incoming);
    const outgoing = request({
      socketPath: this.#socketPath,
      agent: this.#agent,
      method: incoming.method,
      path: incoming.url,
      headers: requestHeaders(incoming, body) as unknown as Record<string, string>,
      maxHeaderSize: HEADER_SIZE_MAX,
      setHost: false,
    });
    let hasReply = false;
    outgoing.on('continue', () => {
      if (!response.headersSent) response.writeContinue();
    });
    outgoing.on('response', (reply) => {
      hasReply = true;
      if (streamsBody && !incoming.complete) leaveBody(incoming, outgoing, reply);
      passBack(reply, response);
    });
    outgoing.on('error', () => {
      if (hasReply || response.destroyed) return;
      const mayRepeat = outgoing.reusedSocket && !isSecondTry && !streamsBody;
      if (mayRepeat && (incoming.method === 'GET' || incoming.method === 'HEAD')) {
        // The primary had closed an idle connection at this very moment.
        this.#send(incoming, response, options, true);
      } else refuse(incoming, response, refusal);
    });
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    if (streamsBody) {
      incoming.on('close', () => {
        if (!incoming.complete && !hasReply) outgoing.destroy();
      });
      incoming.pipe(outgoing);
    } else outgoing.end(body);
  }
}

/** Names and values in turn. */
function requestHeaders(incoming: IncomingMessage, body: Uint8Array | undefined): string[] {
  const headers: string[] = [];
  const { rawHeaders, method = '' } = incoming;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const lower = name.toLowerCase();
    if (OF_CONNECTION.has(lower) || (body !== undefined && OF_BODY.has(lower))) continue;
    headers.push(name, rawHeaders[i + 1] as string);
  }
  const hasNoLength = incoming.headers['content-length'] === undefined && !hasBody(incoming);
  if (body !== undefined) headers.push('Content-Length', String(body.length));
  else if (hasNoLength && BODY_VERBS.has(method)) headers.push('Content-Length', '0');
  return headers;
}

function passBack(reply: IncomingMessage, response: ServerResponse): void {
  const headers: string[] = [];
  const { rawHeaders } = reply;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    const lower = name.toLowerCase();
    const value = rawHeaders[i + 1] as string;
    const isClose = lower === 'connection' && value.toLowerCase() === 'close';
    if (lower === 'transfer-encoding' || (OF_CONNECTION.has(lower) && !isClose)) continue;
    headers.push(name, value);
  }
  response.writeHead(reply.statusCode as number, reply.statusMessage, headers);
  // A client that follows events must see that the stream is open before the first event.
  response.flushHeaders();
  reply.on('error', () => response.destroy());
  reply.pipe(response);
}

/** The primary has answered before it had the whole body; it does not want the rest. */
function leaveBody(
  incoming: IncomingMessage,
  outgoing: ClientRequest,
  reply: IncomingMessage,
): void {
  if (reply.headers.connection?.toLowerCase() !== 'close') return;
  incoming.unpipe(outgoing);
  lingerBeforeClose(incoming);
}

function refuse(
  incoming: IncomingMessage,
  response: ServerResponse,
  refusal: RowanError | undefined,
): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const requestId = requestIdOf(incoming.headers);
  const error = refusal ?? failure('SHUTTING_DOWN', { form: 'primary' });
  const { status, headers, json } = failureReply(error, requestId);
  if (!incoming.complete) lingerBeforeClose(incoming);
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'X-Request-Id': requestId,
    Connection: 'close',
  });
  response.end(JSON.stringify(json));
}
