// Runs a program of operations over the rows of a table, a block at a time: every intermediate
// vector stays in the cache of its core, and a whole range of chunks is one call.
//
// A register is { data, valid, step, width }: the address of its values, 0 or the address of a
// validity byte a row, 16 for a vector and 0 for a constant that fills 16 bytes, and the bytes of a
// code. Values are truth bytes, Int32, Float64 or codes; the program knows which. Each register
// has a slot of scratch memory for what does not lie in a column already.

import { sumF64Where, sumI32 } from './aggregate';
import { andBytes, arithmeticF64, chooseBytes, chooseF64, convertI32ToF64 } from './arithmetic';
import {
  andTruth,
  compareF64,
  compareI32,
  countTrue,
  expandBits,
  mapCodesF64,
  mapCodesI32,
  mapCodesU8,
  notTruth,
  nullTruth,
  orTruth,
  validCodes,
} from './filter';
import { rangeCodesWithin } from './join';
import { Arithmetic } from './operator';

const BLOCK_ROW_COUNT: i32 = 1024;
/** Scratch bytes of a register. */
@shared
const BLOCK_SLOT_SIZE: usize = 10_240;
const SLOT_VALID: usize = 8_704;

/** Operations; the registers and numbers that each one reads stand beside it. */
@shared
enum BlockOp {
  /** a: column */
  loadIntegers = 0,
  loadDoubles = 1,
  loadCodes = 2,
  /** the constant */
  constant = 3,
  nulls = 4,
  /** a: a constant or nulls, as doubles of every row */
  fillDoubles = 5,
  /** a, b; c: operator */
  arithmeticIntegers = 6,
  arithmeticDoubles = 7,
  /** a: integers */
  convert = 8,
  /** a: integers; c: operator; d: the constant */
  compareIntegers = 9,
  /** a: a vector, b; c: operator */
  compareDoubles = 10,
  /** a: codes; b: address of the table; c: 0 or the address of its validity bytes */
  tableTruth = 11,
  tableIntegers = 12,
  tableDoubles = 13,
  tableCodes = 14,
  /** a: integers; c: least; d: cardinality */
  rangeCodes = 15,
  and = 16,
  or = 17,
  not = 18,
  /** a; c: truth of missing, d: of other values */
  missing = 19,
  /** c: truth */
  always = 20,
  /** c: truth; a: where it is true, b: elsewhere */
  choose = 21,
  /** a: codes */
  validCodes = 22,
  /** a: truth or -1; b: values; truth where a value counts */
  counted = 23,
  /** a: what counts; c: offset of the cell */
  addRows = 24,
  /** a: what counts; b: values; c: offset of the cell */
  addExactIntegers = 25,
  addIntegers = 26,
  addDoubles = 27,
  addLeast = 28,
  addGreatest = 29,
  /** the same for integers that are at most SMALL_INTEGER_MAX from 0 */
  addExactSmallIntegers = 30,
  addSmallIntegers = 31,
}

/** A block of such integers has a sum that fits four lanes of Int32. */
@shared
const SMALL_INTEGER_MAX: i32 = (1 << 23) - 1;

/** How a column's chunk lies in memory. */
@shared
enum BlockChunkKind {
  int32 = 0,
  float64 = 1,
  codes = 2,
  constant = 3,
  nulls = 4,
}

/** A vector of a block. */
@unmanaged
@shared
class BlockRegister {
  data: usize;
  valid: usize;
  step: usize;
  width: i32;
}

/** One operation. */
@unmanaged
@shared
class BlockInstruction {
  op: i32;
  target: i32;
  a: i32;
  b: i32;
  c: i32;
  d: i32;
  unused: u64;
  /** the constant: sixteen bytes that a vector operand can be read from */
  low: u64;
  high: u64;
}

/** A column's chunk. */
@unmanaged
@shared
class BlockChunk {
  kind: i32;
  width: i32;
  data: usize;
  /** 0 or the address of validity bits */
  valid: usize;
  constant: f64;
}

