// Unsigned 64-bit arithmetic on numbered registers: bigints allocate, and hashes run per row.

const REGISTER_COUNT = 64;

/** Low and high half of each register. */
const words = new Int32Array(2 * REGISTER_COUNT);

export function lowWord(a: number): number {
  return words[2 * a] as number;
}

export function highWord(a: number): number {
  return words[2 * a + 1] as number;
}

export function setWords(to: number, high: number, low: number): void {
  words[2 * to] = low;
  words[2 * to + 1] = high;
}

export function copy(to: number, a: number): void {
  words[2 * to] = words[2 * a] as number;
  words[2 * to + 1] = words[2 * a + 1] as number;
}

export function add(to: number, a: number, b: number): void {
  const low = (lowWord(a) >>> 0) + (lowWord(b) >>> 0);
  const high = highWord(a) + highWord(b) + (low > 0xffffffff ? 1 : 0);
  setWords(to, high, low);
}

export function subtract(to: number, a: number, b: number): void {
  const borrow = lowWord(a) >>> 0 < lowWord(b) >>> 0 ? 1 : 0;
  setWords(to, highWord(a) - highWord(b) - borrow, lowWord(a) - lowWord(b));
}

/** Adds a small non-negative number. */
export function addNumber(to: number, a: number, value: number): void {
  const low = (lowWord(a) >>> 0) + value;
  setWords(to, highWord(a) + (low > 0xffffffff ? 1 : 0), low);
}

export function xor(to: number, a: number, b: number): void {
  setWords(to, highWord(a) ^ highWord(b), lowWord(a) ^ lowWord(b));
}

/** The low 64 bits of the product. */
export function multiply(to: number, a: number, b: number): void {
  const aLow = lowWord(a);
  const bLow = lowWord(b);
  const cross = Math.imul(aLow, highWord(b)) + Math.imul(highWord(a), bLow);
  setWords(to, productHigh(aLow, bLow) + cross, Math.imul(aLow, bLow));
}

/** The whole product of two unsigned 32-bit numbers. */
export function multiplyWords(to: number, a: number, b: number): void {
  setWords(to, productHigh(a, b), Math.imul(a, b));
}

/** `count` is taken modulo 64. */
export function rotateRight(to: number, a: number, count: number): void {
  const shift = count & 31;
  const swap = (count & 32) !== 0;
  const low = swap ? highWord(a) : lowWord(a);
  const high = swap ? lowWord(a) : highWord(a);
  if (shift === 0) setWords(to, high, low);
  else {
    const rest = 32 - shift;
    setWords(to, (high >>> shift) | (low << rest), (low >>> shift) | (high << rest));
  }
}

/** a xor (a >> 47) */
export function foldHigh47(to: number, a: number): void {
  setWords(to, highWord(a), lowWord(a) ^ (highWord(a) >>> 15));
}

/** Eight bytes, little-endian. */
export function load(to: number, bytes: Uint8Array, offset: number): void {
  setWords(to, loadWord(bytes, offset + 4), loadWord(bytes, offset));
}

/** Four bytes, little-endian, signed. */
export function loadWord(bytes: Uint8Array, offset: number): number {
  return (
    (bytes[offset] as number) |
    ((bytes[offset + 1] as number) << 8) |
    ((bytes[offset + 2] as number) << 16) |
    ((bytes[offset + 3] as number) << 24)
  );
}

export function setBigint(to: number, value: bigint): void {
  setWords(to, Number(BigInt.asIntN(32, value >> 32n)), Number(BigInt.asIntN(32, value)));
}

export function toUint64(a: number): bigint {
  return (BigInt(highWord(a) >>> 0) << 32n) | BigInt(lowWord(a) >>> 0);
}

/** The high 32 bits of an unsigned 32 × 32 bit product, by halves of 16 bits. */
function productHigh(a: number, b: number): number {
  const aLow = a & 0xffff;
  const aHigh = a >>> 16;
  const bLow = b & 0xffff;
  const bHigh = b >>> 16;
  const middle = aHigh * bLow + ((aLow * bLow) >>> 16);
  const other = aLow * bHigh + (middle & 0xffff);
  return aHigh * bHigh + (middle >>> 16) + (other >>> 16);
}
