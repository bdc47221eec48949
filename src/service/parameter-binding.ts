// Binds the parameters of a request to the declarations of its route, once for every transport.
import { failure, type RowanError } from '../util/error.ts';
import { previewJson } from '../value/json.ts';
import type { RouteRequest } from './request.ts';
import { parseJsonText } from './request-body.ts';
import type { BoundRequest, Parameter, ParameterSet, Route } from './route.ts';

const NO_PARAMETERS: ParameterSet = {};

/** @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS */
export function bindRequest(
  route: Route,
  params: Readonly<Record<string, string>>,
  request: RouteRequest,
): BoundRequest {
  return {
    ...request,
    route,
    params,
    values: bindParameters(route, request),
    isAsync: isAsync(request.headers),
  };
}

export function isAsync(headers: Readonly<Record<string, string>>): boolean {
  if (headers.async === 'true') return true;
  const { prefer } = headers;
  return prefer !== undefined && /(^|[,;\s])respond-async([,;\s]|$)/i.test(prefer);
}

/** The parameters of a route, taken apart once: requests come more often than routes. */
interface Declared {
  readonly query: readonly (readonly [string, Parameter])[];
  readonly hybrid: readonly (readonly [string, Parameter])[];
  readonly names: ReadonlySet<string>;
}

const declared = new WeakMap<Route, Declared>();

function declaredBy(route: Route): Declared {
  let parts = declared.get(route);
  if (parts === undefined) {
    const query = Object.entries(route.query ?? NO_PARAMETERS);
    const hybrid = Object.entries(route.hybrid ?? NO_PARAMETERS);
    parts = { query, hybrid, names: new Set([...query, ...hybrid].map(([name]) => name)) };
    declared.set(route, parts);
  }
  return parts;
}

/**
 * The values of all declared parameters.
 * @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS
 */
export function bindParameters(
  route: Route,
  request: Omit<RouteRequest, 'signal'>,
): Record<string, unknown> {
  const { query, hybrid, names } = declaredBy(route);
  const pairs = request.query;
  if (route.lenient !== true && pairs.some(([name]) => !names.has(name))) {
    const unknown = pairs.filter(([name]) => !names.has(name));
    throw unknownParameters(route, request, unknown);
  }
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of query) values[name] = fromQuery(name, parameter, pairs);
  if (route.hybrid === undefined) return values;
  if (request.body.isEmpty || isBodyDeferred(route, request)) {
    for (const [name, parameter] of hybrid) values[name] = fromQuery(name, parameter, pairs);
    return values;
  }
  return Object.assign(values, bindHybrid(route, request, firstValues(pairs)));
}

/** Parsing more would hold up everybody else. */
const PARSED_SIZE_MAX = 64 * 1024;

/** Whether the hybrid parameters are still in the body, which a worker should parse. */
export function isBodyDeferred(
  route: Route,
  { query, body }: Pick<RouteRequest, 'query' | 'body'>,
): boolean {
  return (
    route.defersLargeBodies === true && query.length === 0 && body.bytes.length > PARSED_SIZE_MAX
  );
}

/** A key given twice: the first one counts. */
function fromQuery(
  name: string,
  parameter: Parameter,
  pairs: readonly (readonly [string, string])[],
): unknown {
  for (const pair of pairs) if (pair[0] === name) return fromText(name, parameter, pair[1]);
  return absent(name, parameter);
}

/** A key given twice: the first one counts. */
function firstValues(pairs: readonly (readonly [string, string])[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, value] of pairs) if (!values.has(name)) values.set(name, value);
  return values;
}

function bindHybrid(
  route: Route,
  request: Omit<RouteRequest, 'signal'>,
  given: ReadonlyMap<string, string>,
): Record<string, unknown> {
  return bindBody(route, request, request.body.json(), given);
}

type Parameters = Pick<Route, 'query' | 'hybrid'>;
type Place = Pick<RouteRequest, 'verb' | 'path'>;

/**
 * The hybrid parameters that a JSON body gives, or else the query string.
 * @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS
 */
export function bindBody(
  route: Parameters,
  request: Place,
  body: unknown,
  given: ReadonlyMap<string, string> = new Map(),
): Record<string, unknown> {
  const hybrid = route.hybrid ?? NO_PARAMETERS;
  const bodySays = !isEmptyJson(body);
  if (given.size > 0 && bodySays) {
    throw failure('MIXED_PARAMETERS', 'You cannot mix query string and body parameters', {
      verb: request.verb,
      resource: request.path,
    });
  }
  if (bodySays && (typeof body !== 'object' || Array.isArray(body))) {
    throw failure('INVALID_PARAMETER', `request body ${previewJson(body)} is not an object`);
  }
  const members = bodySays ? (body as Record<string, unknown>) : {};
  const unknown = Object.keys(members).filter((name) => !Object.hasOwn(hybrid, name));
  if (unknown.length > 0) {
    const pairs = unknown.map((name): [string, unknown] => [name, members[name]]);
    throw unknownParameters(route, request, pairs);
  }
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(hybrid)) {
    const text = given.get(name);
    if (text !== undefined) values[name] = fromText(name, parameter, text);
    else if (Object.hasOwn(members, name) && members[name] !== null) {
      values[name] = fromJson(name, parameter, members[name]);
    } else values[name] = absent(name, parameter);
  }
  return values;
}

