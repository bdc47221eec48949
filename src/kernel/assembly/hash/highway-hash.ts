// HighwayHash with 64 bits of output, the version frozen in 2018.
//
// Jyrki Alakuijala, Bill Cox, Jan Wassenberg, "Fast keyed hash/pseudo-random function using SIMD
// multiply and permute", arXiv:1612.06257.
//
// A state is a key of four u64 and four parts of four u64 each, kept in memory from call to call.

const V0: usize = 32;
const V1: usize = 64;
const MUL0: usize = 96;
const MUL1: usize = 128;
/** 32 bytes for the last packet */
const PACKET: usize = 160;

/** Bytes of a state, whose first 32 are the key. */
@shared
const HIGHWAY_STATE_SIZE: i32 = 192;

/** Bytes that are hashed together. */
@shared
const HIGHWAY_PACKET_SIZE: i32 = 32;

/** Begins a hash with the key that the state begins with. */
export function highwayStart(state: usize): void {
  v128.store(state, i64x2(0xdbe6d5d5fe4cce2f, 0xa4093822299f31d0), MUL0);
  v128.store(state, i64x2(0x13198a2e03707344, 0x243f6a8885a308d3), MUL0 + 16);
  v128.store(state, i64x2(0x3bd39e10cb0ef593, 0xc0acf169b5f18a8c), MUL1);
  v128.store(state, i64x2(0xbe5466cf34e90c6c, 0x452821e638d01377), MUL1 + 16);
  for (let part = state; part < state + 32; part += 16) {
    const key = v128.load(part);
    v128.store(part, v128.xor(v128.load(part, MUL0), key), V0);
    v128.store(part, v128.xor(v128.load(part, MUL1), swapHalves(key)), V1);
  }
}

/** Hashes whole packets of 32 bytes. */
export function highwayPackets(state: usize, packets: usize, count: i32): void {
  const end = packets + (<usize>count << 5);
  for (; packets < end; packets += 32) {
    update(state, v128.load(packets), v128.load(packets, 16));
  }
}

/** Hashes the last bytes, less than a packet. @returns the hash of all */
export function highwayEnd(state: usize, rest: usize, size: i32): u64 {
  if (size > 0) addRest(state, rest, size);
  for (let round = 0; round < 4; round++) {
    const low = v128.load(state, V0);
    update(state, swapHalves(v128.load(state, V0 + 16)), swapHalves(low));
  }
  const sum = load<u64>(state, V0) + load<u64>(state, V1);
  return sum + load<u64>(state, MUL0) + load<u64>(state, MUL1);
}

/** The halves of both words change places. */
@inline
function swapHalves(words: v128): v128 {
  return v128.shuffle<i32>(words, words, 1, 0, 3, 2);
}

/** Products of the low halves of the words of `a` and the high halves of those of `b`. */
@inline
function lowTimesHigh(a: v128, b: v128): v128 {
  return i64x2.extmul_low_i32x4_u(
    v128.shuffle<i32>(a, a, 0, 2, 0, 2),
    v128.shuffle<i32>(b, b, 1, 3, 1, 3),
  );
}

/** The bytes of two words, interleaved. */
@inline
function zipped(words: v128): v128 {
  return v128.shuffle<u8>(words, words, 3, 12, 2, 5, 14, 1, 15, 0, 11, 4, 10, 13, 9, 6, 8, 7);
}

@inline
function updatePart(part: usize, lanes: v128): void {
  const mul0 = v128.load(part, MUL0);
  const mul1 = v128.load(part, MUL1);
  const v1 = i64x2.add(v128.load(part, V1), i64x2.add(mul0, lanes));
  const old = v128.load(part, V0);
  v128.store(part, v128.xor(mul0, lowTimesHigh(v1, old)), MUL0);
  let v0 = i64x2.add(old, mul1);
  v128.store(part, v128.xor(mul1, lowTimesHigh(v0, v1)), MUL1);
  v0 = i64x2.add(v0, zipped(v1));
  v128.store(part, v0, V0);
  v128.store(part, i64x2.add(v1, zipped(v0)), V1);
}

@inline
function update(state: usize, low: v128, high: v128): void {
  updatePart(state, low);
  updatePart(state + 16, high);
}

/** The last 1 to 31 bytes, their number mixed into the state. */
function addRest(state: usize, rest: usize, size: i32): void {
  for (let part = state; part < state + 32; part += 16) {
    v128.store(part, i64x2.add(v128.load(part, V0), i32x4.splat(size)), V0);
    const v1 = v128.load(part, V1);
    v128.store(part, v128.or(i32x4.shl(v1, size), i32x4.shr_u(v1, 32 - size)), V1);
  }
  const packet = state + PACKET;
  memory.fill(packet, 0, 32);
  const whole = <usize>(size & ~3);
  memory.copy(packet, rest, whole);
  const tail = <usize>(size & 3);
  if ((size & 16) != 0) store<u32>(packet, load<u32>(rest + <usize>size - 4), 28);
  else if (tail != 0) {
    store<u8>(packet, load<u8>(rest + whole), 16);
    store<u8>(packet, load<u8>(rest + whole + (tail >> 1)), 17);
    store<u8>(packet, load<u8>(rest + whole + tail - 1), 18);
  }
  update(state, v128.load(packet), v128.load(packet, 16));
}
