// Requests for tests that look at replies before they are read.
import { makeRequest } from '../../src/service/route/local-transport.ts';
import type { RouteRequest } from '../../src/service/route/request.ts';
import { valueBody } from '../../src/service/route/request-body.ts';

export interface LocalRequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export function localRequest(
  verb: string,
  path: string,
  { body, headers = {}, signal = new AbortController().signal }: LocalRequestOptions = {},
): RouteRequest {
  const request = { verb, path, query: [], headers, signal, role: 'admin' } as const;
  return makeRequest({ ...request, body: valueBody(body) });
}
