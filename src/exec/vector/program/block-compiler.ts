// Lowers vector programs once more, to the program of one kernel that runs over blocks of rows.

import {
  ARITHMETIC,
  BLOCK_OP,
  COMPARE,
  SMALL_INTEGER_MAX,
  TRUTH,
} from '../../../kernel/generated.ts';
import { unreachable } from '../../../util/assert.ts';
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { integerBounds } from './integer-bounds.ts';
import type { Measure } from './measure.ts';
import type { CodeProgram, NumberProgram, TruthProgram } from './program.ts';

/** How a column of the rows is read. */
export type BlockColumn =
  /** it lies in the chunks that the program runs over; `column` is its number among them */
  | { readonly kind: 'chunks'; readonly column: number; readonly snapshot: ColumnSnapshot }
  /** a value for each code of a join key; `valid`: a byte a code, absent: all that are met have one */
  | {
      readonly kind: 'table';
      readonly values: 'integers' | 'doubles' | 'codes';
      readonly table: Span;
      readonly valid: Span | undefined;
      readonly snapshot: ColumnSnapshot;
    };

/** Rows that block programs can run over. */
export interface BlockSource {
  readonly columns: readonly BlockColumn[];
  /** join key of the rows, for columns of kind `table` */
  readonly key: CodeProgram | undefined;
  /** conditions on the rows besides those of the query; about columns of the chunks only */
  readonly filter: TruthProgram | undefined;
  /** truth of each code of the key: whether such rows are there; absent: all rows are */
  readonly present: Span | undefined;
  /** columns that lie in chunks, by number */
  readonly chunkColumns: readonly ColumnSnapshot[];
}

export interface Instruction {
  readonly op: number;
  readonly target: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  /** sixteen bytes */
  readonly constant: { readonly kind: 'double' | 'integer'; readonly value: number } | undefined;
}

type Operands = Partial<Omit<Instruction, 'op' | 'target'>>;

interface Bounds {
  readonly least: number;
  readonly greatest: number;
}

/** More registers than this would not stay in the cache of a core. */
export const REGISTER_COUNT_MAX = 64;

/** The operator of the same comparison with its sides exchanged. */
const MIRRORED: Readonly<Record<number, number>> = {
  [COMPARE.equal]: COMPARE.equal,
  [COMPARE.notEqual]: COMPARE.notEqual,
  [COMPARE.less]: COMPARE.greater,
  [COMPARE.lessOrEqual]: COMPARE.greaterOrEqual,
  [COMPARE.greater]: COMPARE.less,
  [COMPARE.greaterOrEqual]: COMPARE.lessOrEqual,
};

/** Thrown away with the compiler: the program is left to the kernels of single operations. */
class NotForBlocks extends Error {}

export class BlockCompiler {
  readonly instructions: Instruction[] = [];
  readonly #source: BlockSource;
  readonly #addressOf: (span: Span) => number;
  readonly #known = new Map<string, number>();
  /** what the column numbers of the program at hand stand for */
  #columns: readonly BlockColumn[];
  registerCount = 0;

  /** @param addressOf where a table lies for the kernel */
  constructor(source: BlockSource, addressOf: (span: Span) => number) {
    this.#source = source;
    this.#columns = source.columns;
    this.#addressOf = addressOf;
  }

  /** @returns false when the program is not for blocks; the compiler is of no use then */
  compile(
    filter: TruthProgram | undefined,
    measures: readonly Measure[],
    cellOffsets: readonly number[],
  ): boolean {
    try {
      const truth = this.#rowTruth(filter);
      measures.forEach((measure, index) => {
        this.#measure(measure, truth, cellOffsets[index] as number);
      });
    } catch (thrown) {
      if (thrown instanceof NotForBlocks) return false;
      throw thrown;
    }
    return this.registerCount <= REGISTER_COUNT_MAX;
  }

