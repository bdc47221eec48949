import { Type } from 'typebox';
import { type StatsTables, statsTablesFromJson } from '../../learn/table/stats-table.ts';
import { url } from '../../schema/declare.ts';
import { failure } from '../../util/error.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { flatten, Row, RowBuilder, Scalar } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { loadModel } from './model-file.ts';
import { outputRowType } from './point-input.ts';

interface PosnegModel {
  /** the share of rows with the outcome, by word */
  readonly probabilities: ReadonlyMap<string, number>;
}

interface Selection {
  readonly outcomeToUse: string;
  readonly numPos: number;
  readonly numNeg: number;
  readonly minTrials: number;
}

/** The probabilities of an outcome for the words that tell most of it. */
export const statsTablePosneg = functionType({
  name: 'statsTable.bagOfWords.posneg',
  summary: 'Gives the probability of an outcome for the words of a row that tell most of it.',
  parameters: Type.Object({
    statsTableFileUrl: url({ description: 'the table that statsTable.bagOfWords.train saved' }),
    outcomeToUse: Type.String({ description: 'name of the outcome' }),
    numPos: Type.Integer({
      description: 'words kept with the highest probabilities',
      minimum: 0,
      default: 50,
    }),
    numNeg: Type.Integer({
      description: 'words kept with the lowest probabilities',
      minimum: 0,
      default: 50,
    }),
    minTrials: Type.Integer({
      description: 'rows that a word must have been seen in',
      minimum: 0,
      default: 50,
    }),
  }),
  binding: () => 'creation',
  async load(params, context) {
    const { statsTableFileUrl } = params;
    const read = (json: unknown) => statsTablesFromJson('statsTable.bagOfWords.posneg', json);
    const { data: tables, card } = await loadModel(statsTableFileUrl, context, read);
    const data: PosnegModel = { probabilities: keptWords(tables, params) };
    return { data, spans: [], card };
  },
  compile({ outcomeToUse }, _scope, artifact) {
    const { probabilities } = artifact as PosnegModel;
    const row = { kind: 'row', members: [], open: true } as const;
    const outcome = Path.of(outcomeToUse);
    return {
      input: [{ kind: 'row', members: [{ name: 'words', type: row }], open: false }],
      output: outputRowType('probs', row),
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const words = input instanceof Row ? input.values[input.indexOf('words')] : undefined;
        const builder = new RowBuilder();
        if (words !== undefined) {
          flatten(words, [], (word, atom, ts) => {
            const probability = probabilities.get(word.toString());
            if (atom === null || probability === undefined) return;
            builder.addPath(word.concat(outcome), new Scalar(probability, ts));
          });
        }
        return new Row(['probs'], [builder.build()]);
      },
    };
  },
});

/** @throws INVALID_PARAMETER when the table has no such outcome */
function keptWords(
  { outcomes, columns }: StatsTables,
  { outcomeToUse, numPos, numNeg, minTrials }: Selection,
): ReadonlyMap<string, number> {
  const index = outcomes.indexOf(outcomeToUse);
  if (index < 0) {
    throw failure(
      'INVALID_PARAMETER',
      `Outcome '${outcomeToUse}' not found in stats table! It has ${outcomes.join(', ') || 'none'}`,
    );
  }
  const [table] = columns.values();
  const words = Array.from(table ?? [], ([word, counts]) => ({
    word,
    trials: counts[0] as number,
    probability: (counts[index + 1] as number) / (counts[0] as number),
  }))
    .filter(({ trials }) => trials >= minTrials)
    .sort(
      (a, b) =>
        b.probability - a.probability || comparePaths(Path.parse(a.word), Path.parse(b.word)),
    );
  if (words.length < numPos + numNeg) {
    return new Map(words.map(({ word, probability }) => [word, probability]));
  }
  // Words that are tied with the last one that is kept are kept too.
  const lowest = words[numPos - 1]?.probability ?? Number.POSITIVE_INFINITY;
  const highest = words[words.length - numNeg]?.probability ?? Number.NEGATIVE_INFINITY;
  const kept = words.filter(({ probability }) => probability >= lowest || probability <= highest);
  return new Map(kept.map(({ word, probability }) => [word, probability]));
}