/** Runs over the rows of chunks from … to - 1 and adds to the cells of the measures. */
export function runBlocks(
  program: usize,
  programEnd: usize,
  registers: usize,
  slots: usize,
  chunks: usize,
  chunkCount: i32,
  rowCounts: usize,
  from: i32,
  to: i32,
  cells: usize,
): void {
  for (let chunk = from; chunk < to; chunk++) {
    const rowCount = load<i32>(rowCounts + (<usize>chunk << 2));
    const descriptors = chunks + <usize>chunk * offsetof<BlockChunk>();
    const columnStride = <usize>chunkCount * offsetof<BlockChunk>();
    for (let start: i32 = 0; start < rowCount; start += BLOCK_ROW_COUNT) {
      const count = min(BLOCK_ROW_COUNT, rowCount - start);
      for (let at = program; at < programEnd; at += offsetof<BlockInstruction>()) {
        const next = changetype<BlockInstruction>(at);
        const slot = slots + <usize>next.target * BLOCK_SLOT_SIZE;
        runInstruction(next, registers, slot, descriptors, columnStride, start, count, cells);
      }
    }
  }
}

@inline
function register(registers: usize, index: i32): BlockRegister {
  return changetype<BlockRegister>(registers + <usize>index * offsetof<BlockRegister>());
}

