// Runs programs over vectors of rows: a chunk of a table, or pairs of rows of a join. Vectors live
// in scratch memory until its next reset.
import { TRUTH } from '../../kernel/generated.ts';
import { assert, unreachable } from '../../util/assert.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type {
  CodeProgram,
  DomainProgram,
  HashedWord,
  NumberedProgram,
  NumberProgram,
  TruthProgram,
} from './program/program.ts';
import type { Scratch } from './scratch.ts';

/** Numbers of rows. `valid` is 0 when every row has one, else the address of a byte a row. */
export interface NumberVector {
  readonly kind: 'int32' | 'float64' | 'constant';
  /** address of the values; a constant lies there twice as a double */
  readonly data: number;
  readonly value: number;
  readonly valid: number;
}

/** Codes of rows as they are stored: `width` bytes each, 1, 2 or 4. */
export interface CodeVector {
  readonly data: number;
  readonly width: number;
}

export abstract class Vectors {
  protected readonly scratch: Scratch;

  constructor(scratch: Scratch) {
    this.scratch = scratch;
  }

  abstract get rowCount(): number;

  /** Numbers of a column that has no dictionary. */
  abstract columnNumbers(column: number): NumberVector;

  /** Codes of a column that has a dictionary. */
  abstract storedCodes(column: number): CodeVector;

  /** @returns 0 when all rows of a column have a value, else the address of a byte a row */
  abstract validity(column: number): number;

