// From a request to its reply: checks in the order in which they cost least, then the route.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { isFormatName } from '../exec/output/format.ts';
import { failureReply } from '../service/route/failure-reply.ts';
import { acceptedFormat } from '../service/route/negotiation.ts';
import { isParsedInTurns, parseQueryString } from '../service/route/parameter-binding.ts';
import type { Reply, RequestBody } from '../service/route/request.ts';
import { bytesBody, EMPTY_BODY, streamBody } from '../service/route/request-body.ts';
import type { Measured } from '../service/route/route.ts';
import type { ReplyTransport, RouteDispatcher } from '../service/route/route-dispatcher.ts';
import type { RouteMatch } from '../service/route/router.ts';
import type { Service } from '../service/service.ts';
import { failure, RowanError } from '../util/error.ts';
import type { Admission } from './admission.ts';
import { BodyMemory } from './body/body-memory.ts';
import {
  arrivedBody,
  checkDeclaredLength,
  hasBody,
  readBody,
  skipBody,
  streamBytes,
} from './body/body-reader.ts';
import { checkFraming } from './body/framing.ts';
import { lingerBeforeClose } from './body/unread-body.ts';
import { Exchange } from './exchange.ts';
import { watchHalfClosed } from './half-closed.ts';
import { type Handling, HttpRequest } from './http-request.ts';
import type { Authentication } from './key/authentication.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { RestOptions } from './options.ts';
import {
  checkHost,
  checkOrigin,
  corsHeaders,
  type OriginPolicy,
  preflightHeaders,
} from './origin.ts';
import type { PassingOn } from './port-sharing.ts';
import { QueuedReplies } from './queued-replies.ts';
import { breakOff, writeReply } from './reply-writer.ts';
import { parseTarget } from './request-target.ts';
import { locationOf, timeLimitOf, withId } from './time-limit.ts';

export interface HandlerParts {
  readonly options: RestOptions;
  readonly dispatcher: RouteDispatcher;
  readonly service: Service;
  readonly authentication: Authentication;
  readonly admission: Admission;
  /** what makes entities and runs waits for workers in a line of its own */
  readonly constructions: Admission;
  readonly metrics: Metrics;
  readonly originPolicy: OriginPolicy;
  isStopping(): boolean;
  /** Called when the response has ended, however it did. */
  onEnd(exchange: Exchange): void;
  /** present where other processes can be asked */
  readonly passingOn: Pick<PassingOn, 'takeOver'> | undefined;
  /** A failure that is ours. */
  onDefect(error: unknown, exchange: Exchange): void;
}

const NO_PAIRS: readonly (readonly [string, string])[] = [];

/** A client that sends slowly must not keep a place from others; its pieces are queued themselves. */
const STREAMED = { light: { work: 'light' }, live: { work: 'live' } } as const;

/** Answered while the server shuts down. */
const HEALTH_PATH = '/v1/health';
const HEADER_COUNT_MAX = 2000;

export class RequestHandler {
  readonly #parts: HandlerParts;
  /** exchanges that end only when the client or the server does */
  readonly #live = new Set<Exchange>();
  readonly #queued = new QueuedReplies();
  readonly #bodyMemory: BodyMemory;
  readonly #transport: ReplyTransport<HttpRequest, void>;