  /** The register that says which rows count; -1: all. */
  #rowTruth(filter: TruthProgram | undefined): number {
    const { present, filter: own } = this.#source;
    const parts: number[] = [];
    if (own !== undefined) {
      this.#columns = this.#source.chunkColumns.map(chunkColumn);
      parts.push(this.#truth(own));
      this.#columns = this.#source.columns;
    }
    if (present !== undefined) {
      const b = this.#addressOf(present);
      parts.push(this.#emit('tableTruth', { a: this.#key(), b }));
    }
    if (filter !== undefined) parts.push(this.#truth(filter));
    if (parts.length === 0) return -1;
    return parts.reduce((a, b) => this.#emit('and', { a, b }));
  }

  #measure(measure: Measure, truth: number, cell: number): void {
    switch (measure.kind) {
      case 'rows':
        this.#add('addRows', this.#counted(truth, this.#constant('double', 0)), 0, cell);
        return;
      case 'count':
        this.#add('addRows', this.#counted(truth, this.#validity(measure.column)), 0, cell);
        return;
      case 'values':
        this.#add('addRows', this.#counted(truth, this.#doubles(measure.numbers)), 0, cell);
        return;
      case 'sum': {
        const { numbers, exact } = measure;
        if (this.#isInteger(numbers)) {
          const values = this.#integers(numbers);
          this.#add(this.#sumOf(numbers, exact), this.#counted(truth, values), values, cell);
          return;
        }
        if (exact) throw new NotForBlocks();
        const values = this.#doublesOfRows(numbers);
        this.#add('addDoubles', this.#counted(truth, values), values, cell);
        return;
      }
      case 'min':
      case 'max': {
        const values = this.#doublesOfRows(measure.numbers);
        const op = measure.kind === 'min' ? 'addLeast' : 'addGreatest';
        this.#add(op, this.#counted(truth, values), values, cell);
        return;
      }
      case 'moments':
      case 'distinct':
        throw new NotForBlocks();
    }
  }

  #sumOf(numbers: NumberProgram, exact: boolean): keyof typeof BLOCK_OP {
    const { least, greatest } = this.#bounds(numbers) as Bounds;
    if (Math.max(-least, greatest) <= SMALL_INTEGER_MAX) {
      return exact ? 'addExactSmallIntegers' : 'addSmallIntegers';
    }
    return exact ? 'addExactIntegers' : 'addIntegers';
  }

  #counted(truth: number, values: number): number {
    return this.#emit('counted', { a: truth, b: values });
  }

