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
  const evaluate = node.options === undefined ? () => EMPTY_ROW : compiler.evaluator(node.options);
  const read = () => readOptions(evaluate(new Frame()));
  const optionsOf =
    node.options === undefined ? read : placeErrors(read, node.options, compiler.runtime.text);
  return () => {
    const options = optionsOf();
    const rows = [...input()];
    const random = makeRandom(options.seed ?? Math.floor(Math.random() * 2 ** 32));
    const count = options.rowCount ?? Math.floor((options.fraction as number) * rows.length);
    return options.withReplacement
      ? drawWithReplacement(rows, count, random)
      : drawDistinct(rows, count, random);
  };
}

function drawWithReplacement(
  rows: readonly ExecRow[],
  count: number,
  random: () => number,
): ExecRow[] {
  if (rows.length === 0) {
    if (count === 0) return [];
    throw failure('SQL_EXECUTION', `Requested ${count} rows from a table without rows`);
  }
  return Array.from({ length: count }, () => rows[Math.floor(random() * rows.length)] as ExecRow);
}

/** A partial Fisher-Yates shuffle, then the order of the input. */
function drawDistinct(rows: readonly ExecRow[], count: number, random: () => number): ExecRow[] {
  if (count > rows.length) {
    throw failure(
      'SQL_EXECUTION',
      `Requested more rows without replacement than there are: ${count} of ${rows.length}`,
    );
  }
  const order = rows.map((_, index) => index);
  for (let i = 0; i < count; i++) {
    const other = i + Math.floor(random() * (order.length - i));
    [order[i], order[other]] = [order[other] as number, order[i] as number];
  }
  const chosen = order.slice(0, count).sort((a, b) => a - b);
  return chosen.map((index) => rows[index] as ExecRow);
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
