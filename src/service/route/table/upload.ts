// Files that users send, imports that are guessed, and what columns are like.
import { Type } from 'typebox';
import { checkUploadName } from '../../../file/upload-scheme.ts';
import {
  type ColumnProfile,
  PROFILE_QUANTILES,
} from '../../../procedure/statistics/column-summary.ts';
import { failure } from '../../../util/error.ts';
import { printTimestamp } from '../../../value/timestamp.ts';
import { uploadMissing } from '../../upload-store.ts';
import { requireReadableUrl } from '../caller-role.ts';
import { jsonReply } from '../request.ts';
import { type Route, route } from '../route.ts';
import { serveFile } from '../static-folder.ts';

const PREVIEW_ROW_COUNT_MAX = 1000;

export const UPLOAD_ROUTES: readonly Route[] = [
  route({
    verb: 'PUT',
    path: '/v1/uploads/:name',
    summary: 'Keeps a file, which upload://name then reads',
    role: 'editor',
    lenient: true,
    body: { description: 'the content, of any type and length' },
    reply: { description: 'its name, size and hash; 201 where the name is new', mayCreate: true },
    streamsBody: () => true,
    bodyMayPause: true,
    async handle(request, service) {
      if (request.headers['content-range'] !== undefined) {
        throw failure(
          'INVALID_PARAMETER',
          'parts of uploads are not taken: Content-Range is refused',
        );
      }
      const name = request.params.name as string;
      const { upload, isNew } = await service.uploads.receive(name, request.body.stream());
      return jsonReply(upload, isNew ? 201 : 200);
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/uploads',
    summary: 'Lists the files that were sent',
    role: 'reader',
    async handle(_request, service) {
      const uploads = await service.uploads.list();
      return jsonReply(
        uploads.map(({ name, sizeBytes, lastModified }) => ({
          name,
          bytes: sizeBytes,
          modified: printTimestamp(lastModified),
        })),
      );
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/uploads/:name',
    summary: 'The bytes of a file that was sent, also in ranges',
    role: 'reader',
    reply: { description: 'the bytes', contentTypes: ['*/*'] },
    async handle(request, service) {
      const name = request.params.name as string;
      checkUploadName(name);
      const folder = { root: service.uploads.directory, rendersMarkdown: false, isRaw: true };
      const reply = await serveFile(folder, `/${name}`, request);
      if (reply.status === 404) throw uploadMissing(name);
      // Browsers must not show what users sent as pages of this service.
      const headers = {
        ...reply.headers,
        'Content-Disposition': `attachment; filename="${name}"`,
        'X-Content-Type-Options': 'nosniff',
      };
      return { ...reply, headers };
    },
  }),
  route({
    verb: 'DELETE',
    path: '/v1/uploads/:name',
    summary: 'Removes a file that was sent',
    role: 'editor',
    async handle(request, service) {
      await service.uploads.remove(request.params.name as string);
      return { status: 204 };
    },
  }),
  route({
    verb: 'POST',
    path: '/v1/imports',
    work: 'heavy',
    summary: 'Tells how a file would be imported, with a preview; imports nothing',
    role: 'editor',
    hybrid: {
      url: Type.String({ description: 'URL of the file' }),
      outputDataset: Type.Optional(
        Type.String({
          description: 'dataset that the procedure makes; default: a name made of that of the file',
        }),
      ),
      rows: Type.Integer({ description: 'rows of the preview', default: 50 }),
    },
    async handle(request, service) {
      const { url, outputDataset, rows } = request.values;
      if (rows < 0 || rows > PREVIEW_ROW_COUNT_MAX) {
        throw failure(
          'INVALID_PARAMETER',
          `rows must be 0 to ${PREVIEW_ROW_COUNT_MAX}; got ${rows}`,
        );
      }
      requireReadableUrl(url, request.role);
      const { signal } = request;
      const guess = await service.compute('guess', { url, rows }, { signal });
      const { type, params, confidence, columns, warnings } = guess;
      const output = outputDataset ?? datasetNameOf(url);
      return jsonReply({
        procedure: { type, params: { dataFileUrl: url, outputDataset: output, ...params } },
        confidence,
        preview: { columns, rows: guess.rows },
        warnings,
      });
    },
  }),
  route({
    verb: 'GET',
    path: '/v1/datasets/:id/profile',
    work: 'heavy',
    summary:
      'What the columns of a dataset are like: counts, quantiles, frequent values, histograms',
    role: 'reader',
    query: {
      columns: Type.Optional(
        Type.Array(Type.String(), {
          description: 'array of column names, at most 100; default: the first ones',
        }),
      ),
      rows: Type.Optional(Type.Integer({ description: 'rows to read, about; default: all' })),
    },
    async handle(request, service) {
      const dataset = service.datasets.get(request.params.id as string);
      const { columns, rows } = request.values;
      if (columns !== undefined && !isTexts(columns)) {
        throw failure('INVALID_PARAMETER', 'columns must be an array of column names');
      }
      if (rows !== undefined && rows < 1) {
        throw failure('INVALID_PARAMETER', `rows must be 1 or more; got ${rows}`);
      }
      const profile = await service.profiles.profile(dataset, columns, rows, request.signal);
      return jsonReply({
        rowCount: profile.rowCount,
        columns: profile.columns.map((column) => profileJson(column, profile.rowCount)),
      });
    },
  }),
];

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((element) => typeof element === 'string');
}

function profileJson(column: ColumnProfile, rowCount: number): unknown {
  const { name, type, nullCount, uniqueCount, mostFrequent, numbers, times } = column;
  return {
    name,
    type,
    rows: column.rowCount,
    nulls: nullCount,
    distinct: uniqueCount,
    ...(column.rowCount < rowCount ? { approximate: true } : {}),
    ...(times === undefined
      ? {}
      : { min: printTimestamp(times.earliest), max: printTimestamp(times.latest) }),
    ...(numbers === undefined
      ? {}
      : {
          min: numbers.min,
          max: numbers.max,
          mean: numbers.mean,
          quantiles: Object.fromEntries(
            PROFILE_QUANTILES.map((share, index) => [String(share), numbers.quantiles[index]]),
          ),
          histogram: { min: numbers.min, max: numbers.max, counts: numbers.histogram },
        }),
    mostFrequent: mostFrequent.map(({ text, count }) => [text, count]),
  };
}

/** A name that SQL takes without quotes. */
function datasetNameOf(url: string): string {
  const [path = ''] = url.split(/[?#]/);
  const file = path.replace(/\/+$/, '').split('/').pop() ?? '';
  const [stem = ''] = file.split('.').filter((part) => part !== '');
  const name = stem.replaceAll(/[^A-Za-z0-9_]+/g, '_').replace(/^_+|_+$/g, '');
  if (name === '') return 'imported';
  return /^[0-9]/.test(name) ? `data_${name}` : name;
}
