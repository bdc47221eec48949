// The routes that a replica can answer from shared data. All others are the primary's.
import type { Route } from '../service/route/route.ts';
import { ROUTES } from '../service/route/table/index.ts';

export const LOCAL_ROUTES: readonly Route[] = ROUTES.filter(
  ({ sharedDataOnly }) => sharedDataOnly === true,
);

const GET_PATHS = pathMatcher('GET');
const POST_PATHS = pathMatcher('POST');

/** @param target path and query string of a request */
export function isLocalRequest(verb: string | undefined, target: string): boolean {
  if (verb === 'POST') return POST_PATHS.test(target);
  return (verb === 'GET' || verb === 'HEAD') && GET_PATHS.test(target);
}

function pathMatcher(verb: string): RegExp {
  const paths = LOCAL_ROUTES.filter((route) => route.verb === verb).map(({ path }) => path);
  const alternatives = paths.map((path) => path.replace(/:[a-z]+/g, '[^/?]+'));
  return new RegExp(`^(?:${alternatives.join('|')})(?:\\?|$)`);
}
