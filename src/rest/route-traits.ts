// What the transport must know of a route, worked out once.
import type { Route } from '../service/route/route.ts';
import { isConstruction, isHeavy } from './admission.ts';

export interface RouteTraits {
  readonly isHeavy: boolean;
  readonly isConstruction: boolean;
  readonly isLive: boolean;
  /** what is counted beside the request itself */
  readonly measured: Measured | undefined;
}

export type Measured = 'query' | 'application' | 'batch';

/** A client that sends slowly must not keep a place from others; its pieces are queued themselves. */
export const STREAM_TRAITS: RouteTraits = {
  isHeavy: false,
  isConstruction: false,
  isLive: false,
  measured: undefined,
};

const known = new WeakMap<Route, RouteTraits>();

export function traitsOf(route: Route): RouteTraits {
  let traits = known.get(route);
  if (traits === undefined) {
    traits = {
      isHeavy: isHeavy(route),
      isConstruction: isConstruction(route),
      isLive: /\/(watches|events)$/.test(route.path),
      measured: measuredOf(route),
    };
    known.set(route, traits);
  }
  return traits;
}

function measuredOf({ path }: Route): Measured | undefined {
  if (path === '/v1/query') return 'query';
  return /^\/v1\/functions\/:id\/(application|batch)$/.exec(path)?.[1] as Measured | undefined;
}

const FORMATS = new Set([
  'full',
  'table',
  'aos',
  'soa',
  'sparse',
  'atom',
  'csv',
  'ndjson',
  'arrow',
]);

/** Formats that are none count as one, so that callers cannot make series. */
export function formatLabel(format: unknown, accept: string | undefined): string {
  if (format === undefined || format === '') {
    return /\b(csv|ndjson|arrow)\b/.exec(accept ?? '')?.[1] ?? 'full';
  }
  return FORMATS.has(format as string) ? (format as string) : 'unknown';
}
