// Lowers bound expressions to vector programs, where the types of the columns allow it. What cannot
// be lowered gives undefined and is left to the general evaluator; so is whatever might fail.
import { ARITHMETIC, COMPARE, TRUTH } from '../../../kernel/generated.ts';
import type {
  BoundExpression,
  CaseExpression,
  ComparisonExpression,
  InQueryExpression,
} from '../../../plan/expression.ts';
import { assert } from '../../../util/assert.ts';
import type { Atom } from '../../../value/atom.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { MINUS_INFINITY, Timestamp } from '../../../value/timestamp.ts';
import { Scalar } from '../../../value/value.ts';
import type { DictionaryEvaluation, DictionaryTables } from '../dictionary-table.ts';
import type { ColumnScope } from '../table.ts';
import { integerBounds } from './integer-bounds.ts';
import type { CodeProgram, NumberProgram, TruthProgram, VectorProgram } from './program.ts';

/** Codes of the operators that kernels know. */
const ARITHMETIC_CODES: Readonly<Record<string, number>> = {
  '+': ARITHMETIC.add,
  '-': ARITHMETIC.subtract,
  '*': ARITHMETIC.multiply,
  '/': ARITHMETIC.divide,
};

const COMPARE_CODES: Readonly<Record<string, number>> = {
  '=': COMPARE.equal,
  '!=': COMPARE.notEqual,
  '<': COMPARE.less,
  '<=': COMPARE.lessOrEqual,
  '>': COMPARE.greater,
  '>=': COMPARE.greaterOrEqual,
};

/** Ranges of integers wider than this are no codes. */
const RANGE_CARDINALITY_MAX = 1 << 22;

export interface LoweredNumbers {
  readonly program: NumberProgram;
  /** timestamps are numbers of seconds that become timestamps again in results */
  readonly isTimestamp: boolean;
  /** every value is an int32 column's as it is */
  readonly isInteger: boolean;
  /** where values come from a column and so have its timestamp; others have -Inf */
  readonly timed: Timed;
  /** that timestamp, in seconds */
  readonly ts: number;
  /**
   * where results have the timestamp when nulls may have it too, as the product of a value and a
   * null does; `mixed`: nulls have several; absent: nulls have -Inf
   */
  readonly timedNulls?: NumberProgram | 'mixed' | undefined;
}

/** Always, never, or where these numbers are valid. */
export type Timed = boolean | NumberProgram;

export interface LoweredCodes {
  readonly program: CodeProgram;
  /** the atom of each code below the cardinality; code 0 is null */
  atom(code: number): Atom;
  /** codes in ascending order of their atoms, NULL first */
  order(): Uint32Array;
  /** the timestamp of the values, in seconds */
  readonly ts: number;
}

export class Lowering {
  readonly table: ColumnScope;
  readonly #dictionaries: DictionaryTables;
  #isInside = false;

  constructor(table: ColumnScope, dictionaries: DictionaryTables) {
    this.table = table;
    this.#dictionaries = dictionaries;
  }

