// Programs of operations on blocks of rows, as src/kernel/assembly/block-program.ts runs them.

/** Codes of operations; the registers and numbers each one reads stand beside it. */
export const BLOCK_OP = {
  /** a: column */
  loadIntegers: 0,
  loadDoubles: 1,
  loadCodes: 2,
  /** the constant */
  constant: 3,
  nulls: 4,
  /** a: a constant or nulls, as doubles of every row */
  fillDoubles: 5,
  /** a, b; c: operator */
  arithmeticIntegers: 6,
  arithmeticDoubles: 7,
  /** a: integers */
  convert: 8,
  /** a: integers; c: operator; d: the constant */
  compareIntegers: 9,
  /** a: a vector, b; c: operator */
  compareDoubles: 10,
  /** a: codes; b: address of the table; c: 0 or the address of its validity bytes */
  tableTruth: 11,
  tableIntegers: 12,
  tableDoubles: 13,
  tableCodes: 14,
  /** a: integers; c: least; d: cardinality */
  rangeCodes: 15,
  and: 16,
  or: 17,
  not: 18,
  /** a; c: truth of missing, d: of other values */
  missing: 19,
  /** c: truth */
  always: 20,
  /** c: truth; a: where it is true, b: elsewhere */
  choose: 21,
  /** a: codes */
  validCodes: 22,
  /** a: truth or -1; b: values; truth where a value counts */
  counted: 23,
  /** a: what counts; c: offset of the cell */
  addRows: 24,
  /** a: what counts; b: values; c: offset of the cell */
  addExactIntegers: 25,
  addIntegers: 26,
  addDoubles: 27,
  addLeast: 28,
  addGreatest: 29,
  /** the same for integers that are at most SMALL_INTEGER_MAX from 0 */
  addExactSmallIntegers: 30,
  addSmallIntegers: 31,
} as const;

/** A block of such integers has a sum that fits four lanes of Int32. */
export const SMALL_INTEGER_MAX = 2 ** 23 - 1;

export const CHUNK_KIND = { int32: 0, float64: 1, codes: 2, constant: 3, nulls: 4 } as const;

/** Bytes of an instruction: op, target, a, b, c, d, unused 8, constant 16. */
export const INSTRUCTION_SIZE = 48;
/** Where an instruction's constant is. */
export const CONSTANT_OFFSET = 32;
/** Bytes of the descriptor of a column's chunk: kind, width, data, validity bits, constant f64. */
export const CHUNK_SIZE = 24;
export const REGISTER_SIZE = 16;
/** Scratch bytes of a register. */
export const SLOT_SIZE = 10_240;

export interface BlockKernels {
  /**
   * Runs a program over the rows of chunks from … to - 1. Descriptors lie column by column;
   * `registers` and `slots` are scratch for as many registers as the program has.
   */
  runBlocks(
    program: number,
    programEnd: number,
    registers: number,
    slots: number,
    chunks: number,
    chunkCount: number,
    rowCounts: number,
    from: number,
    to: number,
    cells: number,
  ): void;
}
