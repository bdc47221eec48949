// Expressions over one dictionary column are evaluated once for each distinct value; rows then map
// through their codes.

import { TRUTH } from '../../kernel/vector.ts';
import { childrenOf } from '../../plan/children.ts';
import type { BoundExpression } from '../../plan/expression.ts';
import { assert } from '../../util/assert.ts';
import { RowanError } from '../../util/error.ts';
import { every } from '../../util/every.ts';
import type { ArenaAllocator } from '../../value/arena-set.ts';
import { type Atom, compareAtoms, isFalse, isTrue } from '../../value/atom.ts';
import { dictionaryView } from '../../value/dictionary.ts';
import { Path } from '../../value/path.ts';
import type { ColumnSnapshot, Span } from '../../value/snapshot.ts';
import { int32Of, spanOf } from '../../value/span-view.ts';
import { Row, RowBuilder, Scalar } from '../../value/value.ts';
import { keyOfAtom } from '../general/canonical-key.ts';
import type { JobScope } from '../parallel.ts';
import type { CodeProgram } from './program.ts';
import type { ColumnScope } from './table.ts';

/** Larger dictionaries are not evaluated ahead: most of their values may never be met. */
const ENTRY_COUNT_MAX = 1 << 20;

/** Values, or comparisons of two, between two looks at the cancel flag. */
const STEPS_PER_CHECK = 16_384;

export interface DistinctAtoms {
  readonly count: number;
  atom(code: number): Atom;
  /** codes, without NULL, in ascending order of atoms */
  order(): Uint32Array;
}

export interface DictionaryEvaluation {
  readonly column: number;
  /** Int32 for each code of the column; absent: the codes themselves */
  readonly codes: Span | undefined;
  readonly atoms: DistinctAtoms;
}

/** Compiles an expression to a function of a row; supplied by the general evaluator. */
export type RowFunction = (expression: BoundExpression) => (row: Row) => unknown;

export class DictionaryTables {
  readonly #arenas: ArenaAllocator;
  readonly #compile: RowFunction;
  /** to be called for each value of a dictionary that is gone through */
  readonly look: () => void;
  readonly #spans: Span[] = [];

  constructor(arenas: ArenaAllocator, compile: RowFunction, scope: JobScope) {
    this.#arenas = arenas;
    this.#compile = compile;
    this.look = every(STEPS_PER_CHECK, () => scope.checkCancelled());
  }

  /** A truth byte for each code. */
  truth(
    expression: BoundExpression,
    table: ColumnScope,
  ): { readonly column: number; readonly table: Span } | undefined {
    const evaluated = this.#evaluate(expression, table);
    if (evaluated === undefined) return undefined;
    return {
      column: evaluated.column,
      table: this.#keep(Uint8Array.from(evaluated.atoms, truthOf)),
    };
  }

  /** A double and a validity byte for each code, when every value is a number or null. */
  numbers(
    expression: BoundExpression,
    table: ColumnScope,
  ): { readonly column: number; readonly numbers: Span; readonly valid: Span } | undefined {
    const evaluated = this.#evaluate(expression, table);
    if (evaluated === undefined) return undefined;
    const { atoms, column } = evaluated;
    if (!atoms.every((atom) => atom === null || typeof atom === 'number')) return undefined;
    return {
      column,
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
      if (dictionary === undefined) return undefined;
      const view = dictionaryView(dictionary, this.#arenas);
      const atoms: DistinctAtoms = {
        count: view.count,
        atom: (code) => view.atom(code),
        order: () => view.order(this.look),
      };
      return { column, codes: undefined, atoms };
    }
    const evaluated = this.#evaluate(expression, table);
    if (evaluated === undefined) return undefined;
    const numbers = new Map<unknown, number>();
    const distinct: Atom[] = [null];
    const codes = new Int32Array(evaluated.atoms.length);
    for (const [index, atom] of evaluated.atoms.entries()) {
      this.look();
      if (atom === null) continue;
      const key = keyOfAtom(atom);
      let code = numbers.get(key);
      if (code === undefined) {
        code = distinct.push(atom) - 1;
        numbers.set(key, code);
      }
      codes[index] = code;
    }
    const atoms = distinctAtoms(distinct, this.look);
    return { column: evaluated.column, codes: this.#keep(codes), atoms };
  }

  /** A program whose codes are those of another, mapped by a table with an entry for each code. */
  mapCodes(program: CodeProgram, table: Int32Array, cardinality: number): CodeProgram {
    assert(program.op === 'codes' || program.op === 'table-codes', 'codes of a dictionary');
    const byColumnCode =
      program.op === 'codes'
        ? table
        : int32Of(this.#arenas, program.table).map((code) => table[code] as number);
    const { column } = program;
    return { op: 'table-codes', column, table: this.#keep(byColumnCode), cardinality };
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
   * The value for each code, 0 (NULL) first. Undefined when the expression reads anything else, when
   * a value is no atom, or when one entry fails: the row that has it may be filtered out.
   */
  #evaluate(
    expression: BoundExpression,
    table: ColumnScope,
  ): { readonly column: number; readonly atoms: readonly Atom[] } | undefined {
    const column = onlyColumn(expression, table);
    if (column === undefined) return undefined;
    const { dictionary } = table.columns[column] as ColumnSnapshot;
    if (dictionary === undefined || dictionary.count > ENTRY_COUNT_MAX) return undefined;
    const view = dictionaryView(dictionary, this.#arenas);
    try {
      const evaluate = this.#compile(expression);
      const path = table.pathOf(column);
      const ts = table.tsOf(column);
      const atoms: Atom[] = [];
      for (let code = 0; code <= view.count; code++) {
        const value = evaluate(rowOf(path, view.atom(code), ts));
        if (!(value instanceof Scalar)) return undefined;
        atoms.push(value.atom);
      }
      return { column, atoms };
    } catch (thrown) {
      if (thrown instanceof RowanError && thrown.code === 'CANCELLED') throw thrown;
      return undefined;
    }
  }
}

function rowOf(path: readonly string[], atom: Atom, ts: number): Row {
  if (atom === null) return new Row([], []);
  const builder = new RowBuilder();
  builder.addPath(new Path(path), new Scalar(atom, ts));
  return builder.build();
}

function truthOf(atom: Atom): number {
  if (atom === null) return TRUTH.null;
  if (isTrue(atom)) return TRUTH.true;
  return isFalse(atom) ? TRUTH.false : TRUTH.null;
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
  'like',
  'is',
  'case',
  'cast',
]);

/** Functions that give another result at each use. */
const VOLATILE: ReadonlySet<string> = new Set(['now', 'fetcher', 'jseval', 'read_sensor']);

/** The number of the one column that an expression reads. */
function onlyColumn(expression: BoundExpression, table: ColumnScope): number | undefined {
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
  const [only] = columns;
  return columns.size === 1 ? only : undefined;
}
