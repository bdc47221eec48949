// CASE over many constants as SQL of ClickHouse that looks values up: its servers compute all branches
// of a choice for every row.
import type { BoundExpression, CaseExpression } from '../../plan/expression.ts';
import { Scalar } from '../../value/value.ts';
import { double, isDouble, isNumeric, type Lowering, type Sql } from './clickhouse-sql.ts';
import { numberLiteral, quoteText } from './clickhouse-text.ts';

/** Fewer branches are tested one after another. */
const BRANCH_COUNT_MIN = 4;
/** As many comparisons are added up without a look-up. */
const PLAIN_COUNT_MAX = 24;
const CELL_COUNTS = [256, 512, 1024, 2048] as const;
/** Bounds of one cell at most. */
const CELL_BOUND_COUNT_MAX = 3;
/** Bounds of one step, where values are too uneven for cells. */
const STEP_COUNT = 16;

interface Table {
  readonly subject: BoundExpression;
  /** as integers; one for each branch, then of ELSE */
  readonly results: readonly number[];
  /** the result of a null */
  readonly missing: number;
}

/** @returns undefined: the branches are no table of constants */
export function tableCase(
  expression: CaseExpression,
  to: Lowering,
  lower: (expression: BoundExpression, to: Lowering) => Sql | undefined,
): Sql | undefined {
  if (expression.operand !== undefined || expression.branches.length < BRANCH_COUNT_MIN) {
    return undefined;
  }
  const bounds = tableOf(expression, '<', 'number');
  if (bounds !== undefined) {
    const { subject, constants } = bounds;
    const x = lower(subject, to);
    if (x === undefined || !isNumeric(x) || !isDouble(x) || x.isInexact === true) return undefined;
    const isAscending = constants.every((bound, i) => i === 0 || bound > (constants[i - 1] ?? 0));
    const literals = constants.map(doubleLiteral);
    if (!isAscending || !literals.every((literal) => literal !== undefined)) return undefined;
    const value = x.isNullable ? `assumeNotNull(${x.text})` : x.text;
    const place = placeOf(double({ ...x, text: value }), constants, literals);
    return looked(x, bounds, resultAt(bounds.results, place));
  }
  const texts = tableOf(expression, '=', 'string');
  const x = texts && lower(texts.subject, to);
  if (texts === undefined || x?.kind !== 'string') return undefined;
  const { constants, results } = texts;
  if (new Set(constants).size < constants.length) return undefined;
  const value = x.isNullable ? `assumeNotNull(${x.text})` : x.text;
  const from = constants.map(quoteText).join(', ');
  const found = `transform(${value}, [${from}], [${results.slice(0, -1).join(', ')}], ${results.at(-1)})`;
  return looked(x, texts, found);
}

function looked(x: Sql, { missing }: Table, found: string): Sql {
  const text = x.isNullable
    ? `if(isNull(${x.text}), toInt64(${missing}), toInt64(${found}))`
    : `toInt64(${found})`;
  return { text, kind: 'integer', isNullable: false, isSmall: true };
}

/** The branches, where all of them compare one expression with constants. */
function tableOf<Kind extends 'number' | 'string'>(
  { branches, otherwise }: CaseExpression,
  operator: '<' | '=',
  kind: Kind,
): (Table & { readonly constants: readonly TypeOf<Kind>[] }) | undefined {
  const last = otherwise && smallInteger(otherwise);
  if (last === undefined) return undefined;
  let subject: BoundExpression | undefined;
  let missing = last;
  const constants: TypeOf<Kind>[] = [];
  const results: number[] = [];
  for (const [index, { when, result }] of branches.entries()) {
    const value = smallInteger(result);
    if (value === undefined) return undefined;
    if (index === 0 && when.kind === 'is' && when.test === 'null' && !when.negated) {
      subject = when.operand;
      missing = value;
      continue;
    }
    if (when.kind !== 'comparison' || when.operator !== operator) return undefined;
    const constant = constantOf(when.right);
    if (typeof constant !== kind) return undefined;
    subject ??= when.left;
    if (!isSame(subject, when.left)) return undefined;
    constants.push(constant as TypeOf<Kind>);
    results.push(value);
  }
  if (subject === undefined || constants.length === 0) return undefined;
  return { subject, constants, missing, results: [...results, last] };
}

type TypeOf<Kind> = Kind extends 'number' ? number : string;

function constantOf(expression: BoundExpression): unknown {
  return expression.kind === 'constant' && expression.value instanceof Scalar
    ? expression.value.atom
    : undefined;
}

