// Sort keys as words: unsigned 64-bit numbers that order rows as the keys do. Ranks and integers of
// known range share a word, so that most orders compare by a single number.
import { COMPARE } from '../../../kernel/generated.ts';
import type { SortKey } from '../../../plan/expression.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import type { DictionaryTables } from '../dictionary-table.ts';
import type { LoweredCodes, LoweredNumbers, Lowering } from '../program/lower.ts';
import type { CodeProgram, NumberProgram, TruthProgram } from '../program/program.ts';
import type { Scratch } from '../scratch.ts';
import type { Vectors } from '../vectors.ts';

/** A key of at most 32 bits: 0 is NULL, others are counted from `least`. */
export interface PackedKey {
  readonly descending: boolean;
  readonly bits: number;
  /** the greatest field */
  readonly top: number;
  readonly source:
    | { readonly numbers: NumberProgram; readonly least: number }
    /** codes that are ranks: they compare as the atoms do, 0 is NULL */
    | { readonly ranks: CodeProgram };
}

/** Words from the first to compare to the last; packed keys stand from high to low bits. */
export type OrderWord =
  | {
      readonly kind: 'packed';
      readonly keys: readonly PackedKey[];
      /** the word behind it, without a tail: its upper bits fill what the keys leave */
      readonly tail: OrderWord | undefined;
    }
  | { readonly kind: 'double'; readonly descending: boolean; readonly numbers: NumberProgram };

const WORD_BITS = 64;
const FIELD_MAX = 0xffff_ffff;

/** Undefined when a key cannot be lowered. */
export function lowerOrder(
  keys: readonly SortKey[],
  lowering: Lowering,
  dictionaries: DictionaryTables,
): OrderWord[] | undefined {
  const fields: OrderField[] = [];
  for (const key of keys) {
    const field = lowerKey(key, lowering, dictionaries);
    if (field === undefined) return undefined;
    const nulls = nullField(key, lowering);
    if (nulls === undefined) return undefined;
    fields.push(...nulls, field);
  }
  return fillWords(packFields(fields));
}

/** Words that tell most rows apart at once, without a look at the words behind them. */
function fillWords(words: readonly OrderWord[]): OrderWord[] {
  return words.map((word, i) => {
    const tail = words[i + 1];
    const isFull = word.kind === 'double' || bitsOf(word) === WORD_BITS;
    return isFull || tail === undefined ? word : { ...word, tail };
  });
}

function bitsOf(word: OrderWord): number {
  if (word.kind === 'double') return WORD_BITS;
  return word.keys.reduce((sum, { bits }) => sum + bits, 0);
}

/** A key that shares a word with others, or a word of its own. */
export type OrderField = PackedKey | (OrderWord & { readonly kind: 'double' });

/** Words in which the fields stand in their order. */
export function packFields(fields: readonly OrderField[]): OrderWord[] {
  const words: OrderWord[] = [];
  let packed: PackedKey[] = [];
  const flush = () => {
    if (packed.length > 0) words.push({ kind: 'packed', keys: packed, tail: undefined });
    packed = [];
  };
  for (const field of fields) {
    if ('kind' in field) {
      flush();
      words.push(field);
      continue;
    }
    const used = packed.reduce((sum, { bits }) => sum + bits, 0);
    if (used + field.bits > WORD_BITS) flush();
    packed.push(field);
  }
  flush();
  return words;
}

/** A field before that of a key whose nulls do not go where the smallest value goes. */
function nullField(
  { expression, descending, nulls }: SortKey,
  lowering: Lowering,
): readonly OrderField[] | undefined {
  if (nulls === undefined || (nulls === 'last') === descending) return [];
  const { start, end } = expression;
  const when = lowering.truth({
    ...{ kind: 'is', operand: expression, test: 'null', negated: false },
    ...{ type: BOOLEAN_TYPE, start, end },
  });
  if (when === undefined) return undefined;
  const constant = (value: number) => ({ op: 'constant', value }) as const;
  const [result, otherwise] = nulls === 'last' ? [1, 0] : [0, 1];
  const numbers: NumberProgram = {
    op: 'case',
    branches: [{ when, result: constant(result) }],
    otherwise: constant(otherwise),
  };
  return [{ kind: 'double', descending: false, numbers }];
}

function lowerKey(
  { expression, descending }: SortKey,
  lowering: Lowering,
  dictionaries: DictionaryTables,
): OrderField | undefined {
  const numbers = lowering.numbers(expression);
  if (numbers !== undefined) {
    return numberField(numbers, lowering.integerBounds(expression), descending);
  }
  const codes = lowering.codes(expression);
  return codes && codeField(codes, dictionaries, descending);
}

/** @param bounds of integers; undefined when they are not known */
export function numberField(
  numbers: LoweredNumbers,
  bounds: { readonly least: number; readonly greatest: number } | undefined,
  descending: boolean,
): OrderField {
  const isPacked = bounds !== undefined && bounds.greatest - bounds.least + 1 <= FIELD_MAX;
  if (!isPacked) return { kind: 'double', descending, numbers: numbers.program };
  const { least, greatest } = bounds;
  return packedKey(descending, greatest - least + 1, { numbers: numbers.program, least });
}