function runInstruction(
  next: BlockInstruction,
  registers: usize,
  slot: usize,
  descriptors: usize,
  columnStride: usize,
  start: i32,
  count: i32,
  cells: usize,
): void {
  const target = register(registers, next.target);
  const a = register(registers, next.a);
  const b = register(registers, next.b);
  switch (next.op) {
    case BlockOp.loadIntegers: {
      const chunk = changetype<BlockChunk>(descriptors + <usize>next.a * columnStride);
      loadIntegers(chunk, target, slot, start, count);
      break;
    }
    case BlockOp.loadDoubles: {
      const chunk = changetype<BlockChunk>(descriptors + <usize>next.a * columnStride);
      loadDoubles(chunk, target, slot, start, count);
      break;
    }
    case BlockOp.loadCodes: {
      const chunk = changetype<BlockChunk>(descriptors + <usize>next.a * columnStride);
      loadCodes(chunk, target, slot, start, count);
      break;
    }
    case BlockOp.constant:
      target.data = changetype<usize>(next) + offsetof<BlockInstruction>('low');
      target.valid = 0;
      target.step = 0;
      break;
    case BlockOp.nulls: // no value at all
      target.data = changetype<usize>(next) + offsetof<BlockInstruction>('low');
      target.valid = slot + SLOT_VALID;
      target.step = 0;
      memory.fill(target.valid, 0, <usize>count);
      break;
    case BlockOp.fillDoubles: // a constant in every row
      fill(slot, load<v128>(a.data), <usize>count << 3);
      target.data = slot;
      target.valid = a.valid;
      target.step = 16;
      break;
    case BlockOp.arithmeticIntegers:
      arithmeticI32(a.data, a.step, b.data, b.step, count, next.c, slot);
      setVector(target, slot, bothValid(a, b, slot, count));
      break;
    case BlockOp.arithmeticDoubles:
      arithmeticF64(a.data, a.step, b.data, b.step, count, next.c, slot);
      setVector(target, slot, bothValid(a, b, slot, count));
      break;
    case BlockOp.convert:
      convertI32ToF64(a.data, count, slot);
      setVector(target, slot, a.valid);
      break;
    case BlockOp.compareIntegers:
      compareI32(a.data, count, next.c, next.d, slot);
      if (a.valid) nullTruth(slot, a.valid, count);
      setVector(target, slot, 0);
      break;
    case BlockOp.compareDoubles: {
      compareF64(a.data, b.data, b.step, count, next.c, slot);
      const valid = bothValid(a, b, slot, count);
      if (valid) nullTruth(slot, valid, count);
      setVector(target, slot, 0);
      break;
    }
    case BlockOp.tableTruth:
      mapCodesU8(a.data, a.width, count, <usize>next.b, slot);
      setVector(target, slot, 0);
      break;
    case BlockOp.tableIntegers:
      mapCodesI32(a.data, a.width, count, <usize>next.b, slot);
      setVector(target, slot, tableValid(a, <usize>next.c, slot, count));
      break;
    case BlockOp.tableDoubles:
      mapCodesF64(a.data, a.width, count, <usize>next.b, slot);
      setVector(target, slot, tableValid(a, <usize>next.c, slot, count));
      break;
    case BlockOp.tableCodes:
      mapCodesI32(a.data, a.width, count, <usize>next.b, slot);
      setVector(target, slot, 0);
      target.width = 4;
      break;
    case BlockOp.rangeCodes:
      rangeCodesWithin(a.data, a.valid, count, next.c, next.d, slot);
      setVector(target, slot, 0);
      target.width = 4;
      break;
    case BlockOp.and:
      andTruth(a.data, b.data, count, slot);
      setVector(target, slot, 0);
      break;
    case BlockOp.or:
      orTruth(a.data, b.data, count, slot);
      setVector(target, slot, 0);
      break;
    case BlockOp.not:
      notTruth(a.data, count, slot);
      setVector(target, slot, 0);
      break;
    case BlockOp.missing: // a missing value is `c`, another one is `d`
      missing(a.valid, count, <u8>next.c, <u8>next.d, slot);
      setVector(target, slot, 0);
      break;
    case BlockOp.always: // the same truth everywhere
      memory.fill(slot, <u8>next.c, <usize>count);
      setVector(target, slot, 0);
      break;
    case BlockOp.choose: { // a where c is true, else b
      const truth = register(registers, next.c).data;
      chooseF64(truth, a.data, a.step, b.data, b.step, count, slot);
      let valid: usize = 0;
      if (a.valid || b.valid) {
        valid = slot + SLOT_VALID;
        chooseBytes(truth, a.valid, b.valid, count, valid);
      }
      setVector(target, slot, valid);
      break;
    }
    case BlockOp.validCodes: // which codes are values
      validCodes(a.data, a.width, count, slot + SLOT_VALID);
      setVector(target, slot, slot + SLOT_VALID);
      break;
    case BlockOp.counted: // truth of rows that count: a is true and b has a value
      truthWithValue(next.a < 0 ? 0 : a.data, b.valid, count, slot);
      target.data = b.valid ? slot : next.a < 0 ? 0 : a.data;
      break;
    case BlockOp.addRows:
      addCount(cells + <usize>next.c, a.data, count);
      break;
    case BlockOp.addExactIntegers:
      addCount(cells + <usize>next.c, a.data, count);
      addInteger(cells + <usize>next.c + 8, sumI32(b.data, a.data, count));
      break;
    case BlockOp.addIntegers:
      addCount(cells + <usize>next.c, a.data, count);
      addDouble(cells + <usize>next.c + 8, <f64>sumI32(b.data, a.data, count));
      break;
    case BlockOp.addDoubles:
      addCount(cells + <usize>next.c, a.data, count);
      addDouble(cells + <usize>next.c + 8, sumF64Where(b.data, a.data, count));
      break;
    case BlockOp.addExactSmallIntegers:
      addCount(cells + <usize>next.c, a.data, count);
      addInteger(cells + <usize>next.c + 8, sumSmall(b.data, a.data, count));
      break;
    case BlockOp.addSmallIntegers:
      addCount(cells + <usize>next.c, a.data, count);
      addDouble(cells + <usize>next.c + 8, <f64>sumSmall(b.data, a.data, count));
      break;
    case BlockOp.addLeast:
      addLeast(cells + <usize>next.c, b.data, a.data, count);
      break;
    case BlockOp.addGreatest:
      addGreatest(cells + <usize>next.c, b.data, a.data, count);
      break;
    default:
      unreachable();
  }
}

@inline
function setVector(target: BlockRegister, data: usize, valid: usize): void {
  target.data = data;
  target.valid = valid;
  target.step = 16;
}

function fill(out: usize, value: v128, size: usize): void {
  for (let i: usize = 0; i < size; i += 16) v128.store(out + i, value);
}

