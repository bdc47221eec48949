// Single HTTP requests and the bodies of their replies.
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressGuard } from './address-guard.ts';

const STALL_WINDOW_MS = 5000;
const STALL_SIZE_MIN = 10 * 1024 * (STALL_WINDOW_MS / 1000);
/** A stall is seen this long after it has lasted for a window, at most. */
const STALL_LOOK_MS = 500;
/** For the connection and the head of the reply, and for bodies that are not read. */
const REPLY_TIMEOUT_MS = 30_000;
/** Between two signs of life of a connection over which nothing comes. */
const KEEP_ALIVE_MS = 30_000;

export interface HttpRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  readonly address: URL;
  readonly headers: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
  /** Gives up when the head of the reply is not there after 5 seconds. */
  readonly failOnStall?: boolean;
}

/** Sends requests, to addresses that may be reached only. */
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
    { method, address, headers, body, failOnStall = false }: HttpRequest,
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
      const request = open(address, options, (response) => {
        clearTimeout(stalled);
        resolve(response);
      });
      const giveUp = () => request.destroy(new StallError('Timeout was reached'));
      // Bytes of a head that come one by one keep a connection alive, but are no reply.
      const stalled = failOnStall ? setTimeout(giveUp, STALL_WINDOW_MS) : undefined;
      request.on('timeout', giveUp);
      request.on('error', (error) => {
        clearTimeout(stalled);
        reject(error);
      });
      request.end(body);
    });
  }
}

/** An error of a connection that was too slow to wait for. */
export class StallError extends Error {}

/**
 * The body of a reply.
 * @param failOnStall gives up when less than 10 KiB/s arrive for 5 seconds while they are waited for
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

/** What came while it was waited for, and for how long. */
interface Wait {
  ms: number;
  bytes: number;
}

/** Counts only time in which bytes are waited for: a slow reader is no slow server. */
class StallWatch {
  readonly #response: IncomingMessage;
  readonly #timer: NodeJS.Timeout;
  /** the latest spans between two looks, the current one last; together about a window */
  readonly #waits: Wait[] = [{ ms: 0, bytes: 0 }];
  #waitingSince: number | undefined;

  constructor(response: IncomingMessage) {
    this.#response = response;
    this.#timer = setInterval(() => this.#look(), STALL_LOOK_MS);
  }

  startWaiting(): void {
    this.#waitingSince = performance.now();
  }

  stopWaiting(receivedBytes: number): void {
    this.#countWait();
    this.#waitingSince = undefined;
    this.#current().bytes += receivedBytes;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #current(): Wait {
    return this.#waits[this.#waits.length - 1] as Wait;
  }

  #countWait(): void {
    if (this.#waitingSince === undefined) return;
    const now = performance.now();
    this.#current().ms += now - this.#waitingSince;
    this.#waitingSince = now;
  }

  #look(): void {
    this.#countWait();
    const waits = this.#waits;
    let waitedMs = waits.reduce((sum, { ms }) => sum + ms, 0);
    const receivedBytes = waits.reduce((sum, { bytes }) => sum + bytes, 0);
    if (waitedMs >= STALL_WINDOW_MS && receivedBytes < STALL_SIZE_MIN) {
      this.#response.destroy(new StallError('Timeout was reached'));
    }
    while (waits.length > 0 && waitedMs - (waits[0] as Wait).ms >= STALL_WINDOW_MS) {
      waitedMs -= (waits.shift() as Wait).ms;
    }
    waits.push({ ms: 0, bytes: 0 });
  }
}
