// Reads a lexicon of sentiments, a row for each word.
import { Type } from 'typebox';
import type { RecordedCell } from '../../dataset/recorded-row.ts';
import { LINE_BYTES_MAX, LineReader } from '../../format/csv/line-reader.ts';
import { outputDataset, url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import type { Atom } from '../../value/atom.ts';
import { Path } from '../../value/path.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { importResult } from './import-result.ts';

const FIELD_COUNT = 6;
const LINES_PER_CHECK = 512;

/** Scores of one word, each the sum of score / rank, in 32 bits; and the sum of 1 / rank. */
interface Sums {
  readonly type: string;
  readonly word: string;
  positive: number;
  negative: number;
  objective: number;
  weight: number;
}

export const importLexicon = workerProcedure({
  name: 'import.lexicon',
  aliases: ['import.sentiwordnet'],
  summary: 'Reads a lexicon of sentiments (SentiWordNet 3.0), a row for each word.',
  parameters: Type.Object({
    dataFileUrl: url({ description: 'the lexicon: six fields a line, separated by tabs' }),
    outputDataset: Type.Optional(
      outputDataset({ description: 'dataset to make', defaultType: 'sparse.mutable' }),
    ),
    ...runOnCreation,
  }),
  async run(context, { dataFileUrl, outputDataset: spec }) {
    const progress = context.steps([{ name: 'iterating', type: 'percentile' }], { topLevel: true });
    progress.next();
    const file = await context.files.open(dataFileUrl);
    const reader = new LineReader(file.stream(), {
      url: dataFileUrl,
      lineBytesMax: LINE_BYTES_MAX,
    });
    const words = new Map<string, Sums>();
    try {
      for (;;) {
        const line = reader.tryNext();
        if (line === undefined) {
          if (await reader.fill()) continue;
          break;
        }
        if (reader.lineNumber % LINES_PER_CHECK === 0) {
          context.checkCancelled();
          progress.update(1 - 1 / (1 + reader.lineNumber / 1e5));
        }
        if (line === '' || line.startsWith('#')) continue;
        addLine(
          Buffer.from(line, 'latin1').toString('utf8'),
          words,
          reader.lineNumber,
          dataFileUrl,
        );
      }
    } finally {
      await reader.close();
    }
    const output = context.output(spec, 'sparse.mutable');
    for (const [name, sums] of words) {
      const columns: Record<string, Atom> = {
        SentiPos: sums.positive / sums.weight,
        SentiNeg: sums.negative / sums.weight,
        SentiObj: sums.objective / sums.weight,
        POS: sums.type,
        baseWord: sums.word,
      };
      const cells = Object.entries(columns).map(
        ([column, atom]): RecordedCell => [Path.of(column), atom, context.startedAt],
      );
      output.record({ name: Path.of(name), cells });
    }
    output.commit();
    progress.finish();
    return importResult(output, spec);
  },
});

function addLine(line: string, words: Map<string, Sums>, lineNumber: number, url: string): void {
  const fields = line.split('\t');
  if (fields.length !== FIELD_COUNT) {
    throw failure(
      'DATA_ERROR',
      `line ${lineNumber} of ${url} has ${fields.length} fields instead of ${FIELD_COUNT}; a lexicon has type, id, positive score, negative score, terms and gloss, separated by tabs`,
      { lineNumber, dataFileUrl: url, line: line.slice(0, 1000) },
    );
  }
  const [type = '', , positiveText = '', negativeText = '', terms = ''] = fields;
  const positive = scoreOf(positiveText);
  const negative = scoreOf(negativeText);
  if (positive === undefined || negative === undefined) return;
  const objective = 1 - positive - negative;
  for (const term of terms.split(' ')) {
    const split = term.lastIndexOf('#');
    const rank = Number(term.slice(split + 1));
    if (split <= 0 || !(rank > 0)) continue;
    const word = term.slice(0, split);
    const key = `${word}#${type}`;
    let sums = words.get(key);
    if (sums === undefined) {
      sums = { type, word, positive: 0, negative: 0, objective: 0, weight: 0 };
      words.set(key, sums);
    }
    sums.positive = Math.fround(sums.positive + Math.fround(positive / rank));
    sums.negative = Math.fround(sums.negative + Math.fround(negative / rank));
    sums.objective = Math.fround(sums.objective + Math.fround(objective / rank));
    sums.weight += 1 / rank;
  }
}

function scoreOf(text: string): number | undefined {
  const score = text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(score) ? score : undefined;
}
