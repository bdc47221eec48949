// SQL of values and what is made of it: comparisons and choices as Rowan has them.
import type { ModelFormula } from '../../learn/formula/formula.ts';
import type { ComparisonOperator } from '../../sql/node.ts';
import type { Atom } from '../../value/atom.ts';
import { readTimestamp, Timestamp } from '../../value/timestamp.ts';
import type { ClickhouseColumn } from './clickhouse-request.ts';
import { numberLiteral, type QueryTexts } from './clickhouse-text.ts';

/** SQL of a value. */
export interface Sql {
  readonly text: string;
  /** `instant`: seconds since the epoch; `truth`: 0 or 1 */
  readonly kind: 'integer' | 'number' | 'string' | 'instant' | 'truth';
  readonly isNullable: boolean;
  /** an integer of at most 32 bits, which a double holds */
  readonly isSmall?: boolean;
  /** an integer of 64 bits without a sign */
  readonly isUnsigned?: boolean;
  readonly mayBeNan?: boolean;
  /** its last bits may differ, so that it may be added up, but not decide anything */
  readonly isInexact?: boolean;
  /** of an instant of whole seconds since 1970: an expression of type Date or DateTime in UTC */
  readonly calendar?: string;
  readonly constant?: Atom;
  /** of a truth: see `truth` */
  readonly yes?: string | undefined;
  readonly no?: string | undefined;
}

export interface Lowering {
  readonly columns: ReadonlyMap<string, ClickhouseColumn>;
  /** columns that are expressions of their own, by their printed paths */
  readonly expressions?: ReadonlyMap<string, Sql>;
  readonly texts: QueryTexts;
  /** trained models that can be written as formulas; absent: none are known */
  readonly models?: (name: string) => ModelFormula | undefined;
  /** characters of a model's output at most */
  readonly modelSizeMax?: number;
}

/** Three-valued: `yes` and `no` are 1 where it is true and where it is false, and never null. */
export function truth(yes: string, no: string | undefined): Sql {
  const text = no === undefined ? yes : `multiIf(${yes}, 1, ${no}, 0, NULL)`;
  const isNullable = no !== undefined;
  return { text, kind: 'truth', isNullable, isSmall: true, yes, no: no ?? `NOT ${yes}` };
}

/** Of a test that is null where one of `values` is. */
export function testOf(text: string, values: readonly Sql[]): Sql {
  const there = thereOf(values);
  if (there === '') return truth(text, undefined);
  const yes = `ifNull(${text}, 0)`;
  return truth(yes, `(${there} AND NOT ${yes})`);
}

function thereOf(values: readonly Sql[]): string {
  return values
    .filter(({ isNullable }) => isNullable)
    .map((value) => `isNull(${value.text}) = 0`)
    .join(' AND ');
}

export function negated(test: Sql): Sql {
  return truth(test.no as string, test.isNullable ? test.yes : undefined);
}

export function number(text: string, isNullable: boolean, mayBeNan = true): Sql {
  return { text, kind: 'number', isNullable, mayBeNan };
}

export function smallInteger(text: string, isNullable: boolean): Sql {
  return { text, kind: 'integer', isNullable, isSmall: true };
}

export function isNumeric({ kind }: Sql): boolean {
  return kind === 'integer' || kind === 'number' || kind === 'truth';
}

/** What is computed of values of which some may be inexact. */
export function computed(sql: Sql, of: readonly Sql[]): Sql {
  return of.some(({ isInexact }) => isInexact === true) ? { ...sql, isInexact: true } : sql;
}

/** Whether a double holds every value. */
export function isDouble(value: Sql): boolean {
  return value.kind === 'number' || value.isSmall === true;
}

export function double({ text, kind }: Sql): string {
  return kind === 'number' ? text : `toFloat64(${text})`;
}

/** One zero, one NaN: for keys and for what tells values apart. */
export function canonical(value: Sql): string {
  if (value.kind !== 'number') return value.text;
  const zero = `(${value.text} + 0.)`;
  return value.mayBeNan === true ? `if(isNaN(${value.text}), nan, ${zero})` : zero;
}

/** A condition that is never null. */
export function holds(test: Sql): string {
  return test.yes ?? test.text;
}

export function truthOf(value: Sql): Sql | undefined {
  if (value.kind === 'truth') return value.yes === undefined ? testOf(value.text, [value]) : value;
  if (value.kind === 'integer') return testOf(`(${value.text} != 0)`, [value]);
  return undefined;
}