  truth(expression: BoundExpression): TruthProgram | undefined {
    return this.#told(expression, () => {
      const program = this.#truth(expression);
      return program && { program };
    })?.program;
  }

  /** Tells whoever watches what a whole expression was lowered to. */
  #told<Lowered extends { readonly program: VectorProgram }>(
    expression: BoundExpression,
    lower: () => Lowered | undefined,
  ): Lowered | undefined {
    const { watch } = this.#dictionaries;
    if (watch === undefined || this.#isInside) return lower();
    this.#isInside = true;
    try {
      const lowered = lower();
      if (lowered !== undefined) watch(expression, lowered.program, this.table);
      return lowered;
    } finally {
      this.#isInside = false;
    }
  }

  #truth(expression: BoundExpression): TruthProgram | undefined {
    switch (expression.kind) {
      case 'constant':
        return this.#constantTruth(expression.value);
      case 'and':
      case 'or':
        return this.#junction(expression.kind, expression.operands);
      case 'unary':
        if (expression.operator === 'not') {
          const operand = this.truth(expression.operand);
          return operand && { op: 'not', operand };
        }
        break;
      case 'comparison': {
        const compared = this.#comparison(expression);
        if (compared !== undefined) return compared;
        break;
      }
      case 'between': {
        const { operand, low, high, negated } = expression;
        const within = this.#between(operand, low, high);
        if (within !== undefined) return negated ? { op: 'not', operand: within } : within;
        break;
      }
      case 'is':
        if (expression.test === 'null') {
          const operand = this.numbers(expression.operand);
          if (operand !== undefined) {
            return { op: 'missing', operand: operand.program, negated: expression.negated };
          }
        }
        break;
    }
    const table = this.#dictionaries.truth(expression, this.table);
    if (table === undefined) {
      return expression.kind === 'in-query' ? this.#inQuery(expression) : this.#nonZero(expression);
    }
    const { index, canHold } = table;
    return index.kind === 'column'
      ? { op: 'table-truth', column: index.column, table: table.table, canHold }
      : { op: 'domain-truth', parts: index.parts, table: table.table, canHold };
  }

  numbers(expression: BoundExpression): LoweredNumbers | undefined {
    return this.#told(expression, () => this.#numbers(expression));
  }

  #numbers(expression: BoundExpression): LoweredNumbers | undefined {
    switch (expression.kind) {
      case 'constant':
        return constantNumbers(expression.value);
      case 'subquery':
        return expression.mode === 'scalar' && expression.args.length === 0
          ? constantNumbers(this.#dictionaries.constant(expression))
          : undefined;
      case 'column': {
        const column = this.table.find(expression.path);
        if (column === 'absent') return NO_NUMBERS;
        if (column === undefined) return undefined;
        const snapshot = this.table.columns[column] as ColumnSnapshot;
        return columnNumbers(column, snapshot, this.table);
      }
      case 'arithmetic': {
        const operator = ARITHMETIC_CODES[expression.operator];
        const left = this.numbers(expression.left);
        const right = this.numbers(expression.right);
        if (operator === undefined || left === undefined || right === undefined) break;
        if (left.isTimestamp || right.isTimestamp) return undefined;
        const time = timeOfBoth(left, right) ?? this.#anyTime();
        if (time === undefined) return undefined;
        const program = { op: 'arithmetic', operator, left: left.program, right: right.program };
        const timedNulls = this.exactTimestamps ? this.#timeOfNulls(left, right) : undefined;
        return {
          ...{ program: program as NumberProgram, isTimestamp: false, isInteger: false },
          ...{ ...time, timedNulls },
        };
      }
      case 'case':
        return this.#case(expression) ?? this.#numbersByDictionary(expression);
    }
    return this.#numbersByDictionary(expression);
  }

  #numbersByDictionary(expression: BoundExpression): LoweredNumbers | undefined {
    const table = this.#dictionaries.numbers(expression, this.table);
    if (table === undefined) return undefined;
    const { index, numbers, valid, ts } = table;
    const program: NumberProgram =
      index.kind === 'column'
        ? { op: 'table', column: index.column, table: numbers, valid }
        : { op: 'domain', parts: index.parts, table: numbers, valid };
    return { program, isTimestamp: false, isInteger: false, timed: true, ts };
  }

  #case({ operand, branches, otherwise, emptyRow }: CaseExpression): LoweredNumbers | undefined {
    if (emptyRow) return undefined;
    const lowered: { readonly when: TruthProgram; readonly value: LoweredNumbers }[] = [];
    for (const { when, result } of branches) {
      const truth = this.truth(operand === undefined ? when : equality(operand, when));
      const value = this.#numbersOrNull(result);
      if (truth === undefined || value === undefined || value.isTimestamp) return undefined;
      lowered.push({ when: truth, value });
    }
    const rest = otherwise === undefined ? NO_NUMBERS : this.#numbersOrNull(otherwise);
    if (rest === undefined || rest.isTimestamp) return undefined;
    const time = timeOfCase(lowered, rest) ?? this.#anyTime();
    if (time === undefined) return undefined;
    // A branch may be null and have a timestamp all the same.
    if ([...lowered.map(({ value }) => value), rest].some(({ timedNulls }) => timedNulls)) {
      return undefined;
    }
    const cases = lowered.map(({ when, value }) => ({ when, result: value.program }));
    const program = { op: 'case', branches: cases, otherwise: rest.program } as const;
    return { program, isTimestamp: false, isInteger: false, ...time };
  }

  /** Where results, of which some may be null, have the later timestamp of two operands. */
  #timeOfNulls(left: LoweredNumbers, right: LoweredNumbers): LoweredNumbers['timedNulls'] {
    const operands = [left, right].filter(({ timed }) => timed !== false);
    if ([left, right].every(({ program }) => this.#isNeverNull(program))) return undefined;
    const [first, second] = operands.map(whereTimed);
    if (first === undefined) return undefined;
    if (first === 'mixed' || second === 'mixed') return 'mixed';
    if (second === undefined) return first;
    if (left.ts !== right.ts) return 'mixed';
    const when = { op: 'missing', operand: first, negated: true } as const;
    return { op: 'case', branches: [{ when, result: first }], otherwise: second };
  }

  #isNeverNull(program: NumberProgram): boolean {
    if (program.op === 'column') return !this.table.hasNulls(program.column);
    return program.op === 'constant';
  }

  /** Where nobody looks at timestamps, these may be any. */
  #anyTime(): Time | undefined {
    return this.exactTimestamps ? undefined : { timed: true, ts: MINUS_INFINITY };
  }

  get exactTimestamps(): boolean {
    return this.#dictionaries.exactTimestamps;
  }

  #numbersOrNull(expression: BoundExpression): LoweredNumbers | undefined {
    const isNull =
      expression.kind === 'constant' &&
      expression.value instanceof Scalar &&
      expression.value.atom === null;
    return isNull ? NO_NUMBERS : this.numbers(expression);
  }

  /** Bounds of the values of an integer column, from its chunks; undefined for anything else. */
  integerBounds(
    expression: BoundExpression,
  ): { readonly least: number; readonly greatest: number } | undefined {
    if (expression.kind !== 'column') return undefined;
    const column = this.table.find(expression.path);
    if (typeof column !== 'number') return undefined;
    return integerBounds(this.table.columns[column] as ColumnSnapshot);
  }

  /** Values as small codes, for grouping and counting. */
  codes(expression: BoundExpression): LoweredCodes | undefined {
    return this.#told(expression, () => this.#codes(expression));
  }

  #codes(expression: BoundExpression): LoweredCodes | undefined {
    if (expression.kind === 'column') {
      const column = this.table.find(expression.path);
      if (typeof column !== 'number') return undefined;
      const snapshot = this.table.columns[column] as ColumnSnapshot;
      if (!this.#dictionaries.hasOneTime(column, this.table)) return undefined;
      if (snapshot.dictionary === undefined)
        return rangeCodes(column, snapshot, this.table.tsOf(column));
    }
    const table: DictionaryEvaluation | undefined = this.#dictionaries.codes(
      expression,
      this.table,
    );
    if (table === undefined) return undefined;
    const { atoms } = table;
    return {
      program: codeProgramOf(table),
      atom: (code) => atoms.atom(code),
      order: () => withNullFirst(atoms.order()),
      ts: table.ts,
    };
  }

  /** Codes as numbers that compare as their atoms do, and the code of each of these numbers. */
  ranks({ program, order }: LoweredCodes): {
    readonly numbers: NumberProgram;
    readonly codeOf: Uint32Array;
  } {
    const codeOf = order();
    const { table, valid } = this.#dictionaries.rankTable(codeOf);
    return { numbers: { op: 'domain', parts: [program], table, valid }, codeOf };
  }

  #constantTruth(value: unknown): TruthProgram | undefined {
    if (!(value instanceof Scalar)) return undefined;
    const { atom } = value;
    if (atom === null) return { op: 'always', truth: TRUTH.isNull };
    if (typeof atom !== 'number') return undefined;
    return { op: 'always', truth: atom === 0 ? TRUTH.isFalse : TRUTH.isTrue };
  }

  #junction(op: 'and' | 'or', operands: readonly BoundExpression[]): TruthProgram | undefined {
    const programs: TruthProgram[] = [];
    for (const operand of operands) {
      const program = this.truth(operand);
      if (program === undefined) return undefined;
      programs.push(program);
    }
    return { op, operands: programs };
  }

  #comparison(expression: ComparisonExpression): TruthProgram | undefined {
    const operator = COMPARE_CODES[expression.operator];
    const left = this.numbers(expression.left);
    const right = this.numbers(expression.right);
    if (operator === undefined || left === undefined || right === undefined) return undefined;
    if (left.isTimestamp !== right.isTimestamp) return undefined;
    return { op: 'compare', operator, left: left.program, right: right.program };
  }

  #between(
    operand: BoundExpression,
    low: BoundExpression,
    high: BoundExpression,
  ): TruthProgram | undefined {
    const [value, least, greatest] = [operand, low, high].map((each) => this.numbers(each));
    if (value === undefined || least === undefined || greatest === undefined) return undefined;
    // The steps of BETWEEN differ from an AND only where a bound is null.
    if (least.program.op !== 'constant' || greatest.program.op !== 'constant') return undefined;
    if (value.isTimestamp !== least.isTimestamp || value.isTimestamp !== greatest.isTimestamp) {
      return undefined;
    }
    const from = { op: 'compare', operator: COMPARE.greaterOrEqual, left: value.program } as const;
    const to = { op: 'compare', operator: COMPARE.lessOrEqual, left: value.program } as const;
    return {
      op: 'and',
      operands: [
        { ...from, right: least.program },
        { ...to, right: greatest.program },
      ],
    };
  }

  /** NULL is neither in nor out. */
  #inQuery({ operand, subquery, negated, asPaths }: InQueryExpression): TruthProgram | undefined {
    const value = asPaths ? undefined : this.numbers(operand);
    if (value === undefined) return undefined;
    const { program, isTimestamp } = value;
    const found: NumberProgram = {
      op: 'case',
      branches: [
        { when: { op: 'missing', operand: program, negated: false }, result: { op: 'null' } },
      ],
      otherwise: this.#dictionaries.members(subquery, program, isTimestamp),
    };
    const operator = negated ? COMPARE.equal : COMPARE.notEqual;
    return { op: 'compare', operator, left: found, right: { op: 'constant', value: 0 } };
  }

  /** A number IS TRUE when it is not 0. */
  #nonZero(expression: BoundExpression): TruthProgram | undefined {
    const operand = this.numbers(expression);
    if (operand === undefined || operand.isTimestamp) return undefined;
    const right = { op: 'constant', value: 0 } as const;
    return { op: 'compare', operator: COMPARE.notEqual, left: operand.program, right };
  }
}

