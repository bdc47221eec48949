// A plain HTTP transport of the routes.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { automaticRequestId } from '../service/id.ts';
import { parseQueryString } from '../service/parameter-binding.ts';
import type { Reply } from '../service/request.ts';
import { bytesBody } from '../service/request-body.ts';
import { contentTypeOf, type RowanService } from '../service/rowan.ts';
import { errorBody } from '../util/error.ts';
import { stringifyJson } from '../util/exact-json.ts';

export interface ListenOptions {
  /** default 127.0.0.1 */
  readonly host?: string;
  /** default: any free port */
  readonly port?: number;
}

export interface Server {
  readonly address: string;
  close(): Promise<void>;
}

export async function listen(rowan: RowanService, options: ListenOptions): Promise<Server> {
  const { host = '127.0.0.1', port = 0 } = options;
  const server = createServer({ maxHeaderSize: 1 << 20 }, (request, response) => {
    void answer(rowan, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: `http://${host}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  rowan: RowanService,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = automaticRequestId();
  const abort = new AbortController();
  response.once('close', () => abort.abort());
  let reply: Reply;
  try {
    const target = request.url ?? '/';
    const mark = target.indexOf('?');
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    reply = await rowan.dispatcher.dispatch({
      verb: request.method ?? 'GET',
      path: mark === -1 ? target : target.slice(0, mark),
      query: mark === -1 ? [] : parseQueryString(target.slice(mark + 1)),
      body: bytesBody(Buffer.concat(parts)),
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      signal: abort.signal,
      role: 'admin',
      requestId,
    });
  } catch (thrown) {
    const body = errorBody(thrown);
    reply = { status: body.httpCode, json: { ...body, requestId } };
  }
  await write(reply, requestId, response);
}

async function write(reply: Reply, requestId: string, response: ServerResponse): Promise<void> {
  response.statusCode = reply.status;
  response.setHeader('X-Request-Id', requestId);
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  const contentType = contentTypeOf(reply);
  if (contentType !== undefined) response.setHeader('Content-Type', contentType);
  if (reply.stream === undefined) {
    response.end(
      reply.bytes ?? reply.text ?? (reply.json === undefined ? '' : stringifyJson(reply.json)),
    );
    return;
  }
  try {
    for await (const bytes of reply.stream) {
      if (response.closed) return;
      if (!response.write(bytes)) {
        await new Promise<void>((resolve) => {
          response.once('drain', resolve);
          response.once('close', resolve);
        });
      }
    }
    response.end();
  } catch {
    response.destroy();
  }
}
