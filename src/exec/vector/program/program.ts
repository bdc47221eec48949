// Programs of vector kernels: expressions lowered to plain data that any thread can run on a chunk.
import type { Span } from '../../../value/column/snapshot.ts';

/** Column numbers are positions in the list of columns that a job carries along. */
export type NumberProgram =
  | { readonly op: 'column'; readonly column: number }
  | { readonly op: 'constant'; readonly value: number }
  /** numbers of an expression over one dictionary: Float64 and a validity byte for each code */
  | { readonly op: 'table'; readonly column: number; readonly table: Span; readonly valid: Span }
  /** numbers of an expression over the values of a few columns: see DomainProgram */
  | (DomainProgram & { readonly op: 'domain'; readonly table: Span; readonly valid: Span })
  /** no row has a value */
  | { readonly op: 'null' }
  /** the first branch that is true counts */
  | {
      readonly op: 'case';
      readonly branches: readonly { readonly when: TruthProgram; readonly result: NumberProgram }[];
      readonly otherwise: NumberProgram;
    }
  | {
      readonly op: 'arithmetic';
      readonly operator: number;
      readonly left: NumberProgram;
      readonly right: NumberProgram;
    };

export type TruthProgram =
  | { readonly op: 'always'; readonly truth: number }
  | {
      readonly op: 'compare';
      readonly operator: number;
      readonly left: NumberProgram;
      readonly right: NumberProgram;
    }
  /** truth of a condition over one dictionary: a byte for each code */
  | (KnownTruths & { readonly op: 'table-truth'; readonly column: number })
  | (KnownTruths & DomainProgram & { readonly op: 'domain-truth' })
  /** IS [NOT] NULL of a number */
  | { readonly op: 'missing'; readonly operand: NumberProgram; readonly negated: boolean }
  | { readonly op: 'and' | 'or'; readonly operands: readonly TruthProgram[] }
  | { readonly op: 'not'; readonly operand: TruthProgram };

interface KnownTruths {
  readonly table: Span;
  /** false: the condition is true for no value */
  readonly canHold: boolean;
}

/** Int32 codes below `cardinality`; 0 is NULL. */
export type CodeProgram =
  | { readonly op: 'codes'; readonly column: number; readonly cardinality: number }
  /** codes of an expression over one dictionary: an Int32 for each code of the column */
  | {
      readonly op: 'table-codes';
      readonly column: number;
      readonly table: Span;
      readonly cardinality: number;
    }
  | (DomainProgram & {
      readonly op: 'domain-codes';
      readonly table: Span;
      readonly cardinality: number;
    })
  /** numbers of words in a hash table; 0 for those that it has not */
  | {
      readonly op: 'hashed';
      readonly word: HashedWord;
      readonly table: Span;
      /** entries of the table, less one */
      readonly mask: number;
      readonly cardinality: number;
    }
  /** an integer column of small range: value - least + 1 */
  | RangeProgram<'range'>
  /** the same; values outside of the range are 0 as well */
  | RangeProgram<'range-within'>
  | NumberedProgram;

export type VectorProgram = NumberProgram | TruthProgram | CodeProgram;

/** A Uint64 a row: the sort key of a number, or two codes. */
export type HashedWord =
  | { readonly kind: 'number'; readonly numbers: NumberProgram }
  | { readonly kind: 'pair'; readonly upper: CodeProgram; readonly lower: CodeProgram };

/**
 * An expression that was evaluated for every combination of the values of its columns: its table has
 * an entry for each number whose digits are the codes of `parts`, of which the last varies fastest.
 */
export interface DomainProgram {
  readonly parts: readonly CodeProgram[];
}

/** Numbers that were given to the rows of a table before: see group-number.ts. */
export interface NumberedProgram {
  readonly op: 'numbered';
  /** where the pairs of each chunk begin, in pairs */
  readonly firstRows: readonly number[];
  /** { key: Uint64, position: Uint32, number: Uint32 }, by part in each chunk */
  readonly pairs: Span;
  /** Uint32 for each chunk: where its parts begin, and the end */
  readonly starts: Span;
  /** Uint32: what is added to the numbers of a part */
  readonly bases: Span;
  readonly partCount: number;
  /** false: rows without a number have the code 0 */
  readonly isTotal: boolean;
  readonly cardinality: number;
}

interface RangeProgram<Op> {
  readonly op: Op;
  readonly column: number;
  readonly least: number;
  readonly cardinality: number;
}