function codeProgramOf({ index, codes, atoms }: DictionaryEvaluation): CodeProgram {
  const cardinality = atoms.count + 1;
  if (index.kind === 'column') {
    const { column } = index;
    return codes === undefined
      ? { op: 'codes', column, cardinality }
      : { op: 'table-codes', column, table: codes, cardinality };
  }
  assert(codes !== undefined, 'an expression has codes of its own');
  return { op: 'domain-codes', parts: index.parts, table: codes, cardinality };
}

const NO_NUMBERS: LoweredNumbers = {
  program: { op: 'null' },
  isTimestamp: false,
  isInteger: false,
  timed: false,
  ts: MINUS_INFINITY,
};

/** `CASE operand WHEN when`: both have a value, and these are equal. */
function equality(left: BoundExpression, right: BoundExpression): ComparisonExpression {
  const { start } = left;
  return {
    kind: 'comparison',
    operator: '=',
    left,
    right,
    type: right.type,
    start,
    end: right.end,
  };
}

type Time = Pick<LoweredNumbers, 'timed' | 'ts'>;

/** A result has the later timestamp of both operands. Undefined: which one differs by the row. */
function timeOfBoth(left: LoweredNumbers, right: LoweredNumbers): Time | undefined {
  if (left.timed === false) return { timed: right.timed, ts: right.ts };
  if (right.timed === false) return { timed: left.timed, ts: left.ts };
  if (left.timed === true && right.timed === true) {
    return { timed: true, ts: Math.max(left.ts, right.ts) };
  }
  if (left.ts !== right.ts || (left.timed !== true && right.timed !== true)) return undefined;
  return { timed: true, ts: left.ts };
}

