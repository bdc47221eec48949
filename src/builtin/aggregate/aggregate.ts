// Aggregates over the rows of a group.
//
// Every state merges: partitions are aggregated apart and their states combined, with the result
// of one sequence but for the last bits of sums.
import type {
  AggregateFunction,
  FunctionDeclaration,
  FunctionExample,
} from '../../plan/function.ts';
import { atomType, type ValueType } from '../../plan/type/type.ts';
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { type CanonicalKey, keyOfValue } from '../../value/canonical-key.ts';
import { compareText } from '../../value/natural-order.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { effectiveTs, NULL_VALUE, Scalar, type Value } from '../../value/value.ts';
import { joinTexts, numberAtom, requireAtom } from '../conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, optional, parameter, STRING_TYPE } from '../declare.ts';
import { isNullValue } from '../option.ts';
import {
  addToSum,
  addToVariance,
  type ChoiceState,
  countAtom,
  makeChoice,
  makeSum,
  makeVariance,
  mergeChoices,
  mergeSums,
  mergeVariances,
  offer,
  type Preference,
  preferEarlier,
  preferLarger,
  preferLater,
  preferSmaller,
  type SumState,
  sampleVariance,
  totalOf,
  type VarianceState,
} from './accumulator.ts';

const { aggregate } = family('aggregate');

const EXPRESSION = parameter('x', 'an expression, or a row whose columns are taken one by one');

/** Declares a function and its name for those who think of tables as having two directions. */
type NameOptions = Pick<AggregateFunction, 'name' | 'aliases'>;

function vertical(name: string): NameOptions {
  return { name, aliases: [`vertical_${name}`] };
}

/** Examples run over the three rows 3, 4, 5. */
function overThreeRows(call: string, result: string): readonly FunctionExample[] {
  return [[`${call} FROM row_dataset([3, 4, 5])`, result]];
}

function summing(
  name: 'sum' | 'avg',
  summary: string,
  result: string,
  finish: (state: SumState) => number,
): FunctionDeclaration {
  return aggregate<SumState>({
    ...vertical(name),
    summary,
    parameters: [EXPRESSION],
    examples: overThreeRows(`${name}(value)`, result),
    resultType: () => NUMBER_TYPE,
    kernel: name,
    init: makeSum,
    update: (state, [x]) => {
      const atom = requireAtom(x);
      if (atom !== null) addToSum(state, atom, (x as Scalar).ts);
    },
    merge: mergeSums,
    finish: (state) => new Scalar(numberAtom(finish(state)), state.ts),
  });
}

function varying(
  name: 'variance' | 'stddev',
  summary: string,
  finish: (variance: number) => number,
): FunctionDeclaration {
  return aggregate<VarianceState>({
    ...vertical(name),
    summary,
    parameters: [EXPRESSION],
    examples: overThreeRows(`${name}(value)`, '1'),
    resultType: () => NUMBER_TYPE,
    kernel: name,
    init: makeVariance,
    update: (state, [x]) => {
      const atom = requireAtom(x);
      if (atom !== null) addToVariance(state, atom, (x as Scalar).ts);
    },
    merge: mergeVariances,
    finish: (state) => new Scalar(numberAtom(finish(sampleVariance(state))), state.ts),
  });
}

interface ChoosingOptions {
  readonly name: 'min' | 'max' | 'earliest' | 'latest';
  readonly summary: string;
  readonly result: string;
  readonly prefers: Preference;
  readonly kernel?: 'min' | 'max';
}

function choosing({ name, prefers, kernel, ...options }: ChoosingOptions): FunctionDeclaration {
  return aggregate<ChoiceState>({
    ...vertical(name),
    summary: options.summary,
    parameters: [EXPRESSION],
    examples: overThreeRows(`${name}(value)`, options.result),
    resultType: ([type]) => (type?.kind === 'atom' ? type : atomType('atom')),
    ...(kernel === undefined ? {} : { kernel }),
    init: makeChoice,
    update: (state, [x]) => {
      const atom = requireAtom(x);
      if (atom !== null) offer(state, prefers, atom, (x as Scalar).ts);
    },
    merge: (state, other) => mergeChoices(state, other, prefers),
    finish: ({ chosen }) =>
      chosen === undefined ? NULL_VALUE : new Scalar(chosen.atom, chosen.ts),
  });
}

interface DistinctState {
  readonly keys: Set<CanonicalKey>;
  ts: number;
}

/** A text to be joined, with what it is sorted by and the separator it brings. */
interface Piece {
  readonly text: string;
  readonly separator: string;
  readonly sortKey: Atom;
}

interface StringState {
  readonly pieces: Piece[];
  ts: number;
}

const integer = (): ValueType => INTEGER_TYPE;