function smallInteger(expression: BoundExpression): number | undefined {
  const value = constantOf(expression);
  const isSmall = Number.isSafeInteger(value) && Math.abs(value as number) < 2 ** 31;
  return isSmall ? (value as number) : undefined;
}

/** Columns, or the very same expression. */
function isSame(a: BoundExpression, b: BoundExpression): boolean {
  if (a === b) return true;
  return a.kind === 'column' && b.kind === 'column' && String(a.path) === String(b.path);
}

/** Greater numbers stand for "no bound". */
const BOUND_MAX = 1e307;
const NO_BOUND = '1e308';

function doubleLiteral(value: number): string | undefined {
  const literal = Math.abs(value) < BOUND_MAX ? numberLiteral(value) : undefined;
  // A whole number would be an integer, which has no type in common with doubles when it is large.
  return literal !== undefined && /^-?\d+$/.test(literal) ? `${literal}.` : literal;
}

function resultAt(results: readonly number[], place: string): string {
  const [first = 0] = results;
  const areConsecutive = results.every((result, index) => result === first + index);
  if (!areConsecutive) return `arrayElement([${results.join(', ')}], ${place} + 1)`;
  return first === 0 ? place : `(${place} + ${first})`;
}

/** How many bounds are at most the value; a NaN is below all of them, as it is here. */
function placeOf(x: string, bounds: readonly number[], literals: readonly string[]): string {
  if (bounds.length <= PLAIN_COUNT_MAX) return countOf(x, literals);
  return cellPlace(x, bounds, literals) ?? stepPlace(x, literals);
}

function countOf(x: string, bounds: readonly string[]): string {
  return `(${bounds.map((bound) => `(${x} >= ${bound})`).join(' + ')})`;
}

/**
 * Cells of equal width, each with the number of bounds before it and its own few bounds. Which cell a
 * value is in never falls as values rise, whatever is rounded, and bounds are put in cells alike.
 */
function cellPlace(
  x: string,
  bounds: readonly number[],
  literals: readonly string[],
): string | undefined {
  const [low, high] = [bounds[0] as number, bounds.at(-1) as number];
  for (const cellCount of CELL_COUNTS) {
    const scale = cellCount / (high - low);
    const scaleLiteral = doubleLiteral(scale);
    if (scaleLiteral === undefined || !(scale > 0)) return undefined;
    const starts: number[] = [];
    const own: string[][] = Array.from({ length: cellCount + 1 }, () => []);
    for (const [index, bound] of bounds.entries()) {
      own[Math.floor((bound - low) * scale)]?.push(literals[index] as string);
    }
    const most = own.reduce((max, { length }) => Math.max(max, length), 0);
    if (most > CELL_BOUND_COUNT_MAX) continue;
    let before = 0;
    for (const { length } of own) {
      starts.push(before);
      before += length;
    }
    const negative = (literals[0] as string).startsWith('-');
    const start = negative ? `(${literals[0]})` : literals[0];
    const cell = `toUInt16(floor((${x} - ${start}) * ${scaleLiteral}) + 1)`;
    const parts = [`arrayElement([${starts.join(', ')}], ${cell})`];
    for (let k = 0; k < most; k++) {
      const list = own.map((each) => each[k] ?? NO_BOUND).join(', ');
      parts.push(`(${x} >= arrayElement([${list}], ${cell}))`);
    }
    const inside = `toUInt16(${parts.join(' + ')})`;
    const [first, last] = [literals[0], literals.at(-1)];
    return `if(${x} >= ${last}, toUInt16(${bounds.length}), if(${x} >= ${first}, ${inside}, toUInt16(0)))`;
  }
  return undefined;
}

/** First among every sixteenth bound, then among those between two of them. */
function stepPlace(x: string, literals: readonly string[]): string {
  const coarse = literals.filter((_, index) => index % STEP_COUNT === STEP_COUNT - 1);
  const group = countOf(x, coarse);
  const groups = Math.ceil(literals.length / STEP_COUNT) + 1;
  const parts = [`(${STEP_COUNT} * ${group})`];
  for (let k = 0; k < STEP_COUNT - 1; k++) {
    const list = Array.from(
      { length: groups },
      (_, each) => literals[each * STEP_COUNT + k] ?? NO_BOUND,
    );
    parts.push(`(${x} >= arrayElement([${list.join(', ')}], ${group} + 1))`);
  }
  return `toUInt16(least(${parts.join(' + ')}, ${literals.length}))`;
}
