// SQL over REST, and GET requests for clients that cannot send a body with GET.
import { Type } from 'typebox';
import { contentTypeOf, formatNamed } from '../../../exec/output/format.ts';
import { TIMESTAMP_FORMS, type TimestampForm } from '../../../exec/output/options.ts';
import type { QueryWarning } from '../../../plan/warning.ts';
import { errorBody, failure, RowanError } from '../../../util/error.ts';
import { type ErrorCode, isErrorCode } from '../../../util/error-catalogue.ts';
import { stringifyJson } from '../../../util/exact-json.ts';
import type { Service } from '../../service.ts';
import { acceptedFormat } from '../negotiation.ts';
import { parseQueryString } from '../parameter-binding.ts';
import type { Reply } from '../request.ts';
import { parsedBody } from '../request-body.ts';
import { type BoundRequest, type ParameterValues, type Route, route } from '../route.ts';
import { streamTask } from '../streamed-reply.ts';

const QUERY_PARAMETERS = {
  q: Type.String({ description: 'SQL SELECT statement', default: '' }),
  format: Type.String({
    description:
      'full (default), table, aos, soa, sparse, atom, csv, ndjson or arrow; without it the Accept header may name csv, ndjson or arrow',
    default: '',
  }),
  headers: Type.Boolean({ description: 'table, csv: first row of names', default: true }),
  rowNames: Type.Boolean({ description: 'add _rowName; not for full and atom', default: true }),
  rowHashes: Type.Boolean({ description: 'add _rowHash; not for full, atom', default: false }),
  sortColumns: Type.Boolean({ description: 'order columns by name', default: false }),
  timestamps: Type.String({
    description:
      'aos, soa, ndjson: timestamps as object, {"ts": text}, or as iso, text alone, which other tools read as times',
    default: 'object',
  }),
  strict: Type.Optional(
    Type.Boolean({
      description: 'refuse what would only be warned about; default: what --strict-sql says',
    }),
  ),
  seed: Type.Optional(
    Type.Integer({ description: 'of random(): the same seed, the same numbers' }),
  ),
};

type QueryRequest = BoundRequest<ParameterValues<typeof QUERY_PARAMETERS>>;

function handleQuery(request: QueryRequest, service: Service): Promise<Reply> {
  const { q, headers, rowNames, rowHashes, sortColumns, strict, seed } = request.values;
  const timestamps = timestampForm(request.values.timestamps);
  const settings = service.options.sql;
  const named = request.values.format;
  const format = named === '' ? acceptedFormat(request.headers.accept ?? '') : formatNamed(named);
  if (q.trim() === '') throw failure('MISSING_PARAMETER', 'the query q is empty');
  return streamTask(
    service,
    'query',
    {
      text: q,
      format,
      output: { headers, rowNames, rowHashes, sortColumns, timestamps },
      columnOrder: settings.columnOrder,
      strict: strict ?? settings.strict,
      seed,
    },
    {
      contentType: contentTypeOf(format),
      signal: request.signal,
      headersOf: warningHeaders,
      ...(format === 'ndjson' ? { onBreak: (error) => errorLine(error, request.requestId) } : {}),
    },
  );
}

function timestampForm(text: string): TimestampForm {
  const form = TIMESTAMP_FORMS.find((known) => known === text);
  if (form !== undefined) return form;
  const accepted = TIMESTAMP_FORMS.join(' or ');
  throw failure('INVALID_PARAMETER', `timestamps is '${text}'; accepted is ${accepted}`);
}

/** Most bytes of the header that carries warnings. */
const WARNING_HEADER_SIZE_MAX = 4096;

/** As many warnings as fit, in characters that headers may have. */
function warningHeaders(document: unknown): Record<string, string> {
  const warnings = [...(document as readonly QueryWarning[])];
  for (;;) {
    const text = asciiJson(warnings);
    if (text.length <= WARNING_HEADER_SIZE_MAX || warnings.length === 0) {
      return { 'X-Rowan-Warnings': text };
    }
    warnings.pop();
  }
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function errorLine(error: unknown, requestId: string): Uint8Array {
  const body = { ...errorBody(error), requestId };
  return new TextEncoder().encode(`${stringifyJson({ _error: body })}\n`);
}

const queryRoute = {
  path: '/v1/query',
  summary: 'Runs an SQL query',
  role: 'reader' as const,
  work: 'heavy' as const,
  measured: 'query' as const,
  sharedDataOnly: true,
  hybrid: QUERY_PARAMETERS,
  reply: { description: 'the rows in the format asked for' },
  examples: [{ path: '/v1/query?q=SELECT%201%20AS%20x&format=table' }],
  handle: handleQuery,
};

const redirect = route({
  verb: 'POST',
  path: '/v1/redirect/get',
  summary: 'Performs a GET with a body, for clients that cannot',
  role: 'reader',
  work: 'heavy',
  sharedDataOnly: true,
  body: {
    description: 'the path to get, and the body to send with it',
    schema: Type.Object({
      target: Type.String({ description: 'path, with or without a query string' }),
      body: Type.Unknown({ description: 'JSON body of the GET' }),
    }),
  },
  examples: [
    {
      path: '/v1/redirect/get',
      body: { target: '/v1/query', body: { q: 'SELECT 1 AS x', format: 'aos' } },
    },
  ],
  async handle(request, service) {
    const { target, body } = redirectBody(request.body.json());
    const [path, queryString] = splitTarget(target);
    const reply = await service.dispatcher.dispatch({
      ...request,
      signal: request.signal,
      verb: 'GET',
      path,
      query: queryOf(queryString),
      body: parsedBody(body ?? undefined),
    });
    if (reply.status < 400) return reply;
    throw redirectFailure(codeOf(reply.json), reply.status, reply.json);
  },
});

function redirectBody(json: unknown): { target: string; body: unknown } {
  const members = (json ?? {}) as Record<string, unknown>;
  for (const name of ['target', 'body']) {
    if (members[name] === undefined) {
      throw failure('MISSING_PARAMETER', `key ${name} not found in the body`, { parameter: name });
    }
  }
  const { target, body } = members;
  if (typeof target !== 'string' || !target.startsWith('/') || target.startsWith('//')) {
    throw failure(
      'INVALID_PARAMETER',
      `target ${stringifyJson(target)} is not a path that begins with '/'`,
    );
  }
  return { target, body };
}

function queryOf(queryString: string): [string, string][] {
  try {
    return parseQueryString(queryString);
  } catch (thrown) {
    const body = errorBody(thrown);
    throw redirectFailure(codeOf(body), body.httpCode, body);
  }
}

function redirectFailure(code: ErrorCode, status: number, context: unknown): RowanError {
  const cause = (context as { error?: unknown } | undefined)?.error ?? `status ${status}`;
  return new RowanError(code, status, `${cause} (failed to redirect call)`, { context });
}

function splitTarget(target: string): [path: string, queryString: string] {
  const mark = target.indexOf('?');
  return mark === -1 ? [target, ''] : [target.slice(0, mark), target.slice(mark + 1)];
}

function codeOf(json: unknown): ErrorCode {
  const code = (json as { code?: unknown } | undefined)?.code;
  return isErrorCode(code) ? code : 'INTERNAL';
}

export const QUERY_ROUTES: readonly Route[] = [
  route({ ...queryRoute, verb: 'GET' }),
  route({ ...queryRoute, verb: 'POST' }),
  redirect,
];