export const aggregateFunctions: readonly FunctionDeclaration[] = [
  aggregate<SumState>({
    ...vertical('count'),
    summary: 'The number of rows in which x is not null; count(*) counts all rows.',
    parameters: [EXPRESSION],
    examples: overThreeRows('count(value)', '3'),
    resultType: integer,
    kernel: 'count',
    countsEmpty: true,
    init: makeSum,
    update: (state, [x]) => {
      if (!isNullValue(x)) countAtom(state, effectiveTs(x as Value));
    },
    merge: mergeSums,
    finish: (state) => new Scalar(state.count, state.ts),
    ofCount: (count, latestTs) => new Scalar(count, latestTs),
  }),
  summing('sum', 'The sum of the values; 0 when there are none.', '12', totalOf),
  summing(
    'avg',
    'The mean of the values; NaN when there are none.',
    '4',
    (state) => totalOf(state) / state.count,
  ),
  varying(
    'variance',
    'The sample variance of the values (divided by n-1); NaN below two values.',
    (variance) => variance,
  ),
  varying('stddev', 'The square root of the sample variance.', Math.sqrt),
  choosing({
    name: 'min',
    summary: 'The smallest value of any type, the earliest of equal ones.',
    result: '3',
    prefers: preferSmaller,
    kernel: 'min',
  }),
  choosing({
    name: 'max',
    summary: 'The largest value of any type, the earliest of equal ones.',
    result: '5',
    prefers: preferLarger,
    kernel: 'max',
  }),
  choosing({
    name: 'earliest',
    summary: 'The value with the smallest timestamp, the smaller of equally early ones.',
    result: '3',
    prefers: preferEarlier,
  }),
  choosing({
    name: 'latest',
    summary: 'The value with the largest timestamp, the smaller of equally late ones.',
    result: '3',
    prefers: preferLater,
  }),
  aggregate<DistinctState>({
    name: 'count_distinct',
    summary: "The number of different values; 1 and 1.0 are one, '1' is another.",
    parameters: [EXPRESSION],
    examples: overThreeRows('count_distinct(value % 2)', '2'),
    resultType: integer,
    kernel: 'count_distinct',
    init: () => ({ keys: new Set(), ts: MINUS_INFINITY }),
    update: (state, [x]) => {
      if (x === undefined || isNullValue(x)) return;
      state.keys.add(keyOfValue(x));
      state.ts = laterOf(state.ts, effectiveTs(x));
    },
    merge: (state, other) => {
      for (const key of other.keys) state.keys.add(key);
      state.ts = laterOf(state.ts, other.ts);
    },
    finish: (state) => new Scalar(state.keys.size, state.ts),
  }),
  aggregate<StringState>({
    ...vertical('string_agg'),
    summary:
      'The texts of the values, joined; sorted by the sort field, then by text. Without it: by text, or as ORDER BY, inside or in OVER, has them.',
    parameters: [
      parameter('x', 'an expression with a text form'),
      parameter('separator', 'what follows each text when another comes; null is nothing'),
      optional('sortField', 'what the texts are sorted by'),
    ],
    examples: overThreeRows("string_agg(value, '-', -value)", '"5-4-3"'),
    resultType: () => STRING_TYPE,
    overRows: false,
    init: () => ({ pieces: [], ts: MINUS_INFINITY }),
    update: (state, [x, separator, sortField]) => {
      const atom = requireAtom(x);
      if (atom === null) return;
      const between = requireAtom(separator);
      state.pieces.push({
        text: atomText(atom),
        separator: between === null ? '' : atomText(between),
        sortKey: requireAtom(sortField),
      });
      state.ts = laterOf(state.ts, (x as Scalar).ts);
    },
    merge: (state, other) => {
      for (const piece of other.pieces) state.pieces.push(piece);
      state.ts = laterOf(state.ts, other.ts);
    },
    finish: ({ pieces, ts }) => new Scalar(joinPieces(pieces, compareTexts), ts),
    finishInOrder: ({ pieces, ts }) =>
      new Scalar(
        joinPieces(pieces, () => 0),
        ts,
      ),
  }),
];

function compareTexts(a: Piece, b: Piece): number {
  return compareText(a.text, b.text) || compareText(a.separator, b.separator);
}

/** @param compareTies orders pieces of one sort field; those that are equal stay as they are */
function joinPieces(pieces: readonly Piece[], compareTies: (a: Piece, b: Piece) => number): string {
  const sorted = [...pieces].sort(
    (a, b) => compareAtoms(a.sortKey, b.sortKey) || compareTies(a, b),
  );
  const parts = sorted.map(({ text, separator }, index) =>
    index < sorted.length - 1 ? text + separator : text,
  );
  return joinTexts('string_agg', parts, '');
}
