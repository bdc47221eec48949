// Recording into datasets and reading from them.
import { Type } from 'typebox';
import { JSON_FORMS, type JsonForm } from '../../../dataset/recording-json.ts';
import { failure } from '../../../util/error.ts';
import type { DatasetReading } from '../../engine/engine-task.ts';
import type { DatasetEntity } from '../../entity/dataset-entity.ts';
import { recordStream, type StreamForm } from '../../entity/recording-stream.ts';
import type { Service } from '../../service.ts';
import { EMPTY_REPLY, type Reply } from '../request.ts';
import {
  type BoundRequest,
  type ParameterSet,
  type ParameterValues,
  type Route,
  route,
} from '../route.ts';
import { streamTask } from '../streamed-reply.ts';

const STREAM_TYPES: Readonly<Record<string, StreamForm>> = {
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.arrow.stream': 'arrow',
};

/** Many rows may come as a stream, as the content type says. */
function streamFormOf(headers: Readonly<Record<string, string>>): StreamForm | undefined {
  const [type = ''] = (headers['content-type'] ?? '').split(';');
  return STREAM_TYPES[type.trim().toLowerCase()];
}

const RECORDED = { description: 'all of it is recorded', contentTypes: [] } as const;

function recordRoute(form: JsonForm, description: string): Route {
  return route({
    verb: 'POST',
    path: `/v1/datasets/:id/${form}`,
    summary: `Records ${description}; all of it or nothing`,
    role: 'editor',
    work: 'heavy',
    defersLargeBodies: true,
    body: {
      description:
        form === 'multirows'
          ? `${JSON_FORMS.multirows}; as application/x-ndjson one row a line; or an Arrow stream`
          : JSON_FORMS[form],
    },
    ...(form === 'multirows'
      ? { streamsBody: (headers) => streamFormOf(headers) !== undefined }
      : {}),
    reply: RECORDED,
    async handle(request, service) {
      const dataset = service.datasets.get(request.params.id as string);
      const streamForm = form === 'multirows' ? streamFormOf(request.headers) : undefined;
      if (streamForm === undefined) await dataset.record(form, request.body.bytes);
      else await recordStream(dataset, streamForm, request.body.stream(), request);
      return EMPTY_REPLY;
    },
  });
}

function readRoute<Query extends ParameterSet = Record<never, never>>(
  path: string,
  summary: string,
  options: { readonly query?: Query } & Pick<Route, 'lenient' | 'work'>,
  readingOf: (request: BoundRequest<ParameterValues<Query>>) => DatasetReading,
): Route {
  return route({
    verb: 'GET',
    path: `/v1/datasets/:id/${path}`,
    summary,
    role: 'reader',
    work: 'heavy',
    sharedDataOnly: true,
    ...options,
    handle(request, service): Promise<Reply> {
      const id = request.params.id as string;
      service.datasets.get(id);
      const reading = readingOf(request);
      const contentType = 'application/json';
      const { signal } = request;
      return streamTask(service, 'read', { dataset: id, reading }, { contentType, signal });
    },
  });
}

const LIMIT = Type.Integer({ description: 'how many; -1: all', default: -1 });

function checkLimit(limit: number): number {
  if (limit >= -1) return limit;
  throw failure('INVALID_PARAMETER', `Limit can't be less than -1; got ${limit}`);
}

function checkOffset(offset: number, name: 'start' | 'offset'): number {
  if (offset >= 0) return offset;
  const text = name === 'start' ? 'Start' : 'Offset';
  throw failure('INVALID_PARAMETER', `${text} can't be negative; got ${offset}`);
}

const OFFSET = Type.Integer({ description: 'how many to leave out', default: 0 });

export const DATASET_ROUTES: readonly Route[] = [
  recordRoute('rows', 'one row'),
  recordRoute('multirows', 'many rows'),
  recordRoute('columns', 'one column'),
  recordRoute('multicolumns', 'many columns'),
  route({
    verb: 'POST',
    path: '/v1/datasets/:id/commit',
    summary: 'Makes everything recorded so far visible',
    role: 'editor',
    work: 'heavy',
    body: { description: 'ignored' },
    reply: { description: 'everything is visible', contentTypes: [] },
    async handle(request, service: Service) {
      await service.datasets.get(request.params.id as string).commit();
      return EMPTY_REPLY;
    },
  }),
  readRoute(
    'rows',
    'Lists row names in a stable order',
    { query: { start: OFFSET, limit: LIMIT }, lenient: true },
    (request) => ({
      what: 'rows',
      start: checkOffset(request.values.start, 'start'),
      limit: checkLimit(request.values.limit),
    }),
  ),
  readRoute(
    'columns',
    'Lists column names in natural order',
    { query: { offset: OFFSET, limit: LIMIT } },
    (request) => ({
      what: 'columns',
      offset: checkOffset(request.values.offset, 'offset'),
      limit: checkLimit(request.values.limit),
    }),
  ),
  readRoute(
    'columns/:column/values',
    'Lists the distinct values of a column in value order',
    { lenient: true },
    (request) => ({ what: 'values', column: request.params.column as string }),
  ),
  readRoute(
    'columns/:column/valuecounts',
    'Lists the distinct values of a column with the number of rows that have each',
    { query: { offset: OFFSET, limit: LIMIT } },
    (request) => ({
      what: 'valuecounts',
      column: request.params.column as string,
      offset: checkOffset(request.values.offset, 'offset'),
      limit: checkLimit(request.values.limit),
    }),
  ),
  readRoute(
    'timestampRange',
    'The earliest and the latest timestamp of all cells',
    { work: 'light' },
    () => ({
      what: 'timestampRange',
    }),
  ),
  ...(['GET', 'POST', 'PUT', 'DELETE'] as const).map((verb) =>
    route({
      verb,
      path: '/v1/datasets/:id/routes/*',
      summary: 'Routes of the type of a dataset',
      role: verb === 'GET' ? 'reader' : 'editor',
      lenient: true,
      handle: (request, service) =>
        routeOfType(service.datasets.get(request.params.id as string), request),
    }),
  ),
];

/** A route of a dataset's type. @throws INVALID_PARAMETER when the type has none of that path */
async function routeOfType(dataset: DatasetEntity, request: BoundRequest): Promise<Reply> {
  const { rest } = request.params;
  const { file } = dataset.datasetType;
  const hasSaves = file !== undefined && file.hasSaves !== false;
  if (hasSaves && rest === '/saves' && request.verb === 'POST') {
    const dataFileUrl = savesUrl(request.body.json());
    await dataset.freeze();
    await dataset.saveTo(dataFileUrl);
    return { status: 200, json: { type: file.loadedAs, params: { dataFileUrl } } };
  }
  throw failure(
    'INVALID_PARAMETER',
    `Dataset of type '${dataset.type}' does not respond to custom route '${rest}'`,
    { verb: request.verb, resource: request.path },
  );
}

/** The body of …/routes/saves: where to save. */
function savesUrl(json: unknown): string {
  const url = (json as { readonly dataFileUrl?: unknown } | null | undefined)?.dataFileUrl;
  if (typeof url === 'string' && url !== '') return url;
  throw failure('MISSING_PARAMETER', 'dataFileUrl is required: the URL to save to');
}