  #add(op: keyof typeof BLOCK_OP, counted: number, values: number, cell: number): void {
    this.#emit(op, { a: counted, b: values, c: cell });
  }

  #truth(program: TruthProgram): number {
    switch (program.op) {
      case 'always':
        return this.#emit('always', { c: program.truth });
      case 'compare':
        return this.#compare(program.operator, program.left, program.right);
      case 'table-truth': {
        const b = this.#addressOf(program.table);
        return this.#emit('tableTruth', { a: this.#codesOf(program.column), b });
      }
      case 'domain-truth': {
        const b = this.#addressOf(program.table);
        return this.#emit('tableTruth', { a: this.#codesOfDomain(program.parts), b });
      }
      case 'missing': {
        const [whenValid, whenMissing] = program.negated
          ? [TRUTH.isTrue, TRUTH.isFalse]
          : [TRUTH.isFalse, TRUTH.isTrue];
        const a = this.#values(program.operand);
        return this.#emit('missing', { a, c: whenMissing, d: whenValid });
      }
      case 'not':
        return this.#emit('not', { a: this.#truth(program.operand) });
      case 'and':
      case 'or': {
        const { op } = program;
        const parts = program.operands.map((operand) => this.#truth(operand));
        return parts.reduce((a, b) => this.#emit(op, { a, b }));
      }
      default:
        return unreachable(program);
    }
  }

  #compare(operator: number, left: NumberProgram, right: NumberProgram): number {
    if (isConstant(left) && !isConstant(right)) {
      return this.#compare(MIRRORED[operator] as number, right, left);
    }
    if (right.op === 'constant' && isInt32(right.value) && this.#isInteger(left)) {
      const a = this.#integers(left);
      return this.#emit('compareIntegers', { a, c: operator, d: right.value });
    }
    const a = this.#doublesOfRows(left);
    return this.#emit('compareDoubles', { a, b: this.#doubles(right), c: operator });
  }

  /** Values of whichever type they are cheapest in, for their validity. */
  #values(program: NumberProgram): number {
    return this.#isInteger(program) ? this.#integers(program) : this.#doubles(program);
  }

  /** A column or arithmetic whose every value and intermediate result is an Int32. */
  #isInteger(program: NumberProgram): boolean {
    return !isConstant(program) && this.#bounds(program) !== undefined;
  }

  #bounds(program: NumberProgram): Bounds | undefined {
    switch (program.op) {
      case 'constant':
        return isInt32(program.value)
          ? { least: program.value, greatest: program.value }
          : undefined;
      case 'column': {
        const column = this.#columns[program.column] as BlockColumn;
        if (column.kind === 'table' && column.values !== 'integers') return undefined;
        const bounds = integerBounds(column.snapshot);
        // Rows without a value hold 0.
        return (
          bounds && {
            least: Math.min(0, bounds.least),
            greatest: Math.max(0, bounds.greatest),
          }
        );
      }
      case 'arithmetic': {
        const left = this.#bounds(program.left);
        const right = this.#bounds(program.right);
        if (left === undefined || right === undefined) return undefined;
        return boundsOfResult(program.operator, left, right);
      }
      default:
        return undefined;
    }
  }

  #integers(program: NumberProgram): number {
    switch (program.op) {
      case 'constant':
        return this.#constant('integer', program.value);
      case 'column': {
        const column = this.#columns[program.column] as BlockColumn;
        if (column.kind === 'chunks') return this.#emit('loadIntegers', { a: column.column });
        return this.#tableColumn('tableIntegers', column);
      }
      case 'arithmetic': {
        const a = this.#integers(program.left);
        const b = this.#integers(program.right);
        return this.#emit('arithmeticIntegers', { a, b, c: program.operator });
      }
      default:
        throw new NotForBlocks();
    }
  }

  /** Doubles of every row. */
  #doublesOfRows(program: NumberProgram): number {
    const values = this.#doubles(program);
    return isConstant(program) ? this.#emit('fillDoubles', { a: values }) : values;
  }

  /** Doubles of every row, or a constant. */
  #doubles(program: NumberProgram): number {
    switch (program.op) {
      case 'column':
        return this.#doubleColumn(this.#columns[program.column] as BlockColumn);
      case 'constant':
        return this.#constant('double', program.value);
      case 'null':
        return this.#emit('nulls', { constant: { kind: 'double', value: 0 } });
      case 'table': {
        const a = this.#codesOf(program.column);
        const [b, c] = [this.#addressOf(program.table), this.#addressOf(program.valid)];
        return this.#emit('tableDoubles', { a, b, c });
      }
      case 'domain': {
        const a = this.#codesOfDomain(program.parts);
        const [b, c] = [this.#addressOf(program.table), this.#addressOf(program.valid)];
        return this.#emit('tableDoubles', { a, b, c });
      }
      case 'case': {
        let rest = this.#doubles(program.otherwise);
        for (const { when, result } of program.branches.toReversed()) {
          const c = this.#truth(when);
          rest = this.#emit('choose', { a: this.#doubles(result), b: rest, c });
        }
        return rest;
      }
      case 'arithmetic': {
        if (this.#isInteger(program)) {
          return this.#emit('convert', { a: this.#integers(program) });
        }
        const a = this.#doubles(program.left);
        const b = this.#doubles(program.right);
        return this.#emit('arithmeticDoubles', { a, b, c: program.operator });
      }
      default:
        return unreachable(program);
    }
  }

  #doubleColumn(column: BlockColumn): number {
    if (column.kind === 'chunks') return this.#emit('loadDoubles', { a: column.column });
    if (column.values === 'doubles') return this.#tableColumn('tableDoubles', column);
    return this.#emit('convert', { a: this.#tableColumn('tableIntegers', column) });
  }

  #codesOf(number: number): number {
    const column = this.#columns[number] as BlockColumn;
    if (column.kind === 'chunks') return this.#emit('loadCodes', { a: column.column });
    return this.#tableColumn('tableCodes', column);
  }

  #validity(number: number): number {
    const { snapshot } = this.#columns[number] as BlockColumn;
    if (snapshot.dictionary !== undefined) {
      return this.#emit('validCodes', { a: this.#codesOf(number) });
    }
    return this.#values({ op: 'column', column: number });
  }

  #tableColumn(op: keyof typeof BLOCK_OP, column: BlockColumn & { kind: 'table' }): number {
    const { table, valid } = column;
    const c = valid === undefined ? 0 : this.#addressOf(valid);
    return this.#emit(op, { a: this.#key(), b: this.#addressOf(table), c });
  }

  /** Codes of the join key, which is a column of the chunks. */
  #key(): number {
    const { key } = this.#source;
    if (key === undefined) throw new NotForBlocks();
    return this.#codesOfChunks(key);
  }

  /** Codes of the values of one column of the chunks. */
  #codesOfDomain([part, ...others]: readonly CodeProgram[]): number {
    if (part === undefined || others.length > 0 || !('column' in part)) throw new NotForBlocks();
    const column = this.#columns[part.column] as BlockColumn;
    if (part.op === 'codes') return this.#codesOf(part.column);
    if (column.kind !== 'chunks') throw new NotForBlocks();
    return this.#codesOfChunks({ ...part, column: column.column });
  }

  #codesOfChunks(program: CodeProgram): number {
    if (program.op === 'numbered' || program.op === 'domain-codes' || program.op === 'hashed') {
      throw new NotForBlocks();
    }
    if (program.op === 'range' || program.op === 'range-within') {
      const a = this.#emit('loadIntegers', { a: program.column });
      return this.#emit('rangeCodes', { a, c: program.least, d: program.cardinality });
    }
    const a = this.#emit('loadCodes', { a: program.column });
    if (program.op === 'codes') return a;
    return this.#emit('tableCodes', { a, b: this.#addressOf(program.table) });
  }

  #constant(kind: 'double' | 'integer', value: number): number {
    return this.#emit('constant', { constant: { kind, value } });
  }

  /** @returns the register of the result; the same operation is done once */
  #emit(op: keyof typeof BLOCK_OP, operands: Operands): number {
    const { a = 0, b = 0, c = 0, d = 0, constant } = operands;
    const text = `${op} ${a} ${b} ${c} ${d} ${constant?.kind} ${constant?.value}`;
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const target = this.registerCount++;
    this.#known.set(text, target);
    this.instructions.push({ op: BLOCK_OP[op], target, a, b, c, d, constant });
    return target;
  }
}

/** A column as it lies in the chunks. */
export function chunkColumn(snapshot: ColumnSnapshot, column: number): BlockColumn {
  return { kind: 'chunks', column, snapshot };
}

function isConstant({ op }: NumberProgram): boolean {
  return op === 'constant' || op === 'null';
}

function isInt32(value: number): boolean {
  return (value | 0) === value;
}

/** Undefined when a result may be no Int32. */
function boundsOfResult(operator: number, a: Bounds, b: Bounds): Bounds | undefined {
  const ends = endsOf(operator, a, b);
  if (ends === undefined) return undefined;
  const [least, greatest] = [Math.min(...ends), Math.max(...ends)];
  return isInt32(least) && isInt32(greatest) ? { least, greatest } : undefined;
}

function endsOf(operator: number, a: Bounds, b: Bounds): number[] | undefined {
  switch (operator) {
    case ARITHMETIC.add:
      return [a.least + b.least, a.greatest + b.greatest];
    case ARITHMETIC.subtract:
      return [a.least - b.greatest, a.greatest - b.least];
    case ARITHMETIC.multiply:
      return [a.least, a.greatest].flatMap((x) => [x * b.least + 0, x * b.greatest + 0]);
    default:
      return undefined;
  }
}
