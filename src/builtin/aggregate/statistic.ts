// Aggregates of statistics and order by the names that SQL has for them. Nulls are left out, but by
// first, last and array_agg.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { ANY_TYPE, atomType, OPEN_ROW_TYPE, type ValueType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { type Atom, compareAtoms, isTrue, normalizeInteger } from '../../value/atom.ts';
import { type CanonicalKey, keyOfAtom } from '../../value/canonical-key.ts';
import { printNumber } from '../../value/number-text.ts';
import { laterOf, MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import {
  Embedding,
  effectiveTs,
  embeddingAsRow,
  NULL_VALUE,
  Row,
  RowBuilder,
  Scalar,
  type Value,
} from '../../value/value.ts';
import { numberAtom, requireAtom, requireDouble, requireInteger } from '../conversion.ts';
import { family, INTEGER_TYPE, NUMBER_TYPE, parameter } from '../declare.ts';
import { isNullValue } from '../option.ts';
import {
  type AtomAggregate,
  ofAtoms,
  overThreeRows,
  Q,
  type Timed,
  X,
  Y,
} from './atom-aggregate.ts';
import { DistinctSketch } from './distinct-sketch.ts';
import { QuantileSketch } from './quantile-sketch.ts';

const { aggregate } = family('aggregate');

interface ListState extends Timed {
  readonly atoms: Atom[];
}

const makeList = (): ListState => ({ atoms: [], ts: MINUS_INFINITY });

function mergeLists(state: ListState, other: ListState): void {
  for (const atom of other.atoms) state.atoms.push(atom);
}

interface QuantileState extends ListState {
  share: number | undefined;
}

function requireShare(q: Atom | undefined): number {
  const share = requireDouble(q ?? null);
  if (share >= 0 && share <= 1) return share;
  throw failure('SQL_EXECUTION', `a quantile takes a share from 0 to 1, got ${share}`);
}

function quantile(
  name: string,
  summary: string,
  fixed: number | undefined,
  example: readonly [string, string],
  pick: (sorted: readonly Atom[], share: number) => Atom,
): FunctionDeclaration {
  return ofAtoms<QuantileState>({
    name,
    summary,
    parameters: fixed === undefined ? [X, Q] : [X],
    examples: overThreeRows(...example),
    resultType: ([type]) => (type?.kind === 'atom' ? type : atomType('atom')),
    init: () => ({ ...makeList(), share: fixed }),
    add: (state, x, q) => {
      state.share ??= requireShare(q);
      state.atoms.push(x);
    },
    merge: (state, other) => {
      state.share ??= other.share;
      mergeLists(state, other);
    },
    finish: ({ atoms, share = 0 }) => (atoms.length === 0 ? null : pick(sortedAtoms(atoms), share)),
  });
}

function sortedAtoms(atoms: Atom[]): readonly Atom[] {
  if (atoms.every((atom) => typeof atom === 'number')) {
    return Float64Array.from(atoms as number[]).sort() as unknown as readonly number[];
  }
  return atoms.sort(compareAtoms);
}

/** The value at a share of the way, between two neighbours where it falls there. */
function interpolated(sorted: readonly Atom[], share: number): Atom {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  const [a, b] = [sorted[low] as Atom, sorted[Math.min(low + 1, sorted.length - 1)] as Atom];
  const mix = (x: number, y: number) => (x === y ? x : x + (y - x) * (place - low));
  if (a instanceof Timestamp && b instanceof Timestamp)
    return new Timestamp(mix(a.seconds, b.seconds));
  return numberAtom(mix(requireDouble(a), requireDouble(b)));
}

interface CountsState extends Timed {
  readonly counts: Map<CanonicalKey, { readonly atom: Atom; count: number }>;
}

function ofCounts(
  options: Pick<AtomAggregate<CountsState>, 'name' | 'summary' | 'examples' | 'finish'> & {
    readonly result?: ValueType;
  },
): FunctionDeclaration {
  return ofAtoms<CountsState>({
    ...options,
    parameters: [X],
    resultType: ([type]) => options.result ?? (type?.kind === 'atom' ? type : atomType('atom')),
    init: () => ({ counts: new Map(), ts: MINUS_INFINITY }),
    add: ({ counts }, atom) => countAtom(counts, atom, 1),
    merge: (state, other) => {
      for (const { atom, count } of other.counts.values()) countAtom(state.counts, atom, count);
    },
  });
}

function countAtom(counts: CountsState['counts'], atom: Atom, by: number): void {
  const key = keyOfAtom(atom);
  const known = counts.get(key);
  if (known === undefined) counts.set(key, { atom, count: by });
  else known.count += by;
}

interface ExtremeState extends Timed {
  best: { readonly value: Atom; readonly key: Atom } | undefined;
}

function argExtreme(
  name: 'arg_min' | 'arg_max',
  aliases: readonly string[],
  sign: 1 | -1,
  result: string,
): FunctionDeclaration {
  const offer = (state: ExtremeState, value: Atom, key: Atom) => {
    if (state.best === undefined || sign * compareAtoms(key, state.best.key) > 0)
      state.best = { value, key };
  };
  return ofAtoms<ExtremeState>({
    name,
    aliases,
    summary: `The x of the row with the ${sign === 1 ? 'largest' : 'smallest'} y, the first of equal ones.`,
    parameters: [X, Y],
    examples: overThreeRows(`${name}(value * 10, value)`, result),
    resultType: ([type]) => (type?.kind === 'atom' ? type : atomType('atom')),
    init: () => ({ best: undefined, ts: MINUS_INFINITY }),
    add: (state, x, y) => offer(state, x as Atom, y as Atom),
    merge: (state, other) => {
      if (other.best !== undefined) offer(state, other.best.value, other.best.key);
    },
    finish: ({ best }) => best?.value ?? null,
  });
}

interface KeptState {
  value: Value | undefined;
}

/** The value of one row, nulls included unless it says otherwise. */
function keeping(
  name: string,
  summary: string,
  result: string,
  keep: (state: KeptState, value: Value) => void,
): FunctionDeclaration {
  return aggregate<KeptState>({
    name,
    summary,
    parameters: [X],
    examples: overThreeRows(`${name}(value)`, result),
    overRows: false,
    resultType: ([type]) => type ?? ANY_TYPE,
    init: () => ({ value: undefined }),
    update: (state, [x]) => keep(state, x as Value),
    merge: (state, other) => {
      if (other.value !== undefined) keep(state, other.value);
    },
    finish: ({ value }) => value ?? NULL_VALUE,
  });
}

interface TruthState extends Timed {
  truth: boolean | undefined;
}

function ofTruth(
  name: string,
  summary: string,
  example: readonly [string, string],
  combine: (a: boolean, b: boolean) => boolean,
): FunctionDeclaration {
  const add = (state: TruthState, truth: boolean) => {
    state.truth = state.truth === undefined ? truth : combine(state.truth, truth);
  };
  return ofAtoms<TruthState>({
    name,
    summary,
    parameters: [parameter('c', 'a condition')],
    examples: overThreeRows(...example),
    resultType: () => INTEGER_TYPE,
    init: () => ({ truth: undefined, ts: MINUS_INFINITY }),
    add: (state, atom) => add(state, isTrue(atom as Exclude<Atom, null>)),
    merge: (state, other) => {
      if (other.truth !== undefined) add(state, other.truth);
    },
    finish: ({ truth }) => (truth === undefined ? null : Number(truth)),
  });
}

interface BitState extends Timed {
  bits: bigint | undefined;
}

function ofBits(
  name: string,
  summary: string,
  result: string,
  combine: (a: bigint, b: bigint) => bigint,
): FunctionDeclaration {
  const add = (state: BitState, bits: bigint) => {
    state.bits = state.bits === undefined ? bits : combine(state.bits, bits);
  };
  return ofAtoms<BitState>({
    name,
    summary,
    parameters: [parameter('x', 'an integer')],
    examples: overThreeRows(`${name}(value)`, result),
    resultType: () => INTEGER_TYPE,
    init: () => ({ bits: undefined, ts: MINUS_INFINITY }),
    add: (state, atom) => add(state, BigInt(requireInteger(atom as Atom))),
    merge: (state, other) => {
      if (other.bits !== undefined) add(state, other.bits);
    },
    finish: ({ bits }) => (bits === undefined ? null : normalizeInteger(BigInt.asIntN(64, bits))),
  });
}

interface ProductState extends Timed {
  count: number;
  value: number;
}

function folding(
  name: string,
  summary: string,
  result: string,
  start: number,
  combine: (a: number, b: number) => number,
  of: (x: number) => number,
  finish: (state: ProductState) => number | null,
): FunctionDeclaration {
  return ofAtoms<ProductState>({
    name,
    summary,
    parameters: [X],
    examples: overThreeRows(`${name}(value)`, result),
    init: () => ({ count: 0, value: start, ts: MINUS_INFINITY }),
    add: (state, atom) => {
      state.count++;
      state.value = combine(state.value, of(requireDouble(atom as Atom)));
    },
    merge: (state, other) => {
      state.count += other.count;
      state.value = combine(state.value, other.value);
    },
    finish: (state) => {
      const value = finish(state);
      return value === null ? null : numberAtom(value);
    },
  });
}

interface SketchState<Sketch> extends Timed {
  readonly sketch: Sketch;
  share?: number;
}

interface HistogramState extends Timed {
  bounds: readonly number[] | undefined;
  counts: number[];
}

function boundsOf(value: Value | undefined): readonly number[] {
  const row = value instanceof Embedding ? embeddingAsRow(value) : value;
  if (!(row instanceof Row) || row.length === 0) {
    throw failure(
      'SQL_EXECUTION',
      'histogram takes the upper bounds of its bins as a list: histogram(x, [1, 2, 3])',
    );
  }
  return row.values.map((bound) => requireDouble(requireAtom(bound))).sort((a, b) => a - b);
}

export const statisticFunctions: readonly FunctionDeclaration[] = [
  quantile(
    'median',
    'The value in the middle; the mean of the two in the middle.',
    0.5,
    ['median(value)', '4'],
    interpolated,
  ),
  quantile(
    'quantile_cont',
    'The value at a share of the sorted values, between two of them where it falls there.',
    undefined,
    ['quantile_cont(value, 0.25)', '3.5'],
    interpolated,
  ),
  quantile(
    'quantile_disc',
    'The first of the sorted values at or above a share of them.',
    undefined,
    ['quantile_disc(value, 0.5)', '4'],
    (sorted, share) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] as Atom,
  ),
  ofAtoms<SketchState<QuantileSketch>>({
    name: 'approx_quantile',
    summary:
      'The value at about a share of the sorted values (t-digest): off by at most about 1 % of the rows, far less at both ends.',
    parameters: [X, Q],
    examples: overThreeRows('approx_quantile(value, 0.5)', '4'),
    init: () => ({ sketch: new QuantileSketch(), ts: MINUS_INFINITY }),
    add: (state, x, q) => {
      state.share ??= requireShare(q);
      state.sketch.add(requireDouble(x as Atom));
    },
    merge: (state, other) => {
      if (other.share !== undefined) state.share ??= other.share;
      state.sketch.merge(other.sketch);
    },
    finish: ({ sketch, share = 0 }) => {
      const value = sketch.quantile(share);
      return value === undefined ? null : numberAtom(value);
    },
  }),
  ofAtoms<SketchState<DistinctSketch>>({
    name: 'approx_count_distinct',
    summary:
      'About the number of distinct values (HyperLogLog of 16,384 registers): off by less than 2 %.',
    parameters: [X],
    examples: overThreeRows('approx_count_distinct(value)', '3'),
    resultType: () => INTEGER_TYPE,
    init: () => ({ sketch: new DistinctSketch(), ts: MINUS_INFINITY }),
    add: ({ sketch }, x) => sketch.add(keyOfAtom(x as Atom)),
    merge: (state, other) => state.sketch.merge(other.sketch),
    finish: ({ sketch }) => sketch.count(),
  }),
  ofCounts({
    name: 'mode',
    summary: 'The most frequent value, the first of equally frequent ones.',
    examples: [['mode(value) FROM row_dataset([3, 4, 4])', '4']],
    finish: ({ counts }) => {
      let best: { readonly atom: Atom; readonly count: number } | undefined;
      for (const entry of counts.values())
        if (best === undefined || entry.count > best.count) best = entry;
      return best?.atom ?? null;
    },
  }),
  ofCounts({
    name: 'entropy',
    summary: 'The entropy of the values in bits; 0 when there are none.',
    examples: [['entropy(value) FROM row_dataset([1, 2])', '1']],
    result: NUMBER_TYPE,
    finish: ({ counts }) => {
      const entries = [...counts.values()];
      const total = entries.reduce((sum, { count }) => sum + count, 0);
      const bits = entries.reduce(
        (sum, { count }) => sum - (count / total) * Math.log2(count / total),
        0,
      );
      return numberAtom(bits);
    },
  }),
  argExtreme('arg_min', ['argmin', 'min_by'], -1, '30'),
  argExtreme('arg_max', ['argmax', 'max_by'], 1, '50'),
  keeping('first', 'The value of the first row, null included.', '3', (state, value) => {
    state.value ??= value;
  }),
  keeping('last', 'The value of the last row, null included.', '5', (state, value) => {
    state.value = value;
  }),
  keeping('any_value', 'The first value that is not null.', '3', (state, value) => {
    if (!isNullValue(value)) state.value ??= value;
  }),
  ofTruth(
    'bool_and',
    'Whether the condition is true in every row; null when it never is known.',
    ['bool_and(value > 2)', '1'],
    (a, b) => a && b,
  ),
  ofTruth(
    'bool_or',
    'Whether the condition is true in some row; null when it never is known.',
    ['bool_or(value > 4)', '1'],
    (a, b) => a || b,
  ),
  ofBits('bit_and', 'The bits that all integers have.', '0', (a, b) => a & b),
  ofBits('bit_or', 'The bits that some integer has.', '7', (a, b) => a | b),
  ofBits('bit_xor', 'The bits that an odd number of the integers have.', '2', (a, b) => a ^ b),
  folding(
    'product',
    'The product of the values; null when there are none.',
    '60',
    1,
    (a, b) => a * b,
    (x) => x,
    ({ count, value }) => (count === 0 ? null : value),
  ),
  folding(
    'geomean',
    'The geometric mean of the values; null when there are none.',
    '3.9148676411688634',
    0,
    (a, b) => a + b,
    Math.log,
    ({ count, value }) => (count === 0 ? null : Math.exp(value / count)),
  ),
  folding(
    'count_if',
    'The number of rows for which the condition is true.',
    '3',
    0,
    (a, b) => a + b,
    (x) => Number(x !== 0),
    ({ value }) => value,
  ),
  aggregate<HistogramState>({
    name: 'histogram',
    summary:
      'A row of counts by upper bound: how many values are at most each bound and above the one before; Inf for those above all.',
    parameters: [X, parameter('bins', 'a list of upper bounds')],
    examples: [
      [
        'print_json(histogram(value, [3, 9])) FROM row_dataset([3, 4, 5])',
        '"{\\"3\\":1,\\"9\\":2}"',
      ],
    ],
    overRows: false,
    resultType: () => OPEN_ROW_TYPE,
    init: () => ({ bounds: undefined, counts: [], ts: MINUS_INFINITY }),
    update: (state, [x, bins]) => {
      state.bounds ??= boundsOf(bins);
      const atom = requireAtom(x);
      if (atom === null) return;
      const value = requireDouble(atom);
      const index = state.bounds.findIndex((bound) => value <= bound);
      const bin = index === -1 ? state.bounds.length : index;
      state.counts[bin] = (state.counts[bin] ?? 0) + 1;
      state.ts = laterOf(state.ts, effectiveTs(x as Value));
    },
    merge: (state, other) => {
      state.bounds ??= other.bounds;
      other.counts.forEach((count, bin) => {
        state.counts[bin] = (state.counts[bin] ?? 0) + count;
      });
      state.ts = laterOf(state.ts, other.ts);
    },
    finish: ({ bounds, counts, ts }) => {
      if (bounds === undefined) return NULL_VALUE;
      const row = new RowBuilder();
      for (const [bin, bound] of bounds.entries()) {
        row.add(printNumber(bound), new Scalar(counts[bin] ?? 0, ts));
      }
      const above = counts[bounds.length];
      if (above !== undefined) row.add('Inf', new Scalar(above, ts));
      return row.build();
    },
  }),
  aggregate<ListState>({
    name: 'array_agg',
    aliases: ['list'],
    summary: 'The values of all rows as an embedding, nulls included; null when there are no rows.',
    parameters: [X],
    examples: [['print_json(array_agg(value)) FROM row_dataset([3, 4, 5])', '"[3,4,5]"']],
    overRows: false,
    resultType: () => ({ kind: 'embedding', shape: [-1], element: 'atom' }),
    init: makeList,
    update: (state, [x]) => {
      state.atoms.push(requireAtom(x));
      state.ts = laterOf(state.ts, effectiveTs(x as Value));
    },
    merge: (state, other) => {
      mergeLists(state, other);
      state.ts = laterOf(state.ts, other.ts);
    },
    finish: ({ atoms, ts }) =>
      atoms.length === 0 ? NULL_VALUE : new Embedding([atoms.length], [...atoms], ts),
  }),
];
