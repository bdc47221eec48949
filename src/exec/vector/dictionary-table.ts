// Expressions over one dictionary column are evaluated once for each distinct value; rows then map
// through their codes.

import { OVERRUN_SIZE, TRUTH } from '../../kernel/generated.ts';
import { childrenOf } from '../../plan/children.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { assert } from '../../util/assert.ts';
import { RowanError } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import { type Atom, compareAtoms, isFalse, isTrue } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { dictionaryView } from '../../value/column/dictionary.ts';
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import { int32Of, spanOf } from '../../value/column/span-view.ts';
import { MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { EMPTY_ROW, NULL_VALUE, Row, Scalar, type Value } from '../../value/value.ts';
import type { JobContext } from '../parallel.ts';
import type { ScalarProgram } from '../scalar/compile.ts';
import { threadKernels } from '../thread-memory.ts';
import { integerBounds } from './program/integer-bounds.ts';
import type {
  CodeProgram,
  DomainProgram,
  NumberProgram,
  VectorProgram,
} from './program/program.ts';
import type { ColumnScope } from './table.ts';
import { valueMemo } from './value-memo.ts';

/** Larger dictionaries are not evaluated ahead: most of their values may never be met. */
const ENTRY_COUNT_MAX = 1 << 20;
/** The same for integers of a small range, and for combinations of the values of two columns. */
const COMBINATION_COUNT_MAX = 1 << 17;
const COLUMN_COUNT_MAX = 2;

/** Failures of the task rather than of the value. */
const ENDS: ReadonlySet<string> = new Set(['CANCELLED', 'OUT_OF_MEMORY']);

/** Values, or comparisons of two, between two looks at the cancel flag. */
const STEPS_PER_CHECK = 16_384;

export interface DistinctAtoms {
  readonly count: number;
  atom(code: number): Atom;
  /** codes, without NULL, in ascending order of atoms */
  order(): Uint32Array;
}

/** Where the numbers lie that a table is read by. */
export type TableIndex =
  /** the codes of a column with a dictionary */
  | { readonly kind: 'column'; readonly column: number }
  | (DomainProgram & { readonly kind: 'domain' });

interface Evaluation {
  readonly index: TableIndex;
  /** the timestamp of its values, in seconds */
  readonly ts: number;
}

export interface DictionaryEvaluation extends Evaluation {
  /** Int32 for each index; absent: the codes of the column themselves */
  readonly codes: Span | undefined;
  readonly atoms: DistinctAtoms;
}

/** Compiles an expression to a function of a row; supplied by the general evaluator. */
export type RowFunction = (expression: BoundExpression) => (row: Row) => unknown;

/** Ways to evaluate an expression; what knows no timestamps takes atoms. */
export interface Evaluations {
  readonly compile: RowFunction;
  compileScalar(expression: BoundExpression): ScalarProgram | undefined;
  /** see value-memo.ts */
  memoKey(expression: BoundExpression, dictionaryId: number): string | undefined;
  /** the cells of the sub-select of that number */
  subqueryCells(index: number): readonly Value[];
}

export class DictionaryTables {
  readonly #arenas: ArenaAllocator;
  readonly #compile: RowFunction;
  readonly #compileScalar: Evaluations['compileScalar'];
  readonly #memoKey: Evaluations['memoKey'];
  readonly #subqueryCells: Evaluations['subqueryCells'];
  /** false: values may have any timestamp */
  readonly exactTimestamps: boolean;
  /** to be called for each value of a dictionary that is gone through */
  readonly look: () => void;
  readonly #spans: Span[] = [];
  /** told what whole expressions were lowered to, for EXPLAIN; absent: nobody asks */
  watch:
    | ((expression: BoundExpression, program: VectorProgram, scope: ColumnScope) => void)
    | undefined;

  constructor(
    arenas: ArenaAllocator,
    { compile, compileScalar, memoKey, subqueryCells }: Evaluations,
    { scope, exactTimestamps }: { readonly scope: JobContext; readonly exactTimestamps: boolean },
  ) {
    this.#arenas = arenas;
    this.exactTimestamps = exactTimestamps;
    this.#compile = compile;
    this.#compileScalar = compileScalar;
    this.#memoKey = memoKey;
    this.#subqueryCells = subqueryCells;
    this.look = every(STEPS_PER_CHECK, () => scope.checkCancelled());
  }

  /** What an expression is that is the same for every row. */
  constant(expression: BoundExpression): unknown {
    return this.#compile(expression)(EMPTY_ROW);
  }

  /** A truth byte for each index; `canHold`: whether one of them is true. */
  truth(
    expression: BoundExpression,
    table: ColumnScope,
  ): { readonly index: TableIndex; readonly table: Span; readonly canHold: boolean } | undefined {
    const evaluated = this.#evaluate(expression, table);
    if (evaluated === undefined) return undefined;
    const truths = Uint8Array.from(evaluated.atoms, truthOf);
    return {
      index: evaluated.index,
      table: this.#keep(truths),
      canHold: truths.includes(TRUTH.isTrue),
    };
  }

  /** A double and a validity byte for each index, when every value is a number or null. */
  numbers(
    expression: BoundExpression,
    table: ColumnScope,
  ): (Evaluation & { readonly numbers: Span; readonly valid: Span }) | undefined {
    const evaluated = this.#evaluate(expression, table);
    const ts = evaluated && this.#commonTs(evaluated);
    if (evaluated === undefined || ts === undefined) return undefined;
    const { atoms, index } = evaluated;
    if (!atoms.every((atom) => atom === null || typeof atom === 'number')) return undefined;
    return {
      index,
      ts,
      numbers: this.#keep(Float64Array.from(atoms, (atom) => Number(atom))),
      valid: this.#keep(Uint8Array.from(atoms, (atom) => (atom === null ? 0 : 1))),
    };
  }

  /** Codes of the distinct values of an expression. */
  codes(expression: BoundExpression, table: ColumnScope): DictionaryEvaluation | undefined {
    if (expression.kind === 'column') {
      const column = table.find(expression.path);
      if (typeof column !== 'number') return undefined;
      const { dictionary } = table.columns[column] as ColumnSnapshot;
      if (dictionary === undefined || !this.hasOneTime(column, table)) return undefined;
      const view = dictionaryView(dictionary, this.#arenas);
      const atoms: DistinctAtoms = {
        count: view.count,
        atom: (code) => view.atom(code),
        order: () => view.order(this.look),
      };
      return {
        ...{ index: { kind: 'column', column }, codes: undefined, atoms },
        ts: table.tsOf(column),
      };
    }
    const evaluated = this.#evaluate(expression, table);
    const ts = evaluated && this.#commonTs(evaluated);
    if (evaluated === undefined || ts === undefined) return undefined;
    const numbers = new Map<unknown, number>();
    const distinct: Atom[] = [null];
    const codes = new Int32Array(evaluated.atoms.length);
    for (const [position, atom] of evaluated.atoms.entries()) {
      this.look();
      if (atom === null) continue;
      const key = keyOfAtom(atom);
      let code = numbers.get(key);
      if (code === undefined) {
        code = distinct.push(atom) - 1;
        numbers.set(key, code);
      }
      codes[position] = code;
    }
    const atoms = distinctAtoms(distinct, this.look);
    return { index: evaluated.index, ts, codes: this.#keep(codes), atoms };
  }

  /** Whether all values of a column have its timestamp, as far as that matters. */
  hasOneTime(column: number, table: ColumnScope): boolean {
    return !this.exactTimestamps || table.timedOf(column) === true;
  }

  /** The rank of each code, as a double; NULL, which comes first, has none. */
  rankTable(order: Uint32Array): { readonly table: Span; readonly valid: Span } {
    const ranks = new Float64Array(order.length);
    for (let rank = 0; rank < order.length; rank++) ranks[order[rank] as number] = rank;
    const valid = new Uint8Array(order.length).fill(1);
    valid[0] = 0;
    return { table: this.#keep(ranks), valid: this.#keep(valid) };
  }

  /**
   * The numbers, or seconds of timestamps, that a sub-select gives, in a hash table.
   * @returns what gives 1 for a word that is one of them, 0 for others
   */
  members(subquery: number, numbers: NumberProgram, isTimestamp: boolean): NumberProgram {
    const values: number[] = [];
    for (const cell of this.#subqueryCells(subquery)) {
      this.look();
      const atom = cell instanceof Scalar ? keyOfNumber(cell.atom, isTimestamp) : undefined;
      if (atom !== undefined) values.push(atom);
    }
    const size = 1 << Math.max(4, Math.ceil(Math.log2(values.length * 2 + 1)));
    const table = this.#keep(new Float64Array(size * 2));
    const cells = this.#arenas.allocateIn(table.arena, values.length * 16 + OVERRUN_SIZE);
    let used: number;
    try {
      const kernels = threadKernels(table.arena);
      const words = cells.offset + values.length * 8;
      this.#arenas.get(table.arena).f64.set(values, cells.offset / 8);
      kernels.orderKeysF64(cells.offset, 0, values.length, 0, words);
      used = kernels.enterWords(words, values.length, 0, table.offset, size - 1, 0);
    } finally {
      this.#arenas.free(cells);
    }
    const isMember = new Float64Array(used + 1).fill(1);
    isMember[0] = 0;
    const found: CodeProgram = {
      ...{ op: 'hashed', word: { kind: 'number', numbers }, table },
      ...{ mask: size - 1, cardinality: used + 1 },
    };
    const valid = this.#keep(new Uint8Array(used + 1).fill(1));
    return { op: 'domain', parts: [found], table: this.#keep(isMember), valid };
  }

  /** A program whose codes are those of another, mapped by a table with an entry for each code. */
  mapCodes(program: CodeProgram, table: Int32Array, cardinality: number): CodeProgram {
    if (program.op === 'codes') {
      return { op: 'table-codes', column: program.column, table: this.#keep(table), cardinality };
    }
    assert(program.op === 'table-codes' || program.op === 'domain-codes', 'codes of a dictionary');
    const mapped = int32Of(this.#arenas, program.table).map((code) => table[code] as number);
    return { ...program, table: this.#keep(mapped), cardinality };
  }

  release(): void {
    for (const span of this.#spans.splice(0)) this.#arenas.free(span);
  }

  #keep(content: Uint8Array | Int32Array | Float64Array): Span {
    const span = spanOf(this.#arenas, content);
    this.#spans.push(span);
    return span;
  }

  /**
   * The value for each combination of codes, of which 0 is NULL. Undefined when the expression reads
   * too many values, when one of its own is no atom, or when one fails: the row that has it may be
   * filtered out.
   */
  #evaluate(expression: BoundExpression, table: ColumnScope): Evaluated | undefined {
    const domain = this.#domainOf(expression, table);
    if (domain === undefined) return undefined;
    const { parts } = domain;
    try {
      const renamed = this.#renamed(expression, table, parts);
      const program = this.exactTimestamps ? undefined : this.#compileScalar(renamed);
      if (program !== undefined) {
        const { dictionary } = table.columns[parts[0]?.column ?? -1] ?? {};
        const isOfOne = parts.length === 1 && dictionary !== undefined;
        const key = isOfOne ? this.#memoKey(renamed, dictionary.id) : undefined;
        const atoms = valueMemo.atoms(key, () => this.#atomsOf(program, parts));
        return atoms && { index: domain.index, atoms, ts: MINUS_INFINITY };
      }
      const evaluate = this.#evaluatorOf(renamed, parts);
      const atoms: Atom[] = [];
      let ts: Evaluated['ts'] = 'none';
      const codes = parts.map(() => 0);
      const count = parts.reduce((product, { size }) => product * size, 1);
      for (let number = 0; number < count; number++) {
        const value = evaluate(codes);
        if (!(value instanceof Scalar)) return undefined;
        atoms.push(value.atom);
        // NULL has -Inf elsewhere.
        const isTimed = value.atom !== null || value.ts !== MINUS_INFINITY;
        if (value.atom === null && isTimed) ts = 'mixed';
        else if (isTimed) ts = ts === 'none' || ts === value.ts ? value.ts : 'mixed';
        advance(codes, parts);
      }
      return { index: domain.index, atoms, ts };
    } catch (thrown) {
      if (thrown instanceof RowanError && ENDS.has(thrown.code)) throw thrown;
      return undefined;
    }
  }

  /** The expression about columns that are called by the numbers of their parts. */
  #renamed(
    expression: BoundExpression,
    table: ColumnScope,
    parts: readonly DomainPart[],
  ): BoundExpression {
    return mapExpression(expression, (part) => {
      if (part.kind !== 'column') return part;
      const column = table.find(part.path);
      const index = parts.findIndex((each) => each.column === column);
      if (index !== -1) return { ...part, path: [nameOfPart(index)] };
      return { ...part, kind: 'constant', value: NULL_VALUE } as BoundExpression;
    });
  }

  /** What generated code gives for all combinations of codes. */
  #atomsOf(program: ScalarProgram, parts: readonly DomainPart[]): readonly Atom[] {
    const names = parts.map((_, index) => nameOfPart(index));
    const order = program.columns.map(([name]) => names.indexOf(name as string));
    const cells = new Array<Atom>(order.length).fill(null);
    const codes = parts.map(() => 0);
    const count = parts.reduce((product, { size }) => product * size, 1);
    const atoms: Atom[] = [];
    for (let number = 0; number < count; number++) {
      this.look();
      for (let i = 0; i < cells.length; i++) {
        const index = order[i] as number;
        cells[i] = (parts[index] as DomainPart).atom(codes[index] as number);
      }
      atoms.push(program.evaluate(cells));
      advance(codes, parts);
    }
    return atoms;
  }

  /** The value of an expression for the codes of its columns. */
  #evaluatorOf(
    renamed: BoundExpression,
    parts: readonly DomainPart[],
  ): (codes: readonly number[]) => Value {
    const names = parts.map((_, index) => nameOfPart(index));
    const evaluate = this.#compile(renamed);
    return (codes) =>
      evaluate(
        new Row(
          names,
          parts.map(({ atom, ts }, index) => {
            const value = atom(codes[index] as number);
            return value === null ? NULL_VALUE : new Scalar(value, ts);
          }),
        ),
      ) as Value;
  }

  /** The timestamp of all values; undefined when it differs from value to value. */
  #commonTs({ ts }: Evaluated): number | undefined {
    if (ts === 'mixed') return this.exactTimestamps ? undefined : MINUS_INFINITY;
    return ts === 'none' ? MINUS_INFINITY : ts;
  }

  /** The columns that an expression reads, when they have few values together. */
  #domainOf(
    expression: BoundExpression,
    table: ColumnScope,
  ): { readonly index: TableIndex; readonly parts: readonly DomainPart[] } | undefined {
    const columns = columnsOf(expression, table);
    const [only] = columns ?? [];
    if (columns === undefined || only === undefined || columns.length > COLUMN_COUNT_MAX) {
      return undefined;
    }
    const parts: DomainPart[] = [];
    for (const column of columns) {
      const part = this.#partOf(column, table);
      if (part === undefined) return undefined;
      parts.push(part);
    }
    const isDictionary = columns.length === 1 && table.columns[only]?.dictionary !== undefined;
    const count = parts.reduce((product, { size }) => product * size, 1);
    if (count > (isDictionary ? ENTRY_COUNT_MAX : COMBINATION_COUNT_MAX)) return undefined;
    const index: TableIndex = isDictionary
      ? { kind: 'column', column: only }
      : { kind: 'domain', parts: parts.map(({ program }) => program) };
    return { index, parts };
  }

  #partOf(column: number, table: ColumnScope): DomainPart | undefined {
    const snapshot = table.columns[column] as ColumnSnapshot;
    const ts = table.tsOf(column);
    const { dictionary } = snapshot;
    if (!this.hasOneTime(column, table)) return undefined;
    if (dictionary !== undefined) {
      const view = dictionaryView(dictionary, this.#arenas);
      const size = view.count + 1;
      const program = { op: 'codes', column, cardinality: size } as const;
      return { column, ts, size, program, atom: (code) => view.atom(code) };
    }
    const bounds = integerBounds(snapshot);
    if (bounds === undefined) return undefined;
    const { least, greatest } = bounds;
    const size = greatest - least + 2;
    const program = { op: 'range', column, least, cardinality: size } as const;
    return { column, ts, size, program, atom: (code) => (code === 0 ? null : code - 1 + least) };
  }
}

/** The value for each index. */
interface Evaluated {
  readonly index: TableIndex;
  readonly atoms: readonly Atom[];
  /** the timestamp of all values, in seconds */
  readonly ts: number | 'none' | 'mixed';
}

/** A column by its codes. */
interface DomainPart {
  readonly column: number;
  readonly ts: number;
  /** codes, NULL included */
  readonly size: number;
  readonly program: CodeProgram;
  atom(code: number): Atom;
}

const nameOfPart = (index: number) => `c${index}`;

/** Moves to the next combination; the last code varies fastest. */
function advance(codes: number[], parts: readonly DomainPart[]): void {
  for (let i = codes.length - 1; i >= 0; i--) {
    const next = (codes[i] as number) + 1;
    if (next < (parts[i] as DomainPart).size) {
      codes[i] = next;
      return;
    }
    codes[i] = 0;
  }
}

/** A number that is equal to the atom, as far as kernels compare: integers beyond 2^53 may be none. */
function keyOfNumber(atom: Atom, isTimestamp: boolean): number | undefined {
  if (isTimestamp) return atom instanceof Timestamp ? atom.seconds : undefined;
  const key = typeof atom === 'bigint' ? keyOfAtom(atom) : atom;
  return typeof key === 'number' ? key : undefined;
}

function truthOf(atom: Atom): number {
  if (atom === null) return TRUTH.isNull;
  if (isTrue(atom)) return TRUTH.isTrue;
  return isFalse(atom) ? TRUTH.isFalse : TRUTH.isNull;
}

function distinctAtoms(atoms: readonly Atom[], look: () => void): DistinctAtoms {
  return {
    count: atoms.length - 1,
    atom: (code) => atoms[code] as Atom,
    order: () =>
      Uint32Array.from({ length: atoms.length - 1 }, (_, index) => index + 1).sort((a, b) => {
        look();
        return compareAtoms(atoms[a] as Atom, atoms[b] as Atom);
      }),
  };
}

/** Expressions whose value is decided by the columns they read, whatever row these are in. */
const PURE_KINDS: ReadonlySet<BoundExpression['kind']> = new Set([
  'constant',
  'column',
  'call',
  'try',
  'unary',
  'arithmetic',
  'comparison',
  'and',
  'or',
  'between',
  'in-list',
  'in-query',
  'like',
  'is',
  'case',
  'cast',
]);

/** Functions that give another result at each use. */
const VOLATILE: ReadonlySet<string> = new Set(['now', 'fetcher', 'jseval', 'read_sensor']);

/** The numbers of the columns that an expression reads, in the order in which they are met. */
function columnsOf(expression: BoundExpression, table: ColumnScope): readonly number[] | undefined {
  const columns = new Set<number>();
  const pending: BoundExpression[] = [expression];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (!PURE_KINDS.has(next.kind)) return undefined;
    if (next.kind === 'call' && VOLATILE.has(next.name)) return undefined;
    if (next.kind === 'column') {
      const column = table.find(next.path);
      if (column === undefined) return undefined;
      if (column !== 'absent') columns.add(column);
    }
    pending.push(...childrenOf(next));
  }
  return [...columns];
}
