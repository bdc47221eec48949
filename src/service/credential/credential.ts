// Rules of credentials: reading them, showing them without their secrets, choosing among them.
import { createHash } from 'node:crypto';
import { type Credential, RESOURCE_TYPES, type ResourceType } from '../../file/credential.ts';
import { unknownField } from '../../schema/message.ts';
import { failure, type RowanError } from '../../util/error.ts';
import { stringifyJson } from '../../util/exact-json.ts';
import { parseTimestamp } from '../../value/timestamp.ts';

type Json = Readonly<Record<string, unknown>>;

export interface CredentialRule {
  readonly resourceType: ResourceType;
  /** prefix of the URLs that it is for; "" for all */
  readonly resource: string;
  /** the document as it was given */
  readonly store: Json;
  readonly credential: Credential;
  /** seconds since the epoch after which it is not used; infinity when it does not expire */
  readonly expiresAt: number;
}

const RULE_KEYS = ['resourceType', 'resource', 'expiration', 'extra', 'credential'];
const CREDENTIAL_KEYS = ['provider', 'protocol', 'location', 'id', 'secret', 'extra', 'validUntil'];

/**
 * Reads the `store` object of a rule. Messages name members, never what they hold.
 * @throws UNKNOWN_FIELD, MISSING_PARAMETER, INVALID_PARAMETER
 */
export function parseCredentialRule(json: unknown, path = 'store'): CredentialRule {
  const store = objectMember(json, path);
  checkKeys(store, RULE_KEYS, path);
  const resourceType = textMember(store, 'resourceType', path);
  if (!isResourceType(resourceType)) {
    throw failure(
      'INVALID_PARAMETER',
      `${path}.resourceType must be one of ${RESOURCE_TYPES.join(', ')}`,
      { path: `${path}.resourceType`, accepted: RESOURCE_TYPES },
    );
  }
  if (!isAbsent(store.extra)) objectMember(store.extra, `${path}.extra`);
  const place = `${path}.credential`;
  const given = objectMember(store.credential, place);
  checkKeys(given, CREDENTIAL_KEYS, place);
  const rule = {
    resourceType,
    resource: textMember(store, 'resource', path),
    store,
    credential: parseCredential(given, place),
    expiresAt: Math.min(
      dateMember(store, 'expiration', path),
      dateMember(given, 'validUntil', place),
    ),
  };
  const { id, secret, extra } = rule.credential;
  if (id === '' && secret === '' && extra === undefined) {
    throw failure('MISSING_PARAMETER', `${place} is empty: it needs an id, a secret or both`, {
      path: `${place}.secret`,
    });
  }
  return rule;
}

/** The rule as replies show it: nothing of the credential but that there is one. */
export function shownRule({ store }: CredentialRule): Json {
  const { resourceType, resource, expiration, extra } = store;
  return {
    resourceType,
    resource: resource ?? '',
    ...(isAbsent(expiration) ? {} : { expiration }),
    ...(isAbsent(extra) ? {} : { extra }),
    credential: { secret: '<<credentials removed>>' },
  };
}

/** An id for a rule that was given none: the same for the same rule. */
export function ruleId({ store }: CredentialRule): string {
  return createHash('sha256')
    .update(stringifyJson(sortedKeys(store)))
    .digest('hex')
    .slice(0, 16);
}

/**
 * The rule with the longest prefix of the URL; among equals the first.
 * @param nowSeconds rules that expired before are left out
 */
export function chooseRule(
  rules: Iterable<CredentialRule>,
  type: ResourceType,
  url: string,
  nowSeconds: number,
): CredentialRule | undefined {
  let best: CredentialRule | undefined;
  for (const rule of rules) {
    if (rule.resourceType !== type || rule.expiresAt <= nowSeconds) continue;
    if (!isFor(rule, url)) continue;
    if (best === undefined || rule.resource.length > best.resource.length) best = rule;
  }
  return best;
}

/** Ports that an address without one means; S3 keeps the bucket in the place of a host. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = {
  'http:': '80',
  'https:': '443',
  'sftp:': '22',
};

/**
 * A prefix is for whole components: scheme, host and port exactly, then segments of the path. Half
 * a host, a port or a name would also fit what belongs to others.
 */
function isFor({ resource }: CredentialRule, url: string): boolean {
  if (resource === '') return true;
  if (resource.endsWith('://')) return url.startsWith(resource);
  const known = componentsOf(resource);
  const asked = componentsOf(url);
  if (known === undefined) return false;
  if (asked === undefined || asked.origin !== known.origin) return false;
  const { path } = known;
  return asked.path === path || asked.path.startsWith(path.endsWith('/') ? path : `${path}/`);
}

/** Undefined for what is no address. */
function componentsOf(url: string): { readonly origin: string; readonly path: string } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, port, pathname } = new URL(url);
  const ownPort = port === '' ? (DEFAULT_PORTS[protocol] ?? '') : port;
  return { origin: `${protocol}//${hostname}:${ownPort}`, path: pathname === '' ? '/' : pathname };
}

function parseCredential(given: Json, path: string): Credential {
  const { extra } = given;
  return {
    ...optionalText(given, 'provider', path),
    ...optionalText(given, 'protocol', path),
    ...optionalText(given, 'location', path),
    id: textMember(given, 'id', path),
    secret: textMember(given, 'secret', path),
    ...(isAbsent(extra) ? {} : { extra: objectMember(extra, `${path}.extra`) }),
  };
}

function isResourceType(text: string): text is ResourceType {
  return (RESOURCE_TYPES as readonly string[]).includes(text);
}

function isAbsent(json: unknown): boolean {
  return json === undefined || json === null;
}

function objectMember(json: unknown, path: string): Json {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
  if (isAbsent(json)) throw failure('MISSING_PARAMETER', `${path} is missing`, { path });
  throw wrongKind('Object', path);
}

/** @returns "" when it is absent */
function textMember(object: Json, key: string, path: string): string {
  const json = object[key];
  if (isAbsent(json)) return '';
  if (typeof json !== 'string') throw wrongKind('String', `${path}.${key}`);
  return json;
}

function optionalText(object: Json, key: string, path: string): Record<string, string> {
  return isAbsent(object[key]) ? {} : { [key]: textMember(object, key, path) };
}

/** Seconds since the epoch; infinity when there is no date. */
function dateMember(object: Json, key: string, path: string): number {
  const json = object[key];
  if (isAbsent(json) || json === '') return Number.POSITIVE_INFINITY;
  const seconds = typeof json === 'string' ? parseTimestamp(json) : json;
  if (typeof seconds === 'number' && !Number.isNaN(seconds)) return seconds;
  throw wrongKind('Date (ISO 8601 text, or seconds since the epoch)', `${path}.${key}`);
}

function checkKeys(object: Json, known: readonly string[], path: string): void {
  const unknown = Object.keys(object).find((key) => !known.includes(key));
  if (unknown !== undefined) throw unknownField(path, unknown, known);
}

function wrongKind(expected: string, path: string): RowanError {
  return failure('INVALID_PARAMETER', `${path}: ${expected} was expected`, { path });
}

function sortedKeys(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(sortedKeys);
  const entries = Object.entries(json).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, sortedKeys(member)]));
}
