// Requests over HTTP by fetch, in Node.js and in browsers.
import { failure, RowanError } from '../util/error.ts';
import type { Transport, TransportReply, TransportRequest } from './transport.ts';

export interface HttpOptions {
  /** API key of a server that asks for one */
  readonly apiKey?: string | undefined;
  /** sent with every request */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** instead of the global fetch, for instance one with a proxy or other limits */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * whether fetch sends bodies while they come; default: outside of browsers. Without it streams
   * are cut into requests.
   */
  readonly streamsBodies?: boolean | undefined;
}

/** Sends requests by fetch; bodies may be streams where the platform sends streams. */
export class HttpTransport implements Transport {
  readonly streamsBodies: boolean;
  readonly #base: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: typeof globalThis.fetch;

  /** @param url of the server; a path in it stands before all others */
  constructor(url: string | URL, options: HttpOptions = {}) {
    const { apiKey, headers, fetch, streamsBodies = !isBrowser() } = options;
    this.#base = parseUrl(url).href.replace(/\/+$/, '');
    this.#headers = {
      ...headers,
      ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    };
    this.#fetch = fetch ?? ((input, init) => globalThis.fetch(input, init));
    this.streamsBodies = streamsBodies;
  }

  async send(request: TransportRequest): Promise<TransportReply> {
    const hasBody = request.body !== undefined;
    // What fetch refuses to do, the service does for those who ask.
    const isBodyOfGet = hasBody && request.verb === 'GET';
    const sent = isBodyOfGet ? redirected(request) : request;
    const response = await this.#exchange(sent);
    const headers = Object.fromEntries(response.headers);
    if (isBodyOfGet && response.status >= 400) {
      return { status: response.status, headers, body: unwrapped(await response.text()) };
    }
    return { status: response.status, headers, body: response.body ? this.#read(response) : '' };
  }

  async #exchange(request: TransportRequest): Promise<Response> {
    const { verb, path, query, headers, body, signal } = request;
    const url = this.#base + withQuery(path, query);
    const init: RequestInit = {
      method: verb,
      headers: { ...this.#headers, ...headers },
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : bodyOf(body, signal)),
    };
    try {
      const response = await this.#fetch(url, init);
      // Browsers do not show redirections, they only follow them.
      if (response.type !== 'opaqueredirect') return response;
      return await this.#fetch(url, { ...init, redirect: 'follow' });
    } catch (thrown) {
      throw unreachable(`no reply from ${this.#base}`, thrown);
    }
  }

  async *#read(response: Response): AsyncGenerator<Uint8Array> {
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let isOver = false;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        yield value;
      }
      isOver = true;
    } catch (thrown) {
      throw unreachable(`the reply from ${this.#base} broke off`, thrown);
    } finally {
      if (!isOver) reader.cancel().catch(() => undefined);
    }
  }
}

/** @throws INVALID_URL for what is no address of a server */
function parseUrl(url: string | URL): URL {
  const text = String(url);
  const parsed = URL.canParse(text) ? new URL(text) : undefined;
  if (parsed?.protocol === 'http:' || parsed?.protocol === 'https:') return parsed;
  throw failure('INVALID_URL', `'${text}' is no address of a server; accepted are http and https`);
}

function isBrowser(): boolean {
  return !('process' in globalThis || 'Deno' in globalThis);
}

function withQuery(path: string, query: TransportRequest['query']): string {
  if (query.length === 0) return path;
  const text = String(
    new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])),
  );
  return `${path}${path.includes('?') ? '&' : '?'}${text}`;
}

function bodyOf(
  body: Uint8Array | AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Pick<RequestInit, 'body' | 'duplex'> {
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> };
  return { body: streamOf(body, signal), duplex: 'half' };
}

/** A stream that takes a piece when it is asked for one, and none any more after an abort. */
function streamOf(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): ReadableStream {
  const iterator = pieces[Symbol.asyncIterator]();
  const stop = () => {
    iterator.return?.()?.catch(() => undefined);
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = signal.aborted ? undefined : await iterator.next();
        if (next !== undefined && next.done !== true) controller.enqueue(next.value);
        else {
          controller.close();
          if (next === undefined) stop();
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

/** A GET that carries its body in a POST. */
function redirected({ path, query, body, ...request }: TransportRequest): TransportRequest {
  if (!(body instanceof Uint8Array)) throw new TypeError('the body of a GET cannot be a stream');
  const target = JSON.stringify(withQuery(path, query));
  const text = `{"target":${target},"body":${new TextDecoder().decode(body)}}`;
  return {
    ...request,
    verb: 'POST',
    path: '/v1/redirect/get',
    query: [],
    body: new TextEncoder().encode(text),
  };
}

/** The failure of the GET itself. */
function unwrapped(text: string): string {
  const body = JSON.parse(text) as { error?: string; details?: { context?: unknown } };
  const isWrapped =
    body.error?.endsWith('(failed to redirect call)') === true &&
    body.details?.context !== undefined;
  return isWrapped ? JSON.stringify(body.details?.context) : text;
}

function unreachable(what: string, thrown: unknown): RowanError {
  if (thrown instanceof RowanError) return thrown;
  const { cause, message } = thrown as { cause?: { message?: string }; message?: string };
  const error = new RowanError('UNREACHABLE', 503, `${what}: ${cause?.message || message}`);
  error.cause = thrown;
  return error;
}