export function codeField(
  codes: LoweredCodes,
  dictionaries: DictionaryTables,
  descending: boolean,
): OrderField {
  const ranks = rankProgram(codes, dictionaries);
  return packedKey(descending, ranks.cardinality - 1, { ranks });
}

function packedKey(descending: boolean, top: number, source: PackedKey['source']): PackedKey {
  return { descending, bits: Math.max(1, 32 - Math.clz32(top)), top, source };
}

/** Codes replaced by the position of their atom in the order of atoms. */
function rankProgram(codes: LoweredCodes, dictionaries: DictionaryTables): CodeProgram {
  const { program } = codes;
  if (program.op === 'range' || program.op === 'range-within') return program;
  const rankOf = new Int32Array(program.cardinality);
  codes.order().forEach((code, rank) => {
    rankOf[code] = rank;
  });
  return dictionaries.mapCodes(program, rankOf, program.cardinality);
}

/** Which numbers are not beyond a limit. */
export interface OrderBound {
  readonly numbers: NumberProgram;
  readonly isDescending: boolean;
  /** the greatest number in ascending order, the least in descending order */
  readonly value: number;
}

/**
 * The bound that a first word of at most `limit` sets to the first key. Undefined when that key is
 * no plain number; it says nothing about rows without a value.
 */
export function boundOfFirstKey(word: OrderWord, limit: bigint): OrderBound | undefined {
  const bits = BigInt.asUintN(64, limit);
  if (word.kind === 'double') {
    const { numbers, descending } = word;
    const value = doubleOfKey(descending ? BigInt.asUintN(64, ~bits) : bits);
    return value === undefined ? undefined : { numbers, isDescending: descending, value };
  }
  const [first] = word.keys;
  if (first === undefined || 'ranks' in first.source) return undefined;
  const used = word.tail === undefined ? bitsOf(word) : WORD_BITS;
  const shift = used - first.bits;
  const field = Number(bits >> BigInt(shift));
  const { numbers, least } = first.source;
  const value = (first.descending ? first.top - field : field) + least - 1;
  return { numbers, isDescending: first.descending, value };
}

/** The double of an ascending key; undefined for that of NULL. */
function doubleOfKey(key: bigint): number | undefined {
  if (key === 0n) return undefined;
  if (key === 1n) return Number.NaN;
  const sign = 1n << 63n;
  const bits = (key & sign) === 0n ? BigInt.asUintN(64, ~key) : key ^ sign;
  return new Float64Array(BigUint64Array.of(bits).buffer)[0];
}

/** The comparison that rows within a bound pass. */
export function withinBound({ numbers, isDescending, value }: OrderBound): TruthProgram {
  const operator = isDescending ? COMPARE.greaterOrEqual : COMPARE.lessOrEqual;
  return { op: 'compare', operator, left: numbers, right: { op: 'constant', value } };
}

/** Whether the statistics of a chunk tell that none of its rows is within a bound. */
export function isBeyondBound(
  { numbers, isDescending, value }: OrderBound,
  columns: readonly ColumnSnapshot[],
  chunkIndex: number,
): boolean {
  const chunk = numbers.op === 'column' ? columns[numbers.column]?.chunks[chunkIndex] : undefined;
  if (chunk === undefined || !('min' in chunk) || !('max' in chunk)) return false;
  const { min, max, nullCount } = chunk;
  if (min === undefined || max === undefined || Number.isNaN(value)) return false;
  // NULL and NaN come first in ascending order, and statistics know nothing of NaN.
  if (isDescending) return max < value;
  return chunk.kind === 'int32' && nullCount === 0 && min > value;
}

/** @returns the address of a Uint64 for each row of the chunk */
export function wordVector(word: OrderWord, chunk: Vectors, scratch: Scratch): number {
  const { kernels } = scratch;
  const { rowCount } = chunk;
  const out = scratch.take(rowCount * 8);
  if (word.kind === 'double') {
    const { data, valid } = chunk.doubles(word.numbers);
    kernels.orderKeysF64(data, valid, rowCount, word.descending ? 1 : 0, out);
    return out;
  }
  scratch.arena.u8.fill(0, out, out + rowCount * 8);
  for (const { source, bits, top, descending } of word.keys) {
    const limit = descending ? top : -1;
    if ('ranks' in source) {
      kernels.packKeyI32(chunk.codes(source.ranks), 0, rowCount, 1, limit, bits, out);
    } else {
      const { data, valid } = chunk.integers(source.numbers);
      kernels.packKeyI32(data, valid, rowCount, source.least, limit, bits, out);
    }
  }
  const { tail } = word;
  if (tail !== undefined) {
    const tails = wordVector(tail, chunk, scratch);
    kernels.appendTails(out, tails, rowCount, bitsOf(word), WORD_BITS - bitsOf(tail));
  }
  return out;
}