export function constantSql(atom: Atom, { texts }: Lowering): Sql | undefined {
  if (atom === null) return undefined;
  if (typeof atom === 'string') {
    return { text: texts.add(atom), kind: 'string', isNullable: false, constant: atom };
  }
  if (typeof atom === 'bigint') {
    return { text: String(atom), kind: 'integer', isNullable: false, constant: atom };
  }
  const seconds = atom instanceof Timestamp ? atom.seconds : atom;
  if (typeof seconds !== 'number') return undefined;
  const text = numberLiteral(seconds);
  if (text === undefined || (atom instanceof Timestamp && !Number.isFinite(seconds)))
    return undefined;
  const kind =
    atom instanceof Timestamp ? 'instant' : Number.isSafeInteger(atom) ? 'integer' : 'number';
  return {
    text: text.startsWith('-') ? `(${text})` : text,
    kind,
    isNullable: false,
    isSmall: kind === 'integer' && Math.abs(seconds) < 2 ** 31,
    mayBeNan: Number.isNaN(seconds),
    constant: atom,
  };
}

const NEGATED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '>=': '<',
  '>': '<=',
  '<=': '>',
};

export function compare(
  operator: ComparisonOperator,
  left: Sql | undefined,
  right: Sql | undefined,
  to: Lowering,
): Sql | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (left.isInexact === true || right.isInexact === true) return undefined;
  if (left.kind === 'instant' && right.kind === 'string') {
    return compare(operator, left, readInstant(right, to), to);
  }
  if (right.kind === 'instant' && left.kind === 'string') {
    return compare(operator, readInstant(left, to), right, to);
  }
  const isSame = left.kind === right.kind && (left.kind === 'string' || left.kind === 'instant');
  if (!isSame && !areComparable(left, right)) return undefined;
  const values = [left, right];
  const plain = (sign: string) => `(${left.text} ${sign} ${right.text})`;
  if (left.mayBeNan !== true && right.mayBeNan !== true) return testOf(plain(operator), values);
  if (operator === '!=' || operator === '>' || operator === '>=') {
    const opposite = compare(NEGATED[operator], left, right, to);
    return opposite && negated(opposite);
  }
  const isNan = (value: Sql) => (value.mayBeNan === true ? `isNaN(${value.text})` : '0');
  const special: Record<string, string> = {
    '=': `(${isNan(left)} AND ${isNan(right)})`,
    '<': `(${isNan(left)} AND NOT ${isNan(right)})`,
    '<=': isNan(left),
  };
  const there = thereOf(values);
  const nanTest = special[operator] as string;
  if (there === '') return truth(`(${plain(operator)} OR ${nanTest})`, undefined);
  // Old servers take a null beside OR for false, and beside AND for null.
  const yes = `(ifNull(${plain(operator)}, 0) OR (${there} AND ifNull(${nanTest}, 0)))`;
  return truth(yes, `(${there} AND NOT ${yes})`);
}

/** Numbers that ClickHouse compares exactly: not integers of 64 bits with doubles. */
function areComparable(left: Sql, right: Sql): boolean {
  if (!isNumeric(left) || !isNumeric(right)) return false;
  const areIntegers = left.kind !== 'number' && right.kind !== 'number';
  return areIntegers || (isDouble(left) && isDouble(right)) || isDoubleBesideConstant(left, right);
}

/** A safe integer as a literal is exact beside a double too. */
function isDoubleBesideConstant(left: Sql, right: Sql): boolean {
  const isSafe = ({ constant }: Sql) => Number.isSafeInteger(constant);
  return (isDouble(left) && isSafe(right)) || (isDouble(right) && isSafe(left));
}

function readInstant({ constant }: Sql, to: Lowering): Sql | undefined {
  const seconds = typeof constant === 'string' ? readTimestamp(constant) : null;
  return seconds === null ? undefined : constantSql(new Timestamp(seconds), to);
}

/** The first result whose test holds, else the last one; of one kind, so that there is a type. */
export function choose(
  tests: readonly string[],
  results: readonly (Sql | null)[],
): Sql | undefined {
  const values = results.filter((result) => result !== null);
  const [first] = values;
  if (first === undefined) return undefined;
  const kind = kindOfAll(values);
  if (kind === undefined) return undefined;
  const asKind = (value: Sql | null) => {
    if (value === null) return 'NULL';
    if (kind === 'number') return double(value);
    return kind === 'integer' ? `toInt64(${value.text})` : value.text;
  };
  const parts = tests.map((test, index) => `${test}, ${asKind(results[index] as Sql | null)}`);
  const last = asKind(results[results.length - 1] as Sql | null);
  return {
    // Of one test alone; it takes half the time.
    text: `${parts.length === 1 ? 'if' : 'multiIf'}(${parts.join(', ')}, ${last})`,
    kind,
    isNullable: values.length < results.length || values.some((value) => value.isNullable),
    isSmall: kind === 'integer' || kind === 'truth',
    mayBeNan: values.some((value) => value.mayBeNan === true),
    isInexact: values.some((value) => value.isInexact === true),
  };
}

function kindOfAll(values: readonly Sql[]): Sql['kind'] | undefined {
  const kinds = new Set(values.map(({ kind }) => kind));
  if (kinds.size === 1 && !kinds.has('integer')) return values[0]?.kind;
  if (!values.every((value) => isNumeric(value) && isDouble(value))) return undefined;
  return kinds.has('number') ? 'number' : 'integer';
}
