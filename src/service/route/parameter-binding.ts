// Binds the parameters of a request to the declarations of its route, once for every transport.
import { Type } from 'typebox';
import { type SchemaData, schemaData } from '../../schema/schema-data.ts';
import { failure, type RowanError } from '../../util/error.ts';
import { previewJson } from '../../value/json.ts';
import type { RequestBody, RouteRequest } from './request.ts';
import { parseJsonText } from './request-body.ts';
import type { BoundRequest, ParameterSet, ParameterValues, Route } from './route.ts';

/** How the text of a parameter is read: as it is, as what it spells, or as JSON. */
export type ParameterKind = 'text' | 'integer' | 'boolean' | 'json';

/** A parameter with what binding has to know of its schema. */
export interface Parameter {
  readonly name: string;
  readonly kind: ParameterKind;
  readonly isRequired: boolean;
  readonly schema: SchemaData;
}

/** @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS */
export function bindRequest(
  route: Route,
  params: Readonly<Record<string, string>>,
  request: RouteRequest,
): BoundRequest<Readonly<Record<string, unknown>>> {
  return {
    ...request,
    route,
    work: route.work ?? 'light',
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

type Pairs = readonly (readonly [string, string])[];

/** The parameters of a route, taken apart once: requests come more often than routes. */
interface Declared {
  readonly query: readonly Parameter[];
  readonly hybrid: readonly Parameter[];
  /** those of the query string and of the body or query string */
  readonly all: readonly Parameter[];
  readonly names: ReadonlySet<string>;
  readonly hybridNames: ReadonlySet<string>;
  /** the values of a request that gives none */
  readonly defaults: Readonly<Record<string, unknown>>;
}

type Parameters = Pick<Route, 'query' | 'hybrid'>;

const declared = new WeakMap<Parameters, Declared>();

function declaredBy(route: Parameters): Declared {
  let parts = declared.get(route);
  if (parts === undefined) {
    const query = parametersOf(route.query);
    const hybrid = parametersOf(route.hybrid);
    const all = [...query, ...hybrid];
    parts = {
      query,
      hybrid,
      all,
      names: new Set(all.map(({ name }) => name)),
      hybridNames: new Set(hybrid.map(({ name }) => name)),
      defaults: Object.fromEntries(all.map(({ name, schema }) => [name, schema.default])),
    };
    declared.set(route, parts);
  }
  return parts;
}

/** A set of parameters as a list, with how each is read. */
export function parametersOf(set: ParameterSet = {}): Parameter[] {
  return Object.entries(set).map(([name, schema]) => {
    const data = schemaData(schema);
    const isRequired = data.default === undefined && !Type.IsOptional(schema);
    return { name, kind: kindOf(data), isRequired, schema: data };
  });
}

function kindOf({ type }: SchemaData): ParameterKind {
  if (type === 'string') return 'text';
  return type === 'integer' || type === 'boolean' ? type : 'json';
}

/**
 * The values of all declared parameters.
 * @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS
 */
export function bindParameters(
  route: Route,
  request: Omit<RouteRequest, 'signal'>,
): Record<string, unknown> {
  const { query, all, names, defaults } = declaredBy(route);
  const pairs = request.query;
  if (route.lenient !== true) refuseUnknown(route, request, names);
  const values = { ...defaults };
  const hasBody =
    route.hybrid !== undefined && !request.body.isEmpty && !isBodyDeferred(route, request);
  fillFromQuery(values, hasBody ? query : all, pairs);
  if (!hasBody) return values;
  return Object.assign(values, bindBody(route, request, request.body.json(), pairs));
}

function refuseUnknown(
  route: Route,
  request: Omit<RouteRequest, 'signal'>,
  names: ReadonlySet<string>,
): void {
  for (const [name] of request.query) {
    if (names.has(name)) continue;
    const unknown = request.query.filter((pair) => !names.has(pair[0]));
    throw unknownParameters(route, request, unknown);
  }
}

/** Parsing more would hold up everybody else. */
const PARSED_SIZE_MAX = 64 * 1024;

/** Whether a body is so large that it is parsed in turns before its request is bound. */
export function isParsedInTurns(
  route: Route,
  query: RouteRequest['query'],
  body: RequestBody,
): boolean {
  if (body.bytes.length <= PARSED_SIZE_MAX || body.isParsed) return false;
  if (route.hybrid !== undefined) return !isBodyDeferred(route, { query, body });
  return route.body !== undefined && route.defersLargeBodies !== true;
}

/** Whether the hybrid parameters are still in the body, which a worker should parse. */
export function isBodyDeferred(
  route: Route,
  { query, body }: Pick<RouteRequest, 'query' | 'body'>,
): boolean {
  return (
    route.defersLargeBodies === true &&
    query.length === 0 &&
    !body.isParsed &&
    body.bytes.length > PARSED_SIZE_MAX
  );
}

/** Replaces the defaults of those that are given. */
function fillFromQuery(
  values: Record<string, unknown>,
  parameters: readonly Parameter[],
  pairs: Pairs,
): void {
  for (const { name, kind, isRequired } of parameters) {
    const text = firstValue(name, pairs);
    if (text !== undefined) values[name] = fromText(name, kind, text);
    else if (isRequired) throw missing(name);
  }
}

/** A key given twice: the first one counts. */
function firstValue(name: string, pairs: Pairs): string | undefined {
  for (const pair of pairs) if (pair[0] === name) return pair[1];
  return undefined;
}

type Place = Pick<RouteRequest, 'verb' | 'path'>;

/**
 * The hybrid parameters that a JSON body gives, or else the query string.
 * @throws UNKNOWN_PARAMETER, INVALID_PARAMETER, MISSING_PARAMETER, MIXED_PARAMETERS
 */
export function bindBody<Hybrid extends ParameterSet>(
  route: { readonly hybrid?: Hybrid },
  request: Place,
  body: unknown,
  given: Pairs = [],
): ParameterValues<Hybrid> {
  const { hybrid, hybridNames } = declaredBy(route);
  const bodySays = !isEmptyJson(body);
  if (given.length > 0 && bodySays) {
    throw failure(
      'MIXED_PARAMETERS',
      {},
      {
        verb: request.verb,
        resource: request.path,
      },
    );
  }
  if (bodySays && (typeof body !== 'object' || Array.isArray(body))) {
    throw failure('INVALID_PARAMETER', `request body ${previewJson(body)} is not an object`);
  }
  const members = bodySays ? (body as Record<string, unknown>) : {};
  for (const name in members) {
    if (!hybridNames.has(name)) throw unknownMembers(route, request, members);
  }
  const values: Record<string, unknown> = {};
  for (const { name, kind, isRequired, schema } of hybrid) {
    const text = firstValue(name, given);
    if (text !== undefined) values[name] = fromText(name, kind, text);
    else if (Object.hasOwn(members, name) && members[name] !== null) {
      values[name] = fromJson(name, kind, members[name]);
    } else if (isRequired) throw missing(name);
    else values[name] = schema.default;
  }
  return values as ParameterValues<Hybrid>;
}

function unknownMembers(
  route: Parameters,
  request: Place,
  members: Readonly<Record<string, unknown>>,
): RowanError {
  const { hybridNames } = declaredBy(route);
  const unknown = Object.entries(members).filter(([name]) => !hybridNames.has(name));
  return unknownParameters(route, request, unknown);
}

function isEmptyJson(json: unknown): boolean {
  if (json === undefined || json === null) return true;
  if (typeof json !== 'object' || Array.isArray(json)) return false;
  for (const _ in json) return false;
  return true;
}

function missing(name: string): RowanError {
  return failure('MISSING_PARAMETER', `key ${name} not found in RestParams`, { parameter: name });
}

function fromText(name: string, kind: ParameterKind, text: string): unknown {
  switch (kind) {
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

function fromJson(name: string, kind: ParameterKind, json: unknown): unknown {
  switch (kind) {
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
  const expected = { text: 'String', integer: 'Integer', boolean: 'Boolean' }[kind];
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
  return failure(
    'UNKNOWN_PARAMETER',
    {},
    {
      unknownParameters: unknown.map(([paramName, paramValue]) => ({
        paramName,
        paramValue: typeof paramValue === 'string' ? paramValue : previewJson(paramValue),
      })),
      verb: request.verb,
      resource: request.path,
      help: parameterHelp(route),
    },
  );
}

/** The parameters of a route as help documents show them. */
export function parameterHelp(route: Parameters): unknown[] {
  const { all, hybridNames } = declaredBy(route);
  return all.map(({ name, kind, isRequired, schema }) => ({
    name,
    description: schema.description,
    type: kind,
    ...(schema.default === undefined ? {} : { default: schema.default }),
    ...(isRequired ? { required: true } : {}),
    in: hybridNames.has(name) ? 'query string or body' : 'query string',
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
