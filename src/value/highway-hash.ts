// HighwayHash with 64 bits of output, the version frozen in 2018.
//
// Jyrki Alakuijala, Bill Cox, Jan Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
// multiply and permute", arXiv:1612.06257.
import {
  add,
  highWord,
  loadWord,
  lowWord,
  multiplyWords,
  setBigint,
  setWords,
  toUint64,
  xor,
} from './uint64.ts';

/** Four 64-bit words. */
export type HighwayKey = readonly [bigint, bigint, bigint, bigint];

/** First registers (uint64.ts) of the four lanes of each part of the state. */
const V0 = 24;
const V1 = 28;
const MUL0 = 32;
const MUL1 = 36;
const LANES = 40;
const T = 44;

const MUL0_START: HighwayKey = [
  0xdbe6d5d5fe4cce2fn,
  0xa4093822299f31d0n,
  0x13198a2e03707344n,
  0x243f6a8885a308d3n,
];
const MUL1_START: HighwayKey = [
  0x3bd39e10cb0ef593n,
  0xc0acf169b5f18a8cn,
  0xbe5466cf34e90c6cn,
  0x452821e638d01377n,
];

const PACKET_SIZE = 32;

/** The 64-bit hash, unsigned. */
export function highwayHash64(key: HighwayKey, bytes: Uint8Array): bigint {
  start(key);
  const end = bytes.length - (bytes.length % PACKET_SIZE);
  for (let offset = 0; offset < end; offset += PACKET_SIZE) updatePacket(bytes, offset);
  if (end < bytes.length) updateRemainder(bytes.subarray(end));
  for (let round = 0; round < 4; round++) permuteAndUpdate();
  add(T, V0, V1);
  add(T, T, MUL0);
  add(T, T, MUL1);
  return toUint64(T);
}

function start(key: HighwayKey): void {
  for (let i = 0; i < 4; i++) {
    setBigint(MUL0 + i, MUL0_START[i] as bigint);
    setBigint(MUL1 + i, MUL1_START[i] as bigint);
    setBigint(T, key[i] as bigint);
    xor(V0 + i, MUL0 + i, T);
    setWords(T, lowWord(T), highWord(T));
    xor(V1 + i, MUL1 + i, T);
  }
}

function updatePacket(bytes: Uint8Array, offset: number): void {
  for (let i = 0; i < 4; i++) {
    const at = offset + 8 * i;
    setWords(LANES + i, loadWord(bytes, at + 4), loadWord(bytes, at));
  }
  update();
}

function update(): void {
  for (let i = 0; i < 4; i++) {
    add(V1 + i, V1 + i, MUL0 + i);
    add(V1 + i, V1 + i, LANES + i);
    multiplyWords(T, lowWord(V1 + i), highWord(V0 + i));
    xor(MUL0 + i, MUL0 + i, T);
    add(V0 + i, V0 + i, MUL1 + i);
    multiplyWords(T, lowWord(V0 + i), highWord(V1 + i));
    xor(MUL1 + i, MUL1 + i, T);
  }
  addZipped(V0, V1 + 1, V1);
  addZipped(V0 + 2, V1 + 3, V1 + 2);
  addZipped(V1, V0 + 1, V0);
  addZipped(V1 + 2, V0 + 3, V0 + 2);
}

/** Adds the interleaved bytes of the registers `b` and `a` to the registers `to` and `to + 1`. */
function addZipped(to: number, b: number, a: number): void {
  const aLow = lowWord(a);
  const aHigh = highWord(a);
  const bLow = lowWord(b);
  const bHigh = highWord(b);
  // Bytes from low to high: a3 b4 a2 a5 | b6 a1 b7 a0.
  setWords(
    T,
    ((bHigh >>> 16) & 0xff) |
      (aLow & 0xff00) |
      (((bHigh >>> 24) & 0xff) << 16) |
      ((aLow & 0xff) << 24),
    ((aLow >>> 24) & 0xff) |
      ((bHigh & 0xff) << 8) |
      (aLow & 0xff0000) |
      (((aHigh >>> 8) & 0xff) << 24),
  );
  add(to, to, T);
  // b3 a4 b2 b5 | b1 a6 b0 a7
  setWords(
    T,
    ((bLow >>> 8) & 0xff) |
      (((aHigh >>> 16) & 0xff) << 8) |
      ((bLow & 0xff) << 16) |
      (aHigh & 0xff000000),
    ((bLow >>> 24) & 0xff) |
      ((aHigh & 0xff) << 8) |
      (bLow & 0xff0000) |
      (((bHigh >>> 8) & 0xff) << 24),
  );
  add(to + 1, to + 1, T);
}

const packet = new Uint8Array(PACKET_SIZE);

/** The last 1 to 31 bytes, their number mixed into the state. */
function updateRemainder(rest: Uint8Array): void {
  const { length } = rest;
  for (let i = 0; i < 4; i++) {
    setWords(T, length, length);
    add(V0 + i, V0 + i, T);
    setWords(V1 + i, rotateLeft(highWord(V1 + i), length), rotateLeft(lowWord(V1 + i), length));
  }
  packet.fill(0);
  const whole = length & ~3;
  packet.set(rest.subarray(0, whole));
  const tail = length & 3;
  if ((length & 16) !== 0) {
    packet.set(rest.subarray(length - 4), PACKET_SIZE - 4);
  } else if (tail !== 0) {
    packet[16] = rest[whole] as number;
    packet[17] = rest[whole + (tail >> 1)] as number;
    packet[18] = rest[whole + tail - 1] as number;
  }
  updatePacket(packet, 0);
}

function permuteAndUpdate(): void {
  for (let i = 0; i < 4; i++) {
    const from = V0 + ((i + 2) & 3);
    setWords(LANES + i, lowWord(from), highWord(from));
  }
  update();
}

function rotateLeft(word: number, count: number): number {
  return (word << count) | (word >>> (32 - count));
}
