// The routes that a replica can answer from shared data. All others are the primary's.
import type { Route } from '../service/route/route.ts';
import { ROUTES } from '../service/route/table/index.ts';

const FUNCTION = '/v1/functions/:id';
const DATASET = '/v1/datasets/:id';

const PATTERNS: Readonly<Record<string, readonly string[]>> = {
  GET: [
    '/v1/query',
    ...['application', 'batch', 'info', 'details'].map((name) => `${FUNCTION}/${name}`),
    ...['rows', 'columns', 'timestampRange'].map((name) => `${DATASET}/${name}`),
    ...['values', 'valuecounts'].map((name) => `${DATASET}/columns/:column/${name}`),
  ],
  POST: [
    '/v1/query',
    '/v1/redirect/get',
    ...['application', 'batch', 'stream'].map((name) => `${FUNCTION}/${name}`),
  ],
};

export const LOCAL_ROUTES: readonly Route[] = ROUTES.filter(
  ({ verb, path }) => PATTERNS[verb]?.includes(path) === true,
);

const GET_PATHS = pathMatcher(PATTERNS.GET as readonly string[]);
const POST_PATHS = pathMatcher(PATTERNS.POST as readonly string[]);

/** @param target path and query string of a request */
export function isLocalRequest(verb: string | undefined, target: string): boolean {
  if (verb === 'POST') return POST_PATHS.test(target);
  return (verb === 'GET' || verb === 'HEAD') && GET_PATHS.test(target);
}

function pathMatcher(patterns: readonly string[]): RegExp {
  const alternatives = patterns.map((pattern) => pattern.replace(/:[a-z]+/g, '[^/?]+'));
  return new RegExp(`^(?:${alternatives.join('|')})(?:\\?|$)`);
}
