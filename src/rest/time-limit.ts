// Time limits of requests, and where to find what is made after the time is up.
import type { IncomingMessage } from 'node:http';
import { automaticId, automaticRunId, nowSeconds } from '../service/id.ts';
import type { RequestBody } from '../service/route/request.ts';
import { parsedBody } from '../service/route/request-body.ts';
import type { BoundRequest } from '../service/route/route.ts';
import type { RouteMatch } from '../service/route/router.ts';
import { failure } from '../util/error.ts';

/** The smaller of the caller's limit and the service's. @throws INVALID_PARAMETER */
export function timeLimitOf(
  request: IncomingMessage,
  ownMs: number | undefined,
): number | undefined {
  const text = request.headers['x-request-timeout'];
  if (text === undefined) return ownMs;
  const limit = typeof text === 'string' && /^[0-9]{1,9}$/.test(text) ? Number(text) : 0;
  if (limit === 0) {
    throw failure(
      'INVALID_PARAMETER',
      `X-Request-Timeout: a whole number of milliseconds was expected; instead got '${text}'`,
    );
  }
  return ownMs === undefined ? limit : Math.min(limit, ownMs);
}

/** Gives what is made without an id one now, so that a late reply can say where it is. */
export function withId({ route }: RouteMatch, body: RequestBody): RequestBody {
  if (route.collectionOf === undefined || body.isEmpty) return body;
  const document = body.json();
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return body;
  const { id } = document as { readonly id?: unknown };
  if (id !== undefined && id !== null) return body;
  const made = route.collectionOf === 'run' ? automaticRunId(nowSeconds()) : automaticId();
  return parsedBody({ ...document, id: made });
}

/** The path of what a request makes; its body has an id. */
export function locationOf({ path, route, body }: BoundRequest): string {
  if (route.collectionOf === undefined) return path;
  const { id } = body.json() as { readonly id: unknown };
  return `${path}/${encodeURIComponent(String(id))}`;
}
