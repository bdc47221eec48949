// Requests of programs in the process of the service.
import { readAll } from '../../client/reply.ts';
import type { Transport, TransportReply, TransportRequest } from '../../client/transport.ts';
import { RowanError } from '../../util/error.ts';
import { stringifyJson } from '../../util/exact-json.ts';
import { automaticRequestId } from '../id.ts';
import { failureReply } from './failure-reply.ts';
import { parseQueryString } from './parameter-binding.ts';
import type { Reply, RequestBody, Role, RouteRequest } from './request.ts';
import { bytesBody, EMPTY_BODY, streamBody } from './request-body.ts';
import type { RouteDispatcher } from './route-dispatcher.ts';

export class LocalTransport implements Transport {
  readonly streamsBodies = true;
  readonly #dispatcher: RouteDispatcher;
  readonly #role: Role;

  constructor(dispatcher: RouteDispatcher, role: Role) {
    this.#dispatcher = dispatcher;
    this.#role = role;
  }

  async send(request: TransportRequest): Promise<TransportReply> {
    let reply: Reply;
    try {
      const body = await this.#bodyOf(request);
      reply = await this.#dispatcher.dispatch(makeRequest({ ...request, body, role: this.#role }));
    } catch (thrown) {
      if (!(thrown instanceof RowanError)) throw thrown;
      reply = failureReply(thrown, automaticRequestId());
    }
    const { status } = reply;
    return { status, headers: headersOf(reply), body: reply.stream ?? wholeBody(reply) };
  }

  async #bodyOf({ verb, path, headers, body }: TransportRequest): Promise<RequestBody> {
    if (body === undefined) return EMPTY_BODY;
    if (body instanceof Uint8Array) return bytesBody(body);
    const { route } = this.#dispatcher.router.find(verb, splitPath(path)[0]);
    return route.streamsBody?.(headers) === true
      ? streamBody(body)
      : bytesBody(await readAll(body));
  }
}

export interface LocalRequest extends Omit<TransportRequest, 'body'> {
  readonly body: RequestBody;
  readonly role: Role;
}

/** A request made in this process. @throws INVALID_PARAMETER for a malformed query string */
export function makeRequest({ path, query, ...request }: LocalRequest): RouteRequest {
  const [place, queryString] = splitPath(path);
  const inPath = queryString === undefined ? [] : parseQueryString(queryString);
  return {
    ...request,
    path: place,
    query: inPath.length === 0 ? query : [...inPath, ...query],
    requestId: automaticRequestId(),
  };
}

function splitPath(path: string): [path: string, queryString: string | undefined] {
  const mark = path.indexOf('?');
  return mark === -1 ? [path, undefined] : [path.slice(0, mark), path.slice(mark + 1)];
}

/** As HTTP would show them. */
function headersOf(reply: Reply): Record<string, string> {
  const headers: Record<string, string> = {};
  const type = contentTypeOf(reply);
  if (type !== undefined) headers['content-type'] = type;
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** The content type of a reply, with the defaults of its forms. */
export function contentTypeOf(reply: Reply): string | undefined {
  if (reply.contentType !== undefined) return reply.contentType;
  if (reply.json !== undefined) return 'application/json';
  return reply.text === undefined ? undefined : 'text/plain; charset=utf-8';
}

function wholeBody({ bytes, text, json }: Reply): string | Uint8Array {
  return bytes ?? text ?? (json === undefined ? '' : stringifyJson(json));
}

/** The body of a reply as text, read to the end. */
export async function readText(reply: Reply): Promise<string> {
  const body = reply.stream === undefined ? wholeBody(reply) : await readAll(reply.stream);
  return typeof body === 'string' ? body : new TextDecoder().decode(body);
}
