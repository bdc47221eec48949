// An endless stream of rows: recorded into one dataset after the other, each of which is saved when
// the next takes its place. The service does that, see service/entity/continuous-dataset.ts.
import { Type } from 'typebox';
import type { RelationRow } from '../plan/namespace.ts';
import { datasetReference, entityReference } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import { parseTimestamp, printTimestamp } from '../value/timestamp.ts';
import { datasetType, type ViewContext } from './dataset-type.ts';
import { quoteName, referenceIds } from './parameter.ts';
import { recordedRows, viewContent } from './view-content.ts';

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};
/** Timers of Node take no longer ones. */
const PERIOD_MS_MAX = 2 ** 31 - 1;

/** Rows of an endless stream. */
export const continuous = datasetType({
  name: 'continuous',
  summary:
    'An endless stream of rows, saved in pieces that another dataset lists; queries see the piece that is being recorded.',
  parameters: Type.Object({
    metadataDataset: datasetReference({
      description: 'dataset that lists the saved pieces; rows can be recorded into it at any time',
    }),
    createStorageDataset: entityReference('procedure', {
      description: 'procedure whose result {config} says into what dataset the next piece goes',
    }),
    saveStorageDataset: entityReference('procedure', {
      description:
        'procedure that saves the piece args.datasetId; its result {config, metadata} says how it is loaded',
    }),
    commitInterval: Type.String({
      description:
        'a piece is saved every so often: a number and ms, s, m, h, d or w; 0s: by commit',
      default: '0s',
    }),
  }),
  check: ({ commitInterval }) => {
    parsePeriod(commitInterval);
  },
  pieces: ({ metadataDataset, createStorageDataset, saveStorageDataset, commitInterval }) => ({
    metadata: metadataDataset,
    create: createStorageDataset,
    save: saveStorageDataset,
    intervalMs: parsePeriod(commitInterval),
  }),
  status: () => null,
});

/** @returns milliseconds. @throws INVALID_PARAMETER */
export function parsePeriod(text: string): number {
  const [, count, unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/.exec(text) ?? [];
  const size = MILLISECONDS[unit];
  const period = size === undefined ? Number.NaN : Number(count) * size;
  if (period >= 0 && period <= PERIOD_MS_MAX) return period;
  throw failure(
    'INVALID_PARAMETER',
    `commitInterval is no period: ${JSON.stringify(text)}; accepted are a number and one of ms, s, m, h, d, w, up to 24 days; 0s: only commit`,
  );
}

/** Pieces of a stream that were saved, as one dataset. */
export const continuousWindow = datasetType({
  name: 'continuous.window',
  summary: 'The saved pieces of a continuous dataset between two times, merged; read only.',
  parameters: Type.Object({
    metadataDataset: datasetReference({ description: 'dataset that lists the pieces' }),
    from: Type.String({ description: 'ISO 8601: pieces that end before are left out' }),
    to: Type.String({ description: 'ISO 8601: pieces that begin after are left out' }),
    datasetFilter: Type.String({
      description:
        "SQL condition over the columns of the list, metadata.country = 'fr' for instance",
      default: 'true',
    }),
  }),
  check({ from, to }) {
    timestampOf('from', from);
    timestampOf('to', to);
  },
  view: {
    parts({ metadataDataset, from, to, datasetFilter }) {
      const [id = ''] = referenceIds([metadataDataset]);
      const begin = timestampOf('from', from);
      const end = timestampOf('to', to);
      return `SELECT print_json(config) AS config FROM ${quoteName(id)} WHERE earliest <= TIMESTAMP '${end}' AND latest >= TIMESTAMP '${begin}' AND (${datasetFilter}) ORDER BY rowPath()`;
    },
    build(context) {
      const { parts } = context;
      if (parts.length === 0) {
        throw failure('INVALID_PARAMETER', 'Attempt to merge no datasets together');
      }
      return viewContent(context, recordedRows(allRows(parts)), null);
    },
  },
  status: () => null,
});

function* allRows(parts: ViewContext['parts']): Iterable<RelationRow> {
  for (const part of parts) yield* part.scan('all');
}

/** @returns the time as it is printed. @throws INVALID_PARAMETER */
function timestampOf(name: string, text: string): string {
  const seconds = parseTimestamp(text);
  if (seconds !== null && !Number.isNaN(seconds)) return printTimestamp(seconds);
  throw failure('INVALID_PARAMETER', `${name} is no ISO 8601 time: ${JSON.stringify(text)}`);
}
