// Which web pages may use the service: CORS, and protection of an open service on this machine
// from pages that reach it through a name of their own (DNS rebinding).
import { RowanError } from '../util/error.ts';
import { hostName, isLoopbackHost } from './address.ts';

export interface OriginPolicy {
  readonly corsOrigins: readonly string[];
  readonly authentication: { readonly hasKeys: boolean };
  /** whether the service listens on this machine only */
  readonly isLoopback: boolean;
  /** the name given to listen on */
  readonly host: string;
  /** clients name the same host again and again */
  lastOwnHost?: string;
}

const EXPOSED = 'Location, EntityPath, X-Request-Id, Retry-After';

const PREFLIGHT = [
  ...['Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS, HEAD'],
  'Access-Control-Allow-Headers',
  'Authorization, X-API-Key, Content-Type, async, Prefer, X-Request-Id, X-Request-Timeout, Last-Event-ID, If-None-Match',
  ...['Access-Control-Max-Age', '86400'],
];

const OPEN = ['Access-Control-Allow-Origin', '*'];
const OPEN_EXPOSED = [...OPEN, 'Access-Control-Expose-Headers', EXPOSED];
const NONE: readonly string[] = [];

/** Headers of every reply, as a flat list of names and values. */
export function corsHeaders(policy: OriginPolicy, origin: string | undefined): readonly string[] {
  if (!policy.authentication.hasKeys) return origin === undefined ? OPEN : OPEN_EXPOSED;
  if (policy.corsOrigins.length === 0) return NONE;
  if (origin === undefined || !isAllowed(policy, origin)) return ['Vary', 'Origin'];
  return [
    ...['Access-Control-Allow-Origin', policy.corsOrigins.includes('*') ? '*' : origin],
    ...['Access-Control-Expose-Headers', EXPOSED, 'Vary', 'Origin'],
  ];
}

/** Headers of the reply to a preflight, beside those of every reply. */
export function preflightHeaders(cors: readonly string[]): readonly string[] {
  return cors.includes('Access-Control-Allow-Origin') ? PREFLIGHT : NONE;
}

/**
 * Protects a service without keys. A page of a foreign site can make a browser send requests here,
 * but its `Host` or `Origin` gives it away.
 * @throws FORBIDDEN
 */
export function checkOrigin(
  policy: OriginPolicy,
  verb: string,
  host: string | undefined,
  origin: string | undefined,
): void {
  if (policy.authentication.hasKeys || !policy.isLoopback) return;
  if (host !== undefined && !isOwnHost(policy, host)) {
    throw forbidden(`Host '${host}' is not a name of this service`);
  }
  if (origin === undefined || verb === 'GET' || verb === 'HEAD' || verb === 'OPTIONS') return;
  if (!isOwnOrigin(policy, origin) && !isAllowed(policy, origin)) {
    throw forbidden(`requests that change something are not taken from Origin '${origin}'`);
  }
}

function isOwnHost(policy: OriginPolicy, authority: string): boolean {
  if (authority === policy.lastOwnHost) return true;
  const name = hostName(authority);
  const isOwn = isLoopbackHost(name) || name.toLowerCase() === policy.host.toLowerCase();
  if (isOwn) policy.lastOwnHost = authority;
  return isOwn;
}

function isOwnOrigin(policy: OriginPolicy, origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match !== null && isOwnHost(policy, match[1] as string);
}

function isAllowed({ corsOrigins }: OriginPolicy, origin: string): boolean {
  return corsOrigins.includes('*') || corsOrigins.includes(origin);
}

function forbidden(message: string): RowanError {
  return new RowanError('FORBIDDEN', 403, `${message}; --cors-origin allows origins`);
}
