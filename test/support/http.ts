// A small HTTP client. Unlike fetch it sends a body with GET, which the API takes.

import { Agent, request } from 'node:http';
import { stringifyJson } from '../../src/util/exact-json.ts';

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Connections stay open between requests; `close` ends them. */
export class HttpClient {
  readonly origin: string;
  readonly #agent = new Agent({ keepAlive: true });

  /** @param origin scheme, host and port */
  constructor(origin: string) {
    this.origin = origin;
  }

  /** @param body sent as JSON unless it is undefined or null */
  send(
    verb: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply> {
    const payload = body === undefined || body === null ? undefined : stringifyJson(body);
    const own =
      payload === undefined
        ? {}
        : {
            'content-type': 'application/json',
            'content-length': String(Buffer.byteLength(payload)),
          };
    return new Promise((resolve, reject) => {
      const outgoing = request(
        this.origin + path,
        { method: verb, agent: this.#agent, headers: { ...own, ...headers } },
        (incoming) => {
          const parts: Buffer[] = [];
          incoming.on('data', (part: Buffer) => parts.push(part));
          incoming.on('error', reject);
          incoming.on('end', () =>
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              text: Buffer.concat(parts).toString('utf8'),
            }),
          );
        },
      );
      outgoing.on('error', reject);
      outgoing.end(payload);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