/** @returns 0 or the address of validity bytes of the block */
function chunkValid(chunk: BlockChunk, slot: usize, start: i32, count: i32): usize {
  if (chunk.valid == 0) return 0;
  expandBits(chunk.valid + (<usize>start >> 3), count, slot + SLOT_VALID);
  return slot + SLOT_VALID;
}

/** @returns the address of bytes that say that there are no values */
function noneValid(slot: usize, count: i32): usize {
  memory.fill(slot + SLOT_VALID, 0, <usize>count);
  return slot + SLOT_VALID;
}

function loadIntegers(chunk: BlockChunk, target: BlockRegister, slot: usize, start: i32, count: i32): void {
  if (chunk.kind == BlockChunkKind.int32) {
    const data = chunk.data + (<usize>start << 2);
    setVector(target, data, chunkValid(chunk, slot, start, count));
    return;
  }
  const isConstant = chunk.kind == BlockChunkKind.constant;
  fill(slot, i32x4.splat(isConstant ? <i32>chunk.constant : 0), <usize>count << 2);
  setVector(target, slot, isConstant ? 0 : noneValid(slot, count));
}

function loadDoubles(chunk: BlockChunk, target: BlockRegister, slot: usize, start: i32, count: i32): void {
  if (chunk.kind == BlockChunkKind.float64) {
    const data = chunk.data + (<usize>start << 3);
    setVector(target, data, chunkValid(chunk, slot, start, count));
    return;
  }
  if (chunk.kind == BlockChunkKind.int32) {
    convertI32ToF64(chunk.data + (<usize>start << 2), count, slot);
    setVector(target, slot, chunkValid(chunk, slot, start, count));
    return;
  }
  const isConstant = chunk.kind == BlockChunkKind.constant;
  fill(slot, f64x2.splat(isConstant ? chunk.constant : 0), <usize>count << 3);
  setVector(target, slot, isConstant ? 0 : noneValid(slot, count));
}

function loadCodes(chunk: BlockChunk, target: BlockRegister, slot: usize, start: i32, count: i32): void {
  if (chunk.kind == BlockChunkKind.codes) {
    setVector(target, chunk.data + <usize>start * <usize>chunk.width, 0);
    target.width = chunk.width;
    return;
  }
  fill(slot, i32x4.splat(0), <usize>count << 2);
  setVector(target, slot, 0);
  target.width = 4;
}

function bothValid(a: BlockRegister, b: BlockRegister, slot: usize, count: i32): usize {
  if (a.valid == 0 || a.valid == b.valid) return b.valid;
  if (b.valid == 0) return a.valid;
  andBytes(a.valid, b.valid, count, slot + SLOT_VALID);
  return slot + SLOT_VALID;
}

function tableValid(a: BlockRegister, table: usize, slot: usize, count: i32): usize {
  if (table == 0) return 0;
  mapCodesU8(a.data, a.width, count, table, slot + SLOT_VALID);
  return slot + SLOT_VALID;
}

@inline
function integerLanes(x: v128, y: v128, operator: i32): v128 {
  if (operator == Arithmetic.add) return i32x4.add(x, y);
  if (operator == Arithmetic.subtract) return i32x4.sub(x, y);
  return i32x4.mul(x, y);
}

@inline
function integerLoop(
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  count: i32,
  out: usize,
  operator: i32,
): void {
  let p = a;
  let q = b;
  for (let i: usize = 0; i < <usize>count; i += 4) {
    v128.store(out + (i << 2), integerLanes(v128.load(p), v128.load(q), operator));
    p += aStep;
    q += bStep;
  }
}

/** Whoever made the program knows that no result leaves the range of Int32. */
function arithmeticI32(
  a: usize,
  aStep: usize,
  b: usize,
  bStep: usize,
  count: i32,
  operator: i32,
  out: usize,
): void {
  if (operator == Arithmetic.add) integerLoop(a, aStep, b, bStep, count, out, Arithmetic.add);
  else if (operator == Arithmetic.subtract)
    integerLoop(a, aStep, b, bStep, count, out, Arithmetic.subtract);
  else integerLoop(a, aStep, b, bStep, count, out, Arithmetic.multiply);
}