  constructor(parts: HandlerParts) {
    this.#parts = parts;
    this.#bodyMemory = new BodyMemory(parts.options.bodyMemoryBytes);
    this.#transport = {
      enter: (bound) => this.#enter(bound),
      reply: (bound, made) => this.#reply(bound, made),
      onEnd: (bound) => this.#finish(bound),
    };
  }

  /** bytes of bodies of requests that have not ended */
  get heldBodyBytes(): number {
    return this.#bodyMemory.heldBytes;
  }

  /** Nothing here is asynchronous unless it must be: small requests end in the same turn. */
  handle(request: IncomingMessage, response: ServerResponse): void {
    const exchange = new Exchange(request, response);
    exchange.replyIdleTimeoutMs = this.#parts.options.replyIdleTimeoutMs;
    exchange.streamMinRate = this.#parts.options.streamMinRate;
    if (this.#parts.options.hasAccessLog) exchange.countBytes();
    this.#take(exchange, () => {
      const match = this.#accept(exchange);
      return match === undefined ? undefined : this.#receive(exchange, match);
    });
  }

  /** Takes a step towards the reply; what it leaves open is followed to its end. */
  #take(exchange: Exchange, step: () => Promise<void> | undefined): void {
    exchange.hasNextStep = false;
    try {
      step()?.catch((thrown) => this.#fail(exchange, thrown));
    } catch (thrown) {
      this.#fail(exchange, thrown);
    }
    if (exchange.isWritten) this.#end(exchange);
    else if (!exchange.hasNextStep) this.#followToEnd(exchange);
  }

  #end(exchange: Exchange): void {
    exchange.bodyShare?.release();
    this.#parts.onEnd(exchange);
  }

  #followToEnd(exchange: Exchange): void {
    const end = () => {
      exchange.closed();
      this.#end(exchange);
    };
    exchange.response.on('close', end);
    watchHalfClosed(exchange.request, exchange.response);
    this.#queued.watch(exchange.response, end);
  }

  /** Ends the streams that would otherwise never end. */
  endLive(): void {
    for (const exchange of this.#live) exchange.cancel(stopping());
  }

  /** Everything that the head of the request decides; undefined when it was answered. */
  #accept(exchange: Exchange): RouteMatch | undefined {
    const { request } = exchange;
    const verb = request.method as string;
    const policy = this.#parts.originPolicy;
    const cors = corsHeaders(policy, request.headers.origin);
    for (const text of cors) exchange.commonHeaders.push(text);
    this.#checkHead(request);
    const target = parseTarget(request.url as string);
    exchange.path = target.path;
    exchange.query = target.query;
    if (this.#parts.isStopping() && target.path !== HEALTH_PATH) throw stopping();
    checkHost(policy, request);
    if (verb === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined) {
      exchange.response.writeHead(204, [...exchange.commonHeaders, ...preflightHeaders(cors)]);
      exchange.response.end();
      return undefined;
    }
    if (verb === 'OPTIONS') {
      checkOrigin(policy, request);
      void this.#answerOptions(exchange);
      return undefined;
    }
    return this.#find(exchange, verb, target.path);
  }

  /** Which verbs a resource has, and what they do. */
  async #answerOptions(exchange: Exchange): Promise<void> {
    const { requestId, path, signal } = exchange;
    const reply = await this.#parts.dispatcher.dispatch({
      ...{ verb: 'OPTIONS', path, query: [], body: EMPTY_BODY, headers: {}, signal },
      ...{ role: 'open', requestId },
    });
    await writeReply(exchange, reply);
  }

  #checkHead(request: IncomingMessage): void {
    checkFraming(request);
    if (request.headers.host === undefined && request.httpVersion === '1.1') {
      throw failure('INVALID_PARAMETER', 'the header Host is missing');
    }
    const { headerBytesMax } = this.#parts.options;
    const url = request.url as string;
    if (url.length > headerBytesMax) {
      throw new RowanError(
        'INVALID_PARAMETER',
        414,
        `request line is longer than ${headerBytesMax} bytes`,
      );
    }
    const { rawHeaders } = request;
    let size = url.length;
    let hostCount = 0;
    for (let i = 0; i < rawHeaders.length; i++) {
      const text = rawHeaders[i] as string;
      size += text.length + 2;
      if (i % 2 === 0 && text.length === 4 && text.toLowerCase() === 'host') hostCount++;
    }
    if (hostCount > 1) throw failure('INVALID_PARAMETER', 'the header Host is given twice');
    if (size > headerBytesMax) {
      throw new RowanError(
        'INVALID_PARAMETER',
        431,
        `request line and headers are larger than ${headerBytesMax} bytes`,
      );
    }
    if (rawHeaders.length > 2 * HEADER_COUNT_MAX) {
      throw new RowanError('INVALID_PARAMETER', 431, `more than ${HEADER_COUNT_MAX} header fields`);
    }
  }

  #find(exchange: Exchange, verb: string, path: string): RouteMatch {
    const { authentication, originPolicy, dispatcher } = this.#parts;
    const { request } = exchange;
    const headers = request.headers as Record<string, string>;
    return dispatcher.accept(verb, path, {
      headers,
      onFound: (route) => {
        exchange.pattern = route.path;
      },
      identify: () => {
        checkOrigin(originPolicy, request);
        exchange.caller = authentication.identify(headers);
        return exchange.caller.role;
      },
    });
  }

  #receive(exchange: Exchange, match: RouteMatch): Promise<void> | undefined {
    const { request, response } = exchange;
    if (!hasBody(request)) {
      skipBody(request);
      return this.#answer(exchange, match, EMPTY_BODY);
    }
    const { options } = this.#parts;
    const { route } = match;
    const streams = route.streamsBody?.(request.headers as Record<string, string>) === true;
    if (request.headers.expect !== undefined) {
      acceptExpectation(request, response, streams ? undefined : options);
    }
    if (streams) {
      // A client may wait for the head of the reply before it sends more.
      const isLive = route.bodyMayPause === true;
      const pieces = streamBytes(request, options, isLive);
      return this.#answer(exchange, match, streamBody(pieces), STREAMED[isLive ? 'live' : 'light']);
    }
    checkDeclaredLength(request, options);
    // What came with the head is there when the parser has seen all that arrived.
    exchange.hasNextStep = true;
    process.nextTick(() => this.#take(exchange, () => this.#receiveBody(exchange, match)));
    return undefined;
  }

  #receiveBody(exchange: Exchange, match: RouteMatch): Promise<void> | undefined {
    const { request } = exchange;
    const arrived = arrivedBody(request);
    if (arrived !== undefined) return this.#answerBody(exchange, match, arrived);
    const share = this.#bodyMemory.open();
    exchange.bodyShare = share;
    return readBody(request, this.#parts.options, share).then((bytes) =>
      this.#answerBody(exchange, match, bytes),
    );
  }

  #answerBody(exchange: Exchange, match: RouteMatch, bytes: Uint8Array): Promise<void> | undefined {
    const mayPassOn = this.#parts.passingOn !== undefined;
    exchange.isBodyRead = true;
    if (mayPassOn) exchange.body = bytes;
    return this.#answer(exchange, match, bytesBody(bytes, !mayPassOn));
  }

  #answer(
    exchange: Exchange,
    match: RouteMatch,
    given: RequestBody,
    how: Handling = match.route,
  ): Promise<void> | undefined {
    const isConstruction = how.work === 'construction';
    const isHeavy = isConstruction || how.work === 'heavy';
    const ownLimitMs = isHeavy ? this.#parts.options.queryTimeoutMs : undefined;
    const timeLimitMs = timeLimitOf(exchange.request, ownLimitMs);
    const query = exchange.query === '' ? NO_PAIRS : parseQueryString(exchange.query);
    if (!given.isEmpty && how === match.route && isParsedInTurns(match.route, query, given)) {
      return given
        .parse(() => this.#giveWay(exchange))
        .then(() => this.#answer(exchange, match, given, how));
    }
    const body = timeLimitMs !== undefined && isConstruction ? withId(match, given) : given;
    const bound = new HttpRequest(exchange, match, query, body, how, timeLimitMs);
    exchange.isLive = how.work === 'live';
    const later = this.#parts.dispatcher.perform(bound, this.#transport);
    return later instanceof Promise ? later : undefined;
  }

  /** Lets other requests go on. @throws CANCELLED when the client of this one is gone */
  async #giveWay(exchange: Exchange): Promise<void> {
    await setImmediate();
    if (exchange.response.destroyed) throw failure('CANCELLED', 'the client went away');
  }

  /** Waits for a place; what makes entities and runs does so in a line of its own. */
  #enter({ exchange, work, timeLimitMs }: HttpRequest): Promise<void> | undefined {
    const isConstruction = work === 'construction';
    const line = isConstruction ? this.#parts.constructions : this.#parts.admission;
    // Waiting counts: the time of a request begins with its arrival.
    if (timeLimitMs !== undefined && !isConstruction) exchange.limitTime(timeLimitMs, true);
    const turn = line.enter(exchange);
    const take = () => {
      exchange.leavePlace = () => line.leave();
    };
    if (turn !== undefined) return turn.then(take);
    take();
    return undefined;
  }

  /** Streams of a task have work until the task ends; others until they are written. */
  #reply(bound: HttpRequest, made: Reply | Promise<Reply>): Promise<void> | undefined {
    const { exchange, timeLimitMs } = bound;
    if (exchange.isLive) this.#live.add(exchange);
    if (!(made instanceof Promise)) return writeReply(exchange, made);
    const inTime =
      timeLimitMs === undefined || exchange.isLive ? made : this.#inTime(bound, made, timeLimitMs);
    return inTime.then((reply) => {
      // A reply that only waits for its client needs no place any more.
      void reply.work?.then(() => exchange.giveBackPlace());
      return writeReply(exchange, reply);
    });
  }

  #finish(bound: HttpRequest): void {
    const { exchange, measured } = bound;
    exchange.end();
    if (exchange.isLive) this.#live.delete(exchange);
    exchange.giveBackPlace();
    if (measured !== undefined) this.#measure(measured, bound, exchange);
  }

  /** The reply, or a 504 when it takes too long; constructions then go on by themselves. */
  async #inTime(bound: HttpRequest, reply: Promise<Reply>, timeLimitMs: number): Promise<Reply> {
    const { exchange } = bound;
    const isConstruction = bound.work === 'construction';
    reply.catch(() => undefined); // has no reader when time is up first
    try {
      return await Promise.race([reply, exchange.limitTime(timeLimitMs, !isConstruction)]);
    } catch (thrown) {
      if (!isConstruction || !(thrown instanceof RowanError) || thrown.code !== 'TIMEOUT') {
        throw thrown;
      }
      const late = failureReply(thrown, exchange.requestId);
      return {
        ...late,
        headers: { ...late.headers, Location: locationOf(bound) },
      };
    }
  }

  #measure(measured: Measured, bound: HttpRequest, exchange: Exchange): void {
    const seconds = (performance.now() - exchange.startedAt) / 1000;
    const { metrics, service } = this.#parts;
    const { status } = exchange;
    const isOk = status !== undefined && status < 400;
    // A request that this process passed on is counted by the process that answered it.
    if (status === undefined && this.#parts.passingOn !== undefined) return;
    const outcome = exchange.isAborted ? 'cancelled' : isOk ? 'ok' : 'error';
    if (measured === 'query') {
      const label = formatLabel(bound);
      metrics.observeQuery(label, outcome, seconds);
      return;
    }
    const name = bound.params.id as string;
    const isKnown = service.functions.find(name) !== undefined;
    if (isKnown) metrics.calls.observe(name, measured, outcome, seconds);
  }

  #fail(exchange: Exchange, thrown: unknown): void {
    const { response, request } = exchange;
    if (!(thrown instanceof RowanError)) this.#parts.onDefect(thrown, exchange);
    if (response.destroyed) return;
    if (!response.headersSent && this.#parts.passingOn?.takeOver(exchange, thrown) === true) return;
    if (response.headersSent) {
      breakOff(exchange);
      return;
    }
    const reply = failureReply(thrown, exchange.requestId);
    const isUnread = hasBody(request) && !request.complete && !exchange.isBodyRead;
    if (isUnread || reply.status === 408 || isStoppingError(thrown)) {
      exchange.commonHeaders.push('Connection', 'close');
      if (isUnread) lingerBeforeClose(request);
    }
    exchange.end();
    const written = writeReply(exchange, reply);
    written?.catch(() => response.destroy());
  }
}

/** Formats that are none count as one, so that callers cannot make series. */
function formatLabel({ values, headers }: HttpRequest): string {
  const format = (values.format ?? '') as string;
  if (format === '') return acceptedFormat(headers.accept ?? '');
  return isFormatName(format) ? format : 'unknown';
}

/** Asks for the body that a client holds back, unless it is already known to be refused. */
function acceptExpectation(
  request: IncomingMessage,
  response: ServerResponse,
  limits: RestOptions | undefined,
): void {
  if (request.headers.expect?.toLowerCase() !== '100-continue') {
    throw new RowanError(
      'INVALID_PARAMETER',
      417,
      `Expect: ${request.headers.expect} is not known; accepted is 100-continue`,
    );
  }
  if (limits !== undefined) checkDeclaredLength(request, limits);
  response.writeContinue();
}

function stopping(): RowanError {
  return failure('SHUTTING_DOWN', {});
}

function isStoppingError(thrown: unknown): boolean {
  return thrown instanceof RowanError && thrown.code === 'SHUTTING_DOWN';
}
