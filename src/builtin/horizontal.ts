// Aggregates over the values of one row. Nulls inside the row are skipped.
import type { FunctionExample, ValueFunction } from '../plan/function.ts';
import { atomType, type ValueType } from '../plan/type/type.ts';
import type { Atom } from '../value/atom.ts';
import { atomText } from '../value/text.ts';
import { laterOf, MINUS_INFINITY } from '../value/timestamp.ts';
import { effectiveTs, flatten, Scalar, type Value } from '../value/value.ts';
import {
  addToSum,
  countAtom,
  makeChoice,
  makeSum,
  offer,
  type Preference,
  preferEarlier,
  preferLarger,
  preferLater,
  preferSmaller,
  type SumState,
} from './aggregate/accumulator.ts';
import { joinTexts, numberAtom, requireAtom } from './conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, optional, parameter, STRING_TYPE } from './declare.ts';

const { value } = family('horizontal', { isLinear: true });

const ROW = parameter('r', 'a row, an embedding, or an atom, which is a row of one value');

interface HorizontalOptions {
  readonly name: string;
  readonly summary: string;
  readonly examples: readonly FunctionExample[];
  readonly result: ValueType;
  readonly apply: (row: Value) => Scalar;
}

function horizontal({ apply, ...documentation }: HorizontalOptions): ValueFunction {
  return value({
    ...documentation,
    parameters: [ROW],
    timestamps: 'own',
    evaluate: ([row]) => apply(row as Value),
  });
}

function choosing(
  name: string,
  summary: string,
  example: FunctionExample,
  prefers: Preference,
): ValueFunction {
  return horizontal({
    name,
    summary,
    examples: [example],
    result: atomType('atom'),
    apply: (row) => {
      const state = makeChoice();
      visitValues(row, (atom, ts) => offer(state, prefers, atom, ts));
      return new Scalar(state.chosen?.atom ?? null, state.chosen?.ts ?? MINUS_INFINITY);
    },
  });
}

export const horizontalFunctions: readonly ValueFunction[] = [
  horizontal({
    name: 'horizontal_count',
    summary: 'The number of non-null values of a row.',
    examples: [["horizontal_count({a: null, b: 0, c: ''})", '2']],
    result: INTEGER_TYPE,
    apply: (row) => {
      const state = makeSum();
      visitValues(row, (_atom, ts) => countAtom(state, ts));
      return new Scalar(state.count, state.ts);
    },
  }),
  horizontal({
    name: 'horizontal_sum',
    summary: 'The sum of the values of a row; 0 when there are none.',
    examples: [['horizontal_sum({a: 1, b: {c: 2, d: null}, e: [3, 4]})', '10']],
    result: NUMBER_TYPE,
    apply: (row) => {
      const state = sumOf(row);
      return new Scalar(numberAtom(state.sum), state.ts);
    },
  }),
  horizontal({
    name: 'horizontal_avg',
    summary: 'The mean of the values of a row; null when there are none.',
    examples: [['horizontal_avg([1, 2, 6])', '3']],
    result: NUMBER_TYPE,
    apply: (row) => {
      const state = sumOf(row);
      if (state.count === 0) return new Scalar(null, effectiveTs(row));
      return new Scalar(numberAtom(state.sum / state.count), state.ts);
    },
  }),
  choosing(
    'horizontal_min',
    'The smallest value of a row; numbers are below texts, texts below timestamps.',
    ["horizontal_min({'b', 'a'})", '"a"'],
    (a, _aTs, b) => preferSmaller(a, 0, b, 0),
  ),
  choosing(
    'horizontal_max',
    'The largest value of a row; numbers are below texts, texts below timestamps.',
    ["horizontal_max({a: 99, b: 'a'})", '"a"'],
    (a, _aTs, b) => preferLarger(a, 0, b, 0),
  ),
  choosing(
    'horizontal_earliest',
    'The value of a row with the smallest timestamp, the smaller of equally early ones.',
    ['horizontal_earliest({a: 7 @ 10, b: 3 @ 20})', '7'],
    preferEarlier,
  ),
  choosing(
    'horizontal_latest',
    'The value of a row with the largest timestamp, the smaller of equally late ones.',
    ['horizontal_latest({a: 7 @ 10, b: 3 @ 20})', '3'],
    preferLater,
  ),
  value({
    name: 'horizontal_string_agg',
    summary: 'The texts of the values of a row, joined in the order of its columns.',
    parameters: [ROW, optional('sep', "what stands between two texts, default ''")],
    examples: [
      ["horizontal_string_agg({a: 'p', b: null, c: 'q'}, '-')", '"p-q"'],
      ["horizontal_string_agg([1, 2.5, 'x'])", '"12.5x"'],
    ],
    result: STRING_TYPE,
    timestamps: 'own',
    evaluate: ([row, separator]) => {
      const between = requireAtom(separator);
      const texts: string[] = [];
      let latest = MINUS_INFINITY;
      visitValues(row as Value, (atom, ts) => {
        texts.push(atomText(atom));
        latest = laterOf(latest, ts);
      });
      const separatorText = between === null ? '' : atomText(between);
      return new Scalar(joinTexts('horizontal_string_agg', texts, separatorText), latest);
    },
  }),
];

function sumOf(row: Value): SumState {
  const state = makeSum();
  visitValues(row, (atom, ts) => addToSum(state, atom, ts));
  return state;
}

function visitValues(row: Value, visit: (atom: Exclude<Atom, null>, ts: number) => void): void {
  flatten(row, [], (_path, atom, ts) => {
    if (atom !== null) visit(atom, ts);
  });
}
