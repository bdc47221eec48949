// One request and its response: who is told when the client leaves or the time is up.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { failure, RowanError } from '../util/error.ts';
import type { BodyShare } from './body/body-memory.ts';
import type { Caller } from './key/authentication.ts';
import { requestIdOf } from './request-id.ts';

export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startedAt = performance.now();
  /** headers of every reply, names and values in turn */
  readonly commonHeaders: string[];
  caller: Caller | undefined;
  /** the reply is a stream of events: its headers go out before the first of them */
  isLive = false;
  /** of the reply, once there is one */
  status: number | undefined;
  /** the pattern of the route, once it is known */
  pattern = 'unknown';
  /** Set while it counts among the heavy requests. */
  leavePlace: (() => void) | undefined;
  /** another process answers it */
  isPassedOn = false;
  /** all of it has arrived, whether or not Node has noticed the end of the request */
  isBodyRead = false;
  /** another step towards the reply is taken at once, when Node has done its own work */
  hasNextStep = false;
  /** what its body takes of the memory for bodies; undefined while it is small */
  bodyShare: BodyShare | undefined;
  /** kept where another process may be asked for the answer */
  body: Uint8Array | undefined;
  /** ms without a byte taken by the client after which the rest of the reply is given up */
  replyIdleTimeoutMs = 0;
  /** bytes a second that the client must take while the reply waits for it */
  streamMinRate = 0;
  path = '';
  query = '';
  /** made when it is first asked for: most requests end before */
  #abort: AbortController | undefined;
  #timer: NodeJS.Timeout | undefined;
  #onTimeout: (() => void) | undefined;
  #timeLimitMs = 0;
  #timeIsUp: Promise<never> | undefined;
  /** what the connection had sent before; absent: it is not counted */
  #sent: { readonly socket: Socket; readonly byteCount: number } | undefined;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request;
    this.response = response;
    this.requestId = requestIdOf(request.headers);
    this.commonHeaders = ['X-Request-Id', this.requestId];
  }

  /** Counts the bytes of the reply from now on. */
  countBytes(): void {
    const { socket } = this.request;
    this.#sent = { socket, byteCount: socket.bytesWritten };
  }

  /** Aborts when the client goes away or the time is up. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.isAbandoned) this.#abort.abort(clientGone());
    }
    return this.#abort.signal;
  }

  /** HEAD: everything but the body */
  get isHead(): boolean {
    return this.request.method === 'HEAD';
  }

  get acceptEncoding(): string | undefined {
    return this.request.headers['accept-encoding'] as string | undefined;
  }

  get isAborted(): boolean {
    return this.isAbandoned || this.#abort?.signal.aborted === true;
  }

  /** Whether the client has gone before it had the whole reply. */
  get isAbandoned(): boolean {
    const { response } = this;
    return response.destroyed && !response.writableFinished;
  }

  /** Whether all of the reply is in the hands of the operating system. */
  get isWritten(): boolean {
    return this.response.writableFinished;
  }

  /** Called when the response is closed. */
  closed(): void {
    if (this.isAbandoned) this.#abort?.abort(clientGone());
  }

  /** Stops the work that looks at the signal. */
  cancel(reason: RowanError): void {
    this.#abort?.abort(reason);
  }

  giveBackPlace(): void {
    const leave = this.leavePlace;
    this.leavePlace = undefined;
    leave?.();
  }

  /** Starts the clock of a time limit, once; it counts from the arrival. @param stopsWork false: the work goes on when time is up */
  limitTime(milliseconds: number, stopsWork: boolean): Promise<never> {
    if (this.#timeIsUp !== undefined) return this.#timeIsUp;
    this.#timeLimitMs = milliseconds;
    const error = new RowanError(
      'TIMEOUT',
      504,
      stopsWork
        ? `query exceeded its time limit of ${milliseconds} ms`
        : `not done within the time limit of ${milliseconds} ms; the work goes on`,
      { timeLimitMs: milliseconds },
    );
    this.#timeIsUp = new Promise((_, reject) => {
      this.#onTimeout = () => {
        reject(error);
        if (stopsWork) this.#abort?.abort(error);
      };
      const left = milliseconds - (performance.now() - this.startedAt);
      this.#timer = setTimeout(this.#onTimeout, Math.max(0, left));
    });
    this.#timeIsUp.catch(() => undefined); // those who wait for it get the error
    return this.#timeIsUp;
  }

  /** Progress has been made: the clock starts again. */
  extendTime(): void {
    if (this.#timer === undefined || this.#onTimeout === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#onTimeout, this.#timeLimitMs);
  }

  /** bytes of the reply as they went over the wire, where they are counted */
  get responseBytes(): number {
    return this.#sent === undefined ? 0 : this.#sent.socket.bytesWritten - this.#sent.byteCount;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function clientGone(): RowanError {
  return failure('CANCELLED', 'the client went away');
}
