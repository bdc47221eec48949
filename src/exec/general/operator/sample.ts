// sample: a random choice of rows; the same seed gives the same sample.
import type { SampleNode } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { EMPTY_ROW, Row, Scalar, type Value } from '../../../value/value.ts';
import { isNull } from '../call/lookup.ts';
import { makeRandom } from '../call/random.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import { isTrue } from '../truth.ts';
import type { RowSource } from './source.ts';

interface SampleOptions {
  /** undefined: `fraction` decides */
  readonly rowCount: number | undefined;
  readonly fraction: number | undefined;
  readonly withReplacement: boolean;
  readonly seed: number | undefined;
}

export function compileSample(node: SampleNode, input: RowSource, compiler: Compiler): RowSource {
  const draw = compileDraw(node, compiler);
  return () => {
    const rows = [...input()];
    return Array.from(draw(rows.length), (index) => rows[index] as ExecRow);
  };
}

/** Draws the numbers of rows, given how many there are. */
export type Draw = (rowCount: number) => Uint32Array;

/** Drawing throws where the options are wrong, or ask for more rows than there are. */
export function compileDraw({ options }: SampleNode, compiler: Compiler): Draw {
  const evaluate = options === undefined ? () => EMPTY_ROW : compiler.evaluator(options);
  const read = () => readOptions(evaluate(new Frame()));
  const optionsOf =
    options === undefined ? read : placeErrors(read, options, compiler.runtime.text);
  const { scope } = compiler.runtime;
  return (rowCount) => {
    const { seed, fraction, withReplacement, ...given } = optionsOf();
    const random = makeRandom(seed ?? Math.floor(Math.random() * 2 ** 32));
    const count = given.rowCount ?? Math.floor((fraction as number) * rowCount);
    const below = (end: number, draw: number) => {
      if (draw % DRAWS_PER_CHECK === 0) scope.checkCancelled();
      return Math.floor(random() * end);
    };
    return withReplacement
      ? drawWithReplacement(rowCount, count, below)
      : drawDistinct(rowCount, count, below);
  };
}

const DRAWS_PER_CHECK = 1 << 16;
const REPEATED_COUNT_MAX = 1 << 27;

/** A random number from 0 to less than `end`. @param draw how many were drawn before */
type Below = (end: number, draw: number) => number;

function drawWithReplacement(rowCount: number, count: number, below: Below): Uint32Array {
  if (rowCount === 0 && count > 0) {
    throw failure('SQL_EXECUTION', `Requested ${count} rows from a table without rows`);
  }
  if (count > REPEATED_COUNT_MAX) {
    throw failure(
      'SQL_EXECUTION',
      `Requested ${count} rows with replacement; at most ${REPEATED_COUNT_MAX} can be drawn`,
    );
  }
  const chosen = new Uint32Array(count);
  for (let i = 0; i < count; i++) chosen[i] = below(rowCount, i);
  return chosen;
}

/** A partial Fisher-Yates shuffle, then the order of the input. */
function drawDistinct(rowCount: number, count: number, below: Below): Uint32Array {
  if (count > rowCount) {
    throw failure(
      'SQL_EXECUTION',
      `Requested more rows without replacement than there are: ${count} of ${rowCount}`,
    );
  }
  const order = new Uint32Array(rowCount);
  for (let i = 0; i < rowCount; i++) order[i] = i;
  for (let i = 0; i < count; i++) {
    const other = i + below(rowCount - i, i);
    const chosen = order[other] as number;
    order[other] = order[i] as number;
    order[i] = chosen;
  }
  return order.slice(0, count).sort();
}

const OPTION_NAMES = ['rows', 'fraction', 'withReplacement', 'seed'];

function readOptions(value: Value): SampleOptions {
  if (!(value instanceof Row)) throw optionError('options should be a row expression');
  const unknown = value.names.find((name) => !OPTION_NAMES.includes(name));
  if (unknown !== undefined) {
    throw optionError(`Unknown field '${unknown}'; accepted are ${OPTION_NAMES.join(', ')}`);
  }
  const rows = numberOption(value, 'rows');
  const fraction = numberOption(value, 'fraction');
  if (rows !== undefined && fraction !== undefined) {
    throw optionError('rows and fraction cannot be set at the same time');
  }
  if (rows !== undefined && !(Number.isInteger(rows) && rows >= 0)) {
    throw optionError(`rows ${rows} is not a count`);
  }
  if (fraction !== undefined && !(fraction > 0 && fraction <= 1)) {
    throw optionError(`fraction ${fraction} is not in (0, 1]`);
  }
  const withReplacement = value.all('withReplacement')[0];
  return {
    rowCount: fraction === undefined ? (rows ?? 1) : undefined,
    fraction,
    withReplacement: withReplacement !== undefined && isTrue(withReplacement),
    seed: numberOption(value, 'seed'),
  };
}

function numberOption(options: Row, name: string): number | undefined {
  const value = options.all(name)[0];
  if (value === undefined || isNull(value)) return undefined;
  if (value instanceof Scalar && typeof value.atom === 'number') return value.atom;
  throw optionError(`${name} is not a number`);
}

function optionError(problem: string): Error {
  return failure('SQL_EXECUTION', `sample: ${problem}`);
}