  /** @returns the address of a truth byte a row */
  truth(program: TruthProgram): number {
    const { kernels } = this.scratch;
    const count = this.rowCount;
    switch (program.op) {
      case 'always': {
        const out = this.bytes();
        this.scratch.arena.u8.fill(program.truth, out, out + count);
        return out;
      }
      case 'compare':
        return this.#compare(program.operator, program.left, program.right);
      case 'table-truth':
        return this.#tableTruth(program.column, this.scratch.addressOf(program.table));
      case 'domain-truth': {
        const out = this.bytes();
        kernels.mapCodesU8(this.#domainCodes(program), 4, count, this.#table(program), out);
        return out;
      }
      case 'missing':
        return this.#missing(program.operand, program.negated);
      case 'not': {
        const out = this.truth(program.operand);
        kernels.notTruth(out, count, out);
        return out;
      }
      case 'and':
      case 'or': {
        const [first, ...others] = program.operands;
        assert(first !== undefined, 'a conjunction of nothing');
        const out = this.truth(first);
        for (const operand of others) {
          const next = this.truth(operand);
          if (program.op === 'and') kernels.andTruth(out, next, count, out);
          else kernels.orTruth(out, next, count, out);
        }
        return out;
      }
      default:
        return unreachable(program);
    }
  }

  numbers(program: NumberProgram): NumberVector {
    switch (program.op) {
      case 'column':
        return this.columnNumbers(program.column);
      case 'constant':
        return this.constant(program.value);
      case 'table': {
        const { data, width } = this.storedCodes(program.column);
        return this.#tableNumbers(data, width, program);
      }
      case 'domain':
        return this.#tableNumbers(this.#domainCodes(program), 4, program);
      case 'null':
        return { ...this.constant(0), valid: this.noneValid() };
      case 'case':
        return this.#case(program);
      case 'arithmetic':
        return this.#arithmetic(program.operator, program.left, program.right);
      default:
        return unreachable(program);
    }
  }

  /** The same numbers as doubles, one a row. */
  doubles(program: NumberProgram): NumberVector {
    return this.#asDoubles(this.numbers(program));
  }

  /** The same numbers as Int32, one a row: of a column of int32 chunks, constants and nulls. */
  integers(program: NumberProgram): NumberVector {
    const vector = this.numbers(program);
    if (vector.kind === 'int32') return vector;
    assert(vector.kind === 'constant', 'integers of a column of integers');
    const data = this.scratch.take(this.rowCount * 4);
    this.scratch.arena.i32.fill(vector.value, data / 4, data / 4 + this.rowCount);
    return { kind: 'int32', data, value: 0, valid: vector.valid };
  }

  /** @returns the address of an Int32 code a row; it may be written to */
  codes(program: CodeProgram): number {
    const { kernels } = this.scratch;
    const count = this.rowCount;
    const out = this.scratch.take(count * 4);
    if (program.op === 'numbered') {
      this.numberedCodes(program, out);
      return out;
    }
    if (program.op === 'range' || program.op === 'range-within') {
      const { least, cardinality } = program;
      const { data, valid } = this.integers({ op: 'column', column: program.column });
      if (program.op === 'range') kernels.rangeCodes(data, valid, count, least, out);
      else kernels.rangeCodesWithin(data, valid, count, least, cardinality, out);
      return out;
    }
    if (program.op === 'hashed') {
      const isPair = program.word.kind === 'pair' ? 1 : 0;
      const words = this.words(program.word);
      kernels.findWords(words, count, isPair, this.#table(program), program.mask, out);
      return out;
    }
    if (program.op === 'domain-codes') {
      kernels.mapCodesI32(this.#domainCodes(program), 4, count, this.#table(program), out);
      return out;
    }
    const { data, width } = this.storedCodes(program.column);
    if (program.op === 'codes') kernels.widenCodes(data, width, count, out);
    else kernels.mapCodesI32(data, width, count, this.scratch.addressOf(program.table), out);
    return out;
  }

  /** @returns the address of a Uint64 a row */
  words(word: HashedWord): number {
    const { kernels } = this.scratch;
    const count = this.rowCount;
    const out = this.scratch.take(count * 8);
    if (word.kind === 'pair')
      kernels.pairCodes(this.codes(word.upper), this.codes(word.lower), count, out);
    else {
      const { data, valid } = this.doubles(word.numbers);
      kernels.orderKeysF64(data, valid, count, 0, out);
    }
    return out;
  }

  /** Writes numbers that were given to rows of a table; only its own chunks have them. */
  protected numberedCodes(_program: NumberedProgram, _out: number): void {
    assert(false, 'rows of a chunk as they lie');
  }

  protected bytes(): number {
    return this.scratch.take(this.rowCount);
  }

  protected constant(value: number): NumberVector {
    const data = this.scratch.take(16);
    this.scratch.arena.f64.fill(value, data / 8, data / 8 + 2);
    return { kind: 'constant', data, value, valid: 0 };
  }

  protected noneValid(): number {
    const valid = this.bytes();
    this.scratch.arena.u8.fill(0, valid, valid + this.rowCount);
    return valid;
  }

  #case({ branches, otherwise }: NumberProgram & { op: 'case' }): NumberVector {
    const { kernels } = this.scratch;
    const count = this.rowCount;
    let rest = this.#operand(this.numbers(otherwise));
    for (const { when, result } of branches.toReversed()) {
      const truth = this.truth(when);
      const value = this.#operand(this.numbers(result));
      const data = this.scratch.take(count * 8);
      const steps = [value, rest].map(({ kind }) => (kind === 'constant' ? 0 : 16));
      const [valueStep = 0, restStep = 0] = steps;
      kernels.chooseF64(truth, value.data, valueStep, rest.data, restStep, count, data);
      let valid = 0;
      if (value.valid !== 0 || rest.valid !== 0) {
        valid = this.bytes();
        kernels.chooseBytes(truth, value.valid, rest.valid, count, valid);
      }
      rest = { kind: 'float64', data, value: 0, valid };
    }
    return rest;
  }

  #asDoubles(vector: NumberVector): NumberVector {
    return this.asDoublesOf(vector, this.rowCount);
  }

  protected asDoublesOf(vector: NumberVector, count: number): NumberVector {
    if (vector.kind === 'float64') return vector;
    const { arena, kernels } = this.scratch;
    const data = this.scratch.take(count * 8);
    if (vector.kind === 'int32') kernels.convertI32ToF64(vector.data, count, data);
    else arena.f64.fill(vector.value, data / 8, data / 8 + count);
    return { kind: 'float64', data, value: 0, valid: vector.valid };
  }

  #table({ table }: { readonly table: Span }): number {
    return this.scratch.addressOf(table);
  }

