import { Type } from 'typebox';
import type { RecordedCell } from '../dataset/recorded-row.ts';
import { outputDataset, url } from '../schema/declare.ts';
import { failure } from '../util/error.ts';
import type { Atom } from '../value/atom.ts';
import { Path } from '../value/path.ts';
import { parseTimestamp, Timestamp } from '../value/timestamp.ts';
import { runOnCreation } from './parameter.ts';
import { workerProcedure } from './procedure-type.ts';

const PARAMETERS = Type.Object({
  path: url({ description: 'URL of the directory, prefix or archive' }),
  modifiedSince: Type.String({
    description: 'ISO 8601; leaves out files that were not changed since',
    default: '-Inf',
  }),
  maxDepth: Type.Integer({
    description: 'levels of directories to descend; 0: none, -1: all',
    default: -1,
    minimum: -1,
  }),
  outputDataset: Type.Optional(
    outputDataset({ description: 'dataset to make', defaultType: 'tabular' }),
  ),
  ...runOnCreation,
});

/** Lists the files below a directory, prefix or archive. */
export const listFiles = workerProcedure({
  name: 'list.files',
  summary: 'Lists the files below a directory, prefix or archive, a row each.',
  parameters: PARAMETERS,
  check(params) {
    secondsOf(params.modifiedSince);
  },
  async run(context, params) {
    const since = secondsOf(params.modifiedSince);
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const output = context.output(params.outputDataset, 'tabular');
    const waiting = [{ directory: params.path, depth: 0 }];
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      context.checkCancelled();
      const { files, dirs, facts } = await context.files.list(at.directory);
      for (const file of files) {
        const fact = facts.get(file);
        if (fact === undefined || fact.lastModified < since) continue;
        const columns: Record<string, Atom> = {
          size: fact.sizeBytes ?? null,
          last_modified: new Timestamp(fact.lastModified),
          etag: fact.etag ?? '',
          storage_class: fact.storageClass ?? '',
          owner_id: '',
          owner_name: '',
          uri: file,
        };
        const cells = Object.entries(columns).map(
          ([column, atom]): RecordedCell => [Path.of(column), atom, fact.lastModified],
        );
        output.record({ name: Path.of(file), cells });
      }
      if (params.maxDepth >= 0 && at.depth >= params.maxDepth) continue;
      for (const directory of dirs) waiting.push({ directory, depth: at.depth + 1 });
    }
    const result = output.commit();
    progress.finish();
    return { result };
  },
});

function secondsOf(text: string): number {
  const seconds = parseTimestamp(text);
  if (seconds !== null && !Number.isNaN(seconds)) return seconds;
  throw failure('INVALID_PARAMETER', `modifiedSince is no ISO 8601 date: ${JSON.stringify(text)}`);
}