function isEmptyJson(json: unknown): boolean {
  if (json === undefined || json === null) return true;
  return typeof json === 'object' && Object.keys(json).length === 0 && !Array.isArray(json);
}

function absent(name: string, parameter: Parameter): unknown {
  if (parameter.required !== true) return parameter.default;
  throw failure('MISSING_PARAMETER', `key ${name} not found in RestParams`, { parameter: name });
}

function fromText(name: string, parameter: Parameter, text: string): unknown {
  switch (parameter.type) {
    case 'text':
      return text;
    case 'integer':
      return integerFromText(name, text);
    case 'boolean':
      return booleanFromText(name, text);
    case 'json':
      return parseJsonText(text, `value of parameter '${name}'`);
  }
}

function integerFromText(name: string, text: string): number {
  const value = /^-?[0-9]+$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(value)) return value;
  throw failure(
    'INVALID_PARAMETER',
    `Attempting to interpret REST parameter value '${text}' of '${name}' as an integer. Accepted are decimal digits with an optional minus sign`,
    { parameter: name, value: text },
  );
}

function booleanFromText(name: string, text: string): boolean {
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === '1') return true;
  if (lower === 'false' || lower === '0') return false;
  throw failure(
    'INVALID_PARAMETER',
    `Attempting to interpret REST parameter value '${text}' as a boolean. Accepted are true, false, 1 and 0`,
    { parameter: name, value: text },
  );
}

function fromJson(name: string, parameter: Parameter, json: unknown): unknown {
  switch (parameter.type) {
    case 'json':
      return json;
    case 'text':
      if (typeof json === 'string') return json;
      break;
    case 'integer':
      if (typeof json === 'number' && Number.isSafeInteger(json)) return json;
      break;
    case 'boolean':
      if (typeof json === 'boolean') return json;
      if (json === 0 || json === 1) return json === 1;
      if (typeof json === 'string') return booleanFromText(name, json);
      break;
  }
  const expected = { text: 'String', integer: 'Integer', boolean: 'Boolean' }[parameter.type];
  throw failure(
    'INVALID_PARAMETER',
    `parameter '${name}': ${expected} was expected; instead got '${previewJson(json)}'`,
    { parameter: name },
  );
}

function unknownParameters(
  route: Parameters,
  request: Place,
  unknown: readonly (readonly [string, unknown])[],
): RowanError {
  return failure('UNKNOWN_PARAMETER', 'Unknown parameter(s) in REST call', {
    unknownParameters: unknown.map(([paramName, paramValue]) => ({
      paramName,
      paramValue: typeof paramValue === 'string' ? paramValue : previewJson(paramValue),
    })),
    verb: request.verb,
    resource: request.path,
    help: parameterHelp(route),
  });
}

/** The parameters of a route as help documents show them. */
export function parameterHelp(route: Parameters): unknown[] {
  return Object.entries({ ...route.query, ...route.hybrid }).map(([name, parameter]) => ({
    name,
    description: parameter.description,
    type: parameter.type,
    ...(parameter.default === undefined ? {} : { default: parameter.default }),
    ...(parameter.required === true ? { required: true } : {}),
    in: Object.hasOwn(route.hybrid ?? NO_PARAMETERS, name)
      ? 'query string or body'
      : 'query string',
  }));
}

const NEEDS_DECODING = /[%+]/;

/**
 * The pairs of a query string; `+` is a space and a key without `=` has the value "".
 * @throws INVALID_PARAMETER for a malformed escape
 */
export function parseQueryString(text: string): [string, string][] {
  const pairs: [string, string][] = [];
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('&', start);
    if (end === -1) end = text.length;
    if (end > start) {
      let equals = text.indexOf('=', start);
      if (equals === -1 || equals > end) equals = end;
      const key = text.slice(start, equals);
      pairs.push([decodeQueryText(key), decodeQueryText(text.slice(equals + 1, end))]);
    }
    start = end + 1;
  }
  return pairs;
}

function decodeQueryText(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text;
  try {
    return decodeURIComponent(text.includes('+') ? text.replaceAll('+', ' ') : text);
  } catch {
    throw failure('INVALID_PARAMETER', `malformed % escape in query string at '${text}'`);
  }
}
