// Single HTTP requests and the bodies of their replies.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressGuard } from './address-guard.ts';

const STALL_WINDOW_MS = 5000;
const STALL_SIZE_MIN = 10_000 * (STALL_WINDOW_MS / 1000);
/** For the connection and the head of the reply, and for bodies that nobody takes. */
const REPLY_TIMEOUT_MS = 30_000;
/** Between two signs of life of a connection over which nothing comes. */
const KEEP_ALIVE_MS = 30_000;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly address: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
}

export class HttpClient {
  readonly #guard: AddressGuard;

  constructor(guard: AddressGuard) {
    this.#guard = guard;
  }

  /**
   * @param url what the caller asked for, for messages
   * @returns the reply, of whatever status; its body is to be received or drained
   * @throws FORBIDDEN when the address may not be reached; else the error of the connection
   */
  async send(
    { method, address, headers, body }: HttpRequest,
    url: string,
  ): Promise<IncomingMessage> {
    this.#guard.checkHost(address.hostname, url);
    const options = {
      method,
      timeout: REPLY_TIMEOUT_MS,
      headers: { 'user-agent': 'rowan', ...headers },
      lookup: this.#guard.lookup(url),
    };
    return new Promise((resolve, reject) => {
      const open = address.protocol === 'https:' ? httpsRequest : httpRequest;
      const request = open(address, options, resolve);
      request.on('timeout', () => request.destroy(new Error('Timeout was reached')));
      request.on('error', reject);
      request.end(body);
    });
  }
}

/** An error of a connection that was too slow to wait for. */
export class StallError extends Error {}

/**
 * The body of a reply.
 * @param failOnStall gives up when less than 10 kB/s arrive for 5 seconds while they are waited for
 * @throws the error of the connection; StallError
 */
export async function* receiveBody(
  response: IncomingMessage,
  failOnStall: boolean,
): AsyncIterable<Uint8Array> {
  response.setTimeout(0);
  response.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  const watch = failOnStall ? new StallWatch(response) : undefined;
  try {
    watch?.startWaiting();
    for await (const part of response) {
      watch?.stopWaiting((part as Uint8Array).length);
      yield part as Uint8Array;
      watch?.startWaiting();
    }
    if (!response.complete) throw new Error('the connection was closed early');
  } finally {
    watch?.stop();
    response.destroy();
  }
}

/** Counts only time in which bytes are waited for: a slow reader is no slow server. */
class StallWatch {
  readonly #response: IncomingMessage;
  readonly #timer: NodeJS.Timeout;
  #receivedBytes = 0;
  #waitedMs = 0;
  #waitingSince: number | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#timer = setInterval(() => this.#look(), STALL_WINDOW_MS);
  }

  startWaiting(): void {
    this.#waitingSince = performance.now();
  }

  stopWaiting(receivedBytes: number): void {
    this.#countWait();
    this.#waitingSince = undefined;
    this.#receivedBytes += receivedBytes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #countWait(): void {
    if (this.#waitingSince === undefined) return;
    const now = performance.now();
    this.#waitedMs += now - this.#waitingSince;
    this.#waitingSince = now;
  }

  #look(): void {
    this.#countWait();
    const isWaiting = this.#waitedMs > STALL_WINDOW_MS * 0.9;
    if (isWaiting && this.#receivedBytes < STALL_SIZE_MIN) {
      this.#response.destroy(new StallError('Timeout was reached'));
    }
    this.#receivedBytes = 0;
    this.#waitedMs = 0;
  }
}
