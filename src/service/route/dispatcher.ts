// How a part of the service makes requests to the service itself.
import type { Reply, RouteRequest } from './request.ts';

export interface Dispatcher {
  /** Performs a request; failures are replies too. */
  dispatch(request: RouteRequest): Promise<Reply>;
  /** The help document of all routes. */
  help(): Record<string, unknown>;
  autodoc(): Record<string, unknown>;
}
