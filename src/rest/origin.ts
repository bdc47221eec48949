// Which web pages may use the service: CORS, and protection of a service without keys from pages of
// other sites, which can make the browsers of their visitors send requests here.
import type { IncomingMessage } from 'node:http';
import { RowanError } from '../util/error.ts';
import { isLoopbackHost, splitAuthority } from './address.ts';

export interface OriginPolicy {
  readonly corsOrigins: readonly string[];
  readonly authentication: { readonly hasKeys: boolean };
  /** whether the service listens on this machine only */
  readonly isLoopback: boolean;
  /** the name given to listen on */
  readonly host: string;
  /** the port that is served, where connections do not tell it */
  port?: number;
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

const NONE: readonly string[] = [];
const HTTP_PORT = 80;
const HTTPS_PORT = 443;

/** Headers of every reply, as a flat list of names and values. */
export function corsHeaders(policy: OriginPolicy, origin: string | undefined): readonly string[] {
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
 * A page that reaches a service of this machine by a name of its own (DNS rebinding) is of the same
 * origin for the browser; only the name gives it away.
 * @throws FORBIDDEN
 */
export function checkHost(policy: OriginPolicy, { headers, socket }: IncomingMessage): void {
  if (policy.authentication.hasKeys || !policy.isLoopback) return;
  const { host } = headers;
  if (host !== undefined && !isOwnHost(policy, host, socket.localPort)) {
    throw forbidden(`Host '${host}' is not a name of this service`);
  }
}

/**
 * Protects a service without keys from pages of other sites, whatever the verb: a query can read
 * files, and what it answers would be the page's. Browsers say where a request comes from in
 * `Origin`, or in `Sec-Fetch-Site` where they leave the origin out.
 * @throws FORBIDDEN
 */
export function checkOrigin(policy: OriginPolicy, { headers, socket }: IncomingMessage): void {
  if (policy.authentication.hasKeys) return;
  const { origin } = headers;
  if (origin !== undefined) {
    if (isAllowed(policy, origin) || isOwnOrigin(policy, headers.host, origin, socket.localPort)) {
      return;
    }
    throw forbidden(`requests of pages of Origin '${origin}' are not taken`);
  }
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') {
    throw forbidden(`requests and links of pages of other sites are not taken (${site})`);
  }
}

/** Programs may leave the port out; a name alone is enough to tell a foreign one. */
function isOwnHost(policy: OriginPolicy, authority: string, localPort?: number): boolean {
  if (authority === policy.lastOwnHost) return true;
  const parts = splitAuthority(authority);
  if (parts === undefined || !isOwnName(policy, parts.host)) return false;
  const isOwn = parts.port === undefined || isOwnPort(policy, parts.port, localPort);
  if (isOwn) policy.lastOwnHost = authority;
  return isOwn;
}

function isOwnName(policy: OriginPolicy, name: string): boolean {
  return isLoopbackHost(name) || name.toLowerCase() === policy.host.toLowerCase();
}

/** Requests that another process passes on come through a socket without a port. */
function isOwnPort({ port }: OriginPolicy, asked: number, localPort = port): boolean {
  return localPort === undefined || asked === localPort;
}

function isOwnOrigin(
  policy: OriginPolicy,
  host: string | undefined,
  origin: string,
  localPort?: number,
): boolean {
  const match = /^http(s?):\/\/([^/]+)$/i.exec(origin);
  const authority = match?.[2];
  if (authority === undefined) return false;
  if (!policy.isLoopback) return authority.toLowerCase() === host?.toLowerCase();
  const parts = splitAuthority(authority);
  if (parts === undefined || !isOwnName(policy, parts.host)) return false;
  const port = parts.port ?? (match?.[1] === '' ? HTTP_PORT : HTTPS_PORT);
  return isOwnPort(policy, port, localPort);
}

/** Every origin is let in only where keys say who asks. */
function isAllowed({ corsOrigins, authentication }: OriginPolicy, origin: string): boolean {
  return corsOrigins.includes(origin) || (authentication.hasKeys && corsOrigins.includes('*'));
}

function forbidden(message: string): RowanError {
  return new RowanError('FORBIDDEN', 403, `${message}; --cors-origin allows origins`);
}