  /** Numbers of combinations of codes. */
  #domainCodes({ parts }: DomainProgram): number {
    const [first, ...others] = parts;
    assert(first !== undefined, 'a domain of no columns');
    const out = this.codes(first);
    for (const part of others) {
      this.scratch.kernels.combineGroups(out, this.codes(part), this.rowCount, part.cardinality);
    }
    return out;
  }

  #tableNumbers(
    codes: number,
    width: number,
    program: { readonly table: Span; readonly valid: Span },
  ): NumberVector {
    const { kernels } = this.scratch;
    const data = this.scratch.take(this.rowCount * 8);
    const valid = this.bytes();
    const table = this.scratch.addressOf(program.table);
    kernels.mapCodesF64(codes, width, this.rowCount, table, data);
    const validTable = this.scratch.addressOf(program.valid);
    kernels.mapCodesU8(codes, width, this.rowCount, validTable, valid);
    return { kind: 'float64', data, value: 0, valid };
  }

  #arithmetic(operator: number, left: NumberProgram, right: NumberProgram): NumberVector {
    const a = this.#operand(this.numbers(left));
    const b = this.#operand(this.numbers(right));
    const data = this.scratch.take(this.rowCount * 8);
    this.scratch.kernels.arithmeticF64(
      ...([
        a.data,
        a.kind === 'constant' ? 0 : 16,
        b.data,
        b.kind === 'constant' ? 0 : 16,
      ] as const),
      ...([this.rowCount, operator, data] as const),
    );
    return { kind: 'float64', data, value: 0, valid: this.#bothValid(a.valid, b.valid) };
  }

  /** Doubles, or a constant as it is. */
  #operand(vector: NumberVector): NumberVector {
    return vector.kind === 'int32' ? this.#asDoubles(vector) : vector;
  }

  #bothValid(a: number, b: number): number {
    if (a === 0 || b === 0 || a === b) return a || b;
    const out = this.bytes();
    this.scratch.kernels.andBytes(a, b, this.rowCount, out);
    return out;
  }

  #compare(operator: number, left: NumberProgram, right: NumberProgram): number {
    const { kernels } = this.scratch;
    const count = this.rowCount;
    const a = this.numbers(left);
    const b = this.numbers(right);
    const out = this.bytes();
    if (a.kind === 'int32' && b.kind === 'constant' && isInt32(b.value)) {
      kernels.compareI32(a.data, count, operator, b.value, out);
    } else {
      const x = this.#asDoubles(a);
      const y = this.#operand(b);
      kernels.compareF64(x.data, y.data, y.kind === 'constant' ? 0 : 16, count, operator, out);
    }
    const valid = this.#bothValid(a.valid, b.valid);
    if (valid !== 0) kernels.nullTruth(out, valid, count);
    return out;
  }

  #tableTruth(column: number, table: number): number {
    const { data, width } = this.storedCodes(column);
    const out = this.bytes();
    this.scratch.kernels.mapCodesU8(data, width, this.rowCount, table, out);
    return out;
  }

  #missing(operand: NumberProgram, negated: boolean): number {
    const { arena } = this.scratch;
    const { valid } = this.numbers(operand);
    const out = this.bytes();
    const [whenValid, whenMissing] = negated
      ? [TRUTH.isTrue, TRUTH.isFalse]
      : [TRUTH.isFalse, TRUTH.isTrue];
    if (valid === 0) arena.u8.fill(whenValid, out, out + this.rowCount);
    else {
      for (let i = 0; i < this.rowCount; i++) {
        arena.u8[out + i] = arena.u8[valid + i] === 1 ? whenValid : whenMissing;
      }
    }
    return out;
  }
}

function isInt32(value: number): boolean {
  return (value | 0) === value;
}
