// Calls over a transport: parameters to text, bodies to bytes, limits, replies, errors.
import { stringifyJson } from '../util/exact-json.ts';
import { CallLimit, type CallOptions } from './call-limit.ts';
import { asError, type PerformedReply, readAll, WholeReply } from './reply.ts';
import type { Transport, TransportReply } from './transport.ts';

export interface PerformOptions extends CallOptions {
  /** values that are not text are sent as JSON */
  readonly query?:
    | Readonly<Record<string, unknown>>
    | readonly (readonly [string, unknown])[]
    | undefined;
  /** a JSON value; bytes are sent as they are, and while they come if there are many pieces */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

/** Hears of the headers of a reply before its body is read; names are in lower case. */
export type HeaderListener = (headers: Readonly<Record<string, string>>) => void;

/** Makes the calls of all objects of a client over one transport, and can end those in flight. */
export class Caller {
  readonly #transport: Transport;
  readonly #defaults: CallOptions;
  readonly #open = new Set<CallLimit>();

  constructor(transport: Transport, defaults: CallOptions = {}) {
    this.#transport = transport;
    this.#defaults = defaults;
  }

  get streamsBodies(): boolean {
    return this.#transport.streamsBodies;
  }

  /** Failures of the service are replies. @throws UNREACHABLE, CANCELLED, TIMEOUT */
  async perform<Json = unknown>(
    verb: string,
    path: string,
    options: PerformOptions = {},
  ): Promise<PerformedReply<Json>> {
    const limit = this.#begin(options);
    try {
      const { status, headers, body } = await this.#send(verb, path, options, limit);
      const isWhole = typeof body === 'string' || body instanceof Uint8Array;
      return new WholeReply<Json>(
        status,
        headers,
        isWhole ? body : await readAll(within(limit, body)),
      );
    } finally {
      this.#end(limit);
    }
  }

  /** @returns the JSON of a success. @throws RowanError for everything else */
  async request<T = unknown>(
    verb: string,
    path: string,
    options?: PerformOptions,
    onHeaders?: HeaderListener,
  ): Promise<T> {
    const reply = await this.perform(verb, path, options);
    onHeaders?.(reply.headers);
    if (reply.status >= 400) throw asError(reply);
    return reply.json as T;
  }

  /** The pieces of a success as they arrive; the call is cancelled by who stops reading. */
  async *stream(
    verb: string,
    path: string,
    options: PerformOptions = {},
    onHeaders?: HeaderListener,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const limit = this.#begin(options);
    try {
      const { status, headers, body } = await this.#send(verb, path, options, limit);
      onHeaders?.(headers);
      const pieces = within(limit, piecesOf(body));
      if (status >= 400) throw asError(new WholeReply(status, headers, await readAll(pieces)));
      yield* pieces;
    } finally {
      this.#end(limit);
    }
  }

  /** Ends all calls; each fails with CANCELLED. */
  cancelAll(): void {
    for (const limit of this.#open) limit.cancel();
  }

  #begin({ signal, timeoutMs = this.#defaults.timeoutMs }: PerformOptions): CallLimit {
    const limit = new CallLimit({ signal, timeoutMs });
    this.#open.add(limit);
    return limit;
  }

  #end(limit: CallLimit): void {
    limit.end();
    this.#open.delete(limit);
  }

  async #send(
    verb: string,
    path: string,
    { query, body, headers }: PerformOptions,
    limit: CallLimit,
  ): Promise<TransportReply> {
    const bytes = encodeBody(body);
    const request = {
      verb,
      path,
      query: queryPairs(query),
      headers: encodeHeaders(headers, isJson(body, bytes)),
      body: bytes,
      signal: limit.signal,
    };
    const reply = await limit.wait(this.#transport.send(request));
    limit.extend();
    return reply;
  }
}

/** Pieces, each of them within the limit. */
async function* within(
  limit: CallLimit,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = pieces[Symbol.asyncIterator]();
  let isOver = false;
  try {
    for (;;) {
      const next = await limit.wait(iterator.next());
      if (next.done === true) break;
      limit.extend();
      yield next.value;
      limit.extend();
    }
    isOver = true;
  } finally {
    if (!isOver) {
      limit.cancel();
      // Not awaited: a source that waits for something hears of its end only after that.
      iterator.return?.()?.catch(() => undefined);
    }
  }
}

async function* piecesOf(body: TransportReply['body']): AsyncGenerator<Uint8Array> {
  if (typeof body === 'string') yield new TextEncoder().encode(body);
  else if (body instanceof Uint8Array) yield body;
  else yield* body;
}

/**
 * The parameters of a query string as texts, in their order; those that are undefined are left
 * out.
 */
export function queryPairs(query: PerformOptions['query']): [string, string][] {
  if (query === undefined) return [];
  const pairs = isPairs(query) ? query : Object.entries(query);
  return pairs.filter(([, value]) => value !== undefined).map(([k, v]) => [k, textOf(v)]);
}

function isPairs(
  query: NonNullable<PerformOptions['query']>,
): query is readonly (readonly [string, unknown])[] {
  return Array.isArray(query);
}

function encodeHeaders(given: PerformOptions['headers'], hasJson: boolean): Record<string, string> {
  const headers: Record<string, string> = hasJson ? { 'content-type': 'application/json' } : {};
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value !== undefined) headers[name.toLowerCase()] = textOf(value);
  }
  return headers;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value);
}

function encodeBody(body: unknown): Uint8Array | AsyncIterable<Uint8Array> | undefined {
  if (body === undefined || body === null) return undefined;
  if (body instanceof Uint8Array || isAsyncIterable(body)) return body;
  return new TextEncoder().encode(stringifyJson(body));
}

function isJson(body: unknown, bytes: unknown): boolean {
  return bytes !== undefined && bytes !== body;
}

function isAsyncIterable(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
}