function missing(valid: usize, count: i32, whenMissing: u8, whenValid: u8, out: usize): void {
  if (valid == 0) {
    memory.fill(out, whenValid, <usize>count);
    return;
  }
  const yes = i8x16.splat(<i8>whenValid);
  const no = i8x16.splat(<i8>whenMissing);
  for (let i: usize = 0; i < <usize>count; i += 16) {
    const isMissing = i8x16.eq(v128.load(valid + i), i8x16.splat(0));
    v128.store(out + i, v128.bitselect(no, yes, isMissing));
  }
}

/** Truth 2 where `truth` (0: everywhere) is 2 and the validity byte (0: all) is 1, else 0. */
function truthWithValue(truth: usize, valid: usize, count: i32, out: usize): void {
  if (valid == 0) return;
  for (let i: usize = 0; i < <usize>count; i += 16) {
    const some = i8x16.shl(v128.load(valid + i), 1);
    v128.store(out + i, truth ? v128.and(v128.load(truth + i), some) : some);
  }
}

@inline
function addInteger(cell: usize, value: i64): void {
  store<i64>(cell, load<i64>(cell) + value);
}

@inline
function addDouble(cell: usize, value: f64): void {
  store<f64>(cell, load<f64>(cell) + value);
}

function addCount(cell: usize, truth: usize, count: i32): void {
  addInteger(cell, <i64>(truth ? countTrue(truth, count) : count));
}

@inline
function addFour(sum: v128, values: usize, mask: v128): v128 {
  return i32x4.add(sum, v128.and(v128.load(values), mask));
}

/** The sum of a block of integers below 2^23, which four Int32 lanes can hold. */
function sumSmall(values: usize, truth: usize, count: i32): i64 {
  let sum = i32x4.splat(0);
  let i: usize = 0;
  const whole = <usize>(count & ~15);
  const two = i8x16.splat(2);
  if (truth) {
    for (; i < whole; i += 16) {
      const mask = i8x16.eq(v128.load(truth + i), two);
      const low = i16x8.extend_low_i8x16_s(mask);
      const high = i16x8.extend_high_i8x16_s(mask);
      const p = values + (i << 2);
      sum = addFour(sum, p, i32x4.extend_low_i16x8_s(low));
      sum = addFour(sum, p + 16, i32x4.extend_high_i16x8_s(low));
      sum = addFour(sum, p + 32, i32x4.extend_low_i16x8_s(high));
      sum = addFour(sum, p + 48, i32x4.extend_high_i16x8_s(high));
    }
  } else {
    for (; i < whole; i += 4) sum = i32x4.add(sum, v128.load(values + (i << 2)));
  }
  let total: i64 = 0;
  total += <i64>i32x4.extract_lane(sum, 0) + <i64>i32x4.extract_lane(sum, 1);
  total += <i64>i32x4.extract_lane(sum, 2) + <i64>i32x4.extract_lane(sum, 3);
  for (; i < <usize>count; i++) {
    if (!truth || load<u8>(truth + i) == 2) total += <i64>load<i32>(values + (i << 2));
  }
  return total;
}

/** cell: { count: i64, least: f64 }; NaN is below every other number */
function addLeast(cell: usize, values: usize, truth: usize, count: i32): void {
  let seen = load<i64>(cell);
  let best = load<f64>(cell, 8);
  for (let i: usize = 0; i < <usize>count; i++) {
    if (truth && load<u8>(truth + i) != 2) continue;
    const v = load<f64>(values + (i << 3));
    if (seen == 0 || v < best || v != v) best = v;
    seen++;
  }
  store<i64>(cell, seen);
  store<f64>(cell, best, 8);
}

/** cell: { count: i64, greatest: f64 } */
function addGreatest(cell: usize, values: usize, truth: usize, count: i32): void {
  let seen = load<i64>(cell);
  let best = load<f64>(cell, 8);
  for (let i: usize = 0; i < <usize>count; i++) {
    if (truth && load<u8>(truth + i) != 2) continue;
    const v = load<f64>(values + (i << 3));
    if (seen == 0 || v > best || best != best) best = v;
    seen++;
  }
  store<i64>(cell, seen);
  store<f64>(cell, best, 8);
}
