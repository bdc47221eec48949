// Requests to the service from a script.
import type { Host } from './host.ts';
import { ServiceError, type ServiceErrorBody } from './host.ts';
import { parseJson, parsePlain, plainText, stringifyJson } from './json.ts';

export interface ScriptReply {
  responseCode: number;
  contentType?: string;
  headers?: [name: string, value: string][];
  response?: string;
  json?: unknown;
}

/** Pairs, or an object; values that are no text are sent as JSON. */
export type Pairs = Readonly<Record<string, unknown>> | readonly (readonly [string, unknown])[];

/** Performs a request; failures are replies too. */
export function perform(
  host: Host,
  verb: string,
  resource: string,
  query?: Pairs | null,
  payload?: unknown,
  headers?: Pairs | null,
): ScriptReply {
  const body = payloadText(payload);
  const reply = host.call('perform', {
    verb: String(verb),
    resource: String(resource),
    query: textPairs(query),
    headers: textPairs(headers).map(([name, value]) => [name.toLowerCase(), value]),
    ...(body === undefined ? {} : { body }),
  }) as ScriptReply;
  const isJson = reply.contentType?.startsWith('application/json') === true;
  if (isJson && reply.response !== undefined) reply.json = parseJson(reply.response);
  return reply;
}

/** The JSON of a successful reply. @throws ServiceError of any other */
export function request(host: Host, verb: string, resource: string, payload?: unknown): unknown {
  const reply = perform(host, verb, resource, null, payload);
  if (reply.responseCode < 400) return reply.json;
  const body = reply.json as ServiceErrorBody | undefined;
  throw new ServiceError(
    body ?? { error: reply.response ?? 'no reply', httpCode: reply.responseCode },
  );
}

/** Text is JSON already. @throws SyntaxError when it is not */
function payloadText(payload: unknown): string | undefined {
  if (payload === undefined || payload === null) return undefined;
  if (typeof payload !== 'string') return stringifyJson(payload);
  parsePlain(payload);
  return payload;
}

function textPairs(pairs: Pairs | null | undefined): [string, string][] {
  if (pairs === undefined || pairs === null) return [];
  const entries = Array.isArray(pairs) ? pairs : Object.entries(pairs);
  return entries.map(([name, value]: readonly [string, unknown]) => [String(name), asText(value)]);
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date) return plainText({ ts: value.toISOString() });
  const members = (_key: string, member: unknown): unknown => member;
  return stringifyJson(members('', withDates(value))) ?? '';
}

/** Dates as the JSON form of timestamps, at any depth. */
function withDates(value: unknown): unknown {
  if (value instanceof Date) return { ts: value.toISOString() };
  if (Array.isArray(value)) return value.map(withDates);
  if (typeof value !== 'object' || value === null) return value;
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withDates(member)]),
  );
}