/** Numbers that are valid where those of an operand have its timestamp. */
function whereTimed({
  program,
  timed,
  timedNulls,
}: LoweredNumbers): NumberProgram | 'mixed' | undefined {
  if (timedNulls !== undefined) return timedNulls;
  if (timed === false) return undefined;
  return timed === true ? program : timed;
}

/** The timestamp is that of the branch which is taken. */
function timeOfCase(
  branches: readonly { readonly when: TruthProgram; readonly value: LoweredNumbers }[],
  rest: LoweredNumbers,
): Time | undefined {
  const all = [...branches.map(({ value }) => value), rest];
  const [first, ...others] = all.filter(({ timed }) => timed !== false);
  if (first === undefined) return { timed: false, ts: MINUS_INFINITY };
  const { ts } = first;
  if (others.some((other) => other.ts !== ts)) return undefined;
  if (all.every(({ timed }) => timed === true)) return { timed: true, ts };
  const where = ({ program, timed }: LoweredNumbers): NumberProgram => {
    if (typeof timed !== 'boolean') return timed;
    return timed ? program : { op: 'null' };
  };
  const cases = branches.map(({ when, value }) => ({ when, result: where(value) }));
  return { timed: { op: 'case', branches: cases, otherwise: where(rest) }, ts };
}

