// Words cut to their stems by the Snowball algorithms.
import { createRequire } from 'node:module';
import { Type } from 'typebox';
import { atomType, OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { earlierOf } from '../../value/timestamp.ts';
import { EMPTY_ROW, effectiveTs, Row, Scalar, sortedRow, type Value } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { memberOf } from '../input-member.ts';

const LANGUAGES = [
  'danish',
  'dutch',
  'english',
  'finnish',
  'french',
  'german',
  'hungarian',
  'italian',
  'norwegian',
  'porter',
  'portuguese',
  'romanian',
  'russian',
  'spanish',
  'swedish',
  'turkish',
] as const;

const PARAMETERS = Type.Object({
  language: Type.String({
    description: `language of the words: ${LANGUAGES.join(', ')}`,
    default: 'english',
  }),
});

/** Adds up the counts of words that have one stem. */
export const stemmer = functionType({
  name: 'stemmer',
  summary: 'Cuts the words of a row of counts to their stems, and adds up those of one stem.',
  parameters: PARAMETERS,
  binding: () => 'creation',
  check: ({ language }) => checkLanguage(language),
  compile({ language }) {
    const stem = stemOf(language);
    return {
      input: [{ kind: 'row', members: [{ name: 'words', type: OPEN_ROW_TYPE }], open: false }],
      output: { kind: 'row', members: [{ name: 'words', type: OPEN_ROW_TYPE }], open: false },
      takesAnyValue: false,
      isLight: true,
      apply: (input) => new Row(['words'], [stemCounts(memberOf(input, 'words'), stem)]),
    };
  },
});

/** Cuts each word of a text to its stem. */
export const stemmerdoc = functionType({
  name: 'stemmerdoc',
  summary: 'Cuts each word of a text to its stem.',
  parameters: PARAMETERS,
  binding: () => 'creation',
  check: ({ language }) => checkLanguage(language),
  compile({ language }) {
    const stem = stemOf(language);
    const type = {
      kind: 'row',
      members: [{ name: 'document', type: atomType('string') }],
      open: false,
    } as const;
    return {
      input: [type],
      output: type,
      takesAnyValue: false,
      isLight: true,
      apply(input) {
        const text = memberOf(input, 'document');
        if (!(text instanceof Scalar) || typeof text.atom !== 'string') {
          return new Row(['document'], [new Scalar(null, effectiveTs(text ?? input))]);
        }
        const words = text.atom.split(' ').filter((word) => word !== '');
        return new Row(['document'], [new Scalar(words.map(stem).join(' '), text.ts)]);
      },
    };
  },
});

function checkLanguage(language: string): void {
  if ((LANGUAGES as readonly string[]).includes(language)) return;
  throw failure(
    'INVALID_PARAMETER',
    `language ${JSON.stringify(language)} is not available for stemming; accepted are ${LANGUAGES.join(', ')}`,
  );
}

interface SnowballFactory {
  newStemmer(language: string): { stem(word: string): string };
}

/** The library is large, and few services stem words: it is loaded when one does. */
function stemOf(language: string): (word: string) => string {
  const factory = createRequire(import.meta.url)('snowball-stemmers') as SnowballFactory;
  const made = factory.newStemmer(language);
  const known = new Map<string, string>();
  return (word) => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const stem = made.stem(word);
    if (known.size < KNOWN_COUNT_MAX) known.set(word, stem);
    return stem;
  };
}

const KNOWN_COUNT_MAX = 100_000;

function stemCounts(words: Value | undefined, stem: (word: string) => string): Row {
  if (!(words instanceof Row)) return EMPTY_ROW;
  const sums = new Map<string, { count: number; ts: number }>();
  for (const [index, word] of words.names.entries()) {
    const value = words.values[index];
    if (!(value instanceof Scalar) || value.atom === null) continue;
    const { atom, ts } = value;
    const count = typeof atom === 'number' || typeof atom === 'bigint' ? Number(atom) : 1;
    const key = stem(word);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { count, ts });
    else {
      sum.count += count;
      sum.ts = earlierOf(sum.ts, ts);
    }
  }
  const names = [...sums.keys()];
  return sortedRow(
    names,
    [...sums.values()].map(({ count, ts }) => new Scalar(count, ts)),
  );
}