function constantNumbers(value: unknown): LoweredNumbers | undefined {
  if (!(value instanceof Scalar)) return undefined;
  const { atom } = value;
  const isTimestamp = atom instanceof Timestamp;
  const number = isTimestamp ? atom.seconds : atom;
  if (typeof number !== 'number') return undefined;
  const program = { op: 'constant', value: number } as const;
  return { program, isTimestamp, isInteger: false, timed: false, ts: MINUS_INFINITY };
}

function columnNumbers(
  column: number,
  snapshot: ColumnSnapshot,
  scope: ColumnScope,
): LoweredNumbers | undefined {
  const { type, dictionary } = snapshot;
  if (type === 'null') return NO_NUMBERS;
  const timed = scope.timedOf(column);
  const numeric = type === 'integer' || type === 'number' || type === 'timestamp';
  if (!numeric || dictionary !== undefined) return undefined;
  return {
    program: { op: 'column', column },
    isTimestamp: type === 'timestamp',
    isInteger: snapshot.chunks.every((chunk) => chunk.kind === 'int32'),
    timed: timed === true ? true : { op: 'column', column: timed },
    ts: scope.tsOf(column),
  };
}

function rangeCodes(
  column: number,
  snapshot: ColumnSnapshot,
  ts: number,
): LoweredCodes | undefined {
  const bounds = integerBounds(snapshot);
  if (bounds === undefined) return undefined;
  const { least, greatest } = bounds;
  const cardinality = greatest - least + 2;
  if (cardinality > RANGE_CARDINALITY_MAX) return undefined;
  return {
    program: { op: 'range', column, least, cardinality },
    atom: (code) => (code === 0 ? null : code - 1 + least),
    order: () => Uint32Array.from({ length: cardinality }, (_, code) => code),
    ts,
  };
}

function withNullFirst(order: Uint32Array): Uint32Array {
  const out = new Uint32Array(order.length + 1);
  out.set(order, 1);
  return out;
}
