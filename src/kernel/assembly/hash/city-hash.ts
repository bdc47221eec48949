// CityHash64, version 1.0, by Geoff Pike and Jyrki Alakuijala (2011). Letters are those of the
// published algorithm.

const K0: u64 = 0xc3a5c85c97cb3127;
const K1: u64 = 0xb492b66fbe98f273;
const K2: u64 = 0x9ae16a3b2f90404f;
const K3: u64 = 0xc949d7c7509e6557;
const MUL: u64 = 0x9ddfea08eb382d69;

@inline
function mix(value: u64): u64 {
  return value ^ (value >> 47);
}

@inline
function combine(u: u64, v: u64): u64 {
  const a = mix((u ^ v) * MUL);
  const b = mix((v ^ a) * MUL);
  return b * MUL;
}

/** The hash of `size` bytes at `text`. */
export function cityHash(text: usize, size: i32): u64 {
  if (size <= 16) return shortHash(text, size);
  if (size <= 32) return hashUpTo32(text, <usize>size);
  if (size <= 64) return hashUpTo64(text, <usize>size);
  return hashLong(text, <usize>size);
}

/**
 * The hash of a path: those of its elements combined from the left.
 * @param texts the bytes of all elements, one after the other
 * @param ends u32: where each element ends, counted from `texts`
 * @param count at least one
 */
export function pathHash(texts: usize, ends: usize, count: i32): u64 {
  let start = load<u32>(ends);
  let hash = cityHash(texts, <i32>start);
  for (let i: i32 = 1; i < count; i++) {
    const end = load<u32>(ends + (<usize>i << 2));
    hash = combine(hash, cityHash(texts + <usize>start, <i32>(end - start)));
    start = end;
  }
  return hash;
}

/** The hash of up to 16 bytes. */
function shortHash(text: usize, length: i32): u64 {
  if (length > 8) {
    const a = load<u64>(text);
    const b = load<u64>(text + <usize>length - 8);
    return combine(a, rotr<u64>(b + <u64>length, <u64>length)) ^ b;
  }
  if (length >= 4) {
    const a = <u64>load<u32>(text);
    return combine(<u64>length + (a << 3), <u64>load<u32>(text + <usize>length - 4));
  }
  if (length == 0) return K2;
  const first = <u32>load<u8>(text);
  const middle = <u32>load<u8>(text + (<usize>length >> 1));
  const last = <u32>load<u8>(text + <usize>length - 1);
  const y = first + (middle << 8);
  const z = <u32>length + (last << 2);
  return mix((<u64>y * K2) ^ (<u64>z * K3)) * K2;
}

function hashUpTo32(s: usize, n: usize): u64 {
  const a = load<u64>(s) * K1;
  const b = load<u64>(s, 8);
  const c = load<u64>(s + n - 8) * K2;
  const d = load<u64>(s + n - 16) * K0;
  const u = rotr<u64>(a - b, 43) + rotr<u64>(c, 30) + d;
  return combine(u, a + rotr<u64>(b ^ K3, 20) - c + <u64>n);
}

function hashUpTo64(s: usize, n: usize): u64 {
  let z = load<u64>(s, 24);
  let a = load<u64>(s) + (<u64>n + load<u64>(s + n - 16)) * K0;
  let b = rotr<u64>(a + z, 52);
  let c = rotr<u64>(a, 37);
  a += load<u64>(s, 8);
  c += rotr<u64>(a, 7);
  a += load<u64>(s, 16);
  const vFirst = a + z;
  const vSecond = b + rotr<u64>(a, 31) + c;
  a = load<u64>(s, 16) + load<u64>(s + n - 32);
  z = load<u64>(s + n - 8);
  b = rotr<u64>(a + z, 52);
  c = rotr<u64>(a, 37);
  a += load<u64>(s + n - 24);
  c += rotr<u64>(a, 7);
  a += load<u64>(s + n - 16);
  const wFirst = a + z;
  const wSecond = b + rotr<u64>(a, 31) + c;
  const r = mix((vFirst + wSecond) * K2 + (wFirst + vSecond) * K0);
  return mix(r * K0 + vSecond) * K2;
}

/** Results of weakHash. */
let weakFirst: u64 = 0;
let weakSecond: u64 = 0;

/** Hashes 32 bytes with the seeds a and b; a hash of its own, weak but quick. */
@inline
function weakHash(s: usize, a: u64, b: u64): void {
  const z = load<u64>(s, 24);
  a += load<u64>(s);
  b = rotr<u64>(b + a + z, 21);
  const c = a;
  a += load<u64>(s, 8) + load<u64>(s, 16);
  weakFirst = a + z;
  weakSecond = b + rotr<u64>(a, 44) + c;
}

function hashLong(s: usize, n: usize): u64 {
  let x = load<u64>(s + n - 40);
  let y = load<u64>(s + n - 16) + load<u64>(s + n - 56);
  let z = combine(load<u64>(s + n - 48) + <u64>n, load<u64>(s + n - 24));
  weakHash(s + n - 64, <u64>n, z);
  let vFirst = weakFirst;
  let vSecond = weakSecond;
  weakHash(s + n - 32, y + K1, x);
  let wFirst = weakFirst;
  let wSecond = weakSecond;
  x = x * K1 + load<u64>(s);
  const end = s + ((n - 1) & ~63);
  for (; s < end; s += 64) {
    x = rotr<u64>(x + y + vFirst + load<u64>(s, 8), 37) * K1;
    y = rotr<u64>(y + vSecond + load<u64>(s, 48), 42) * K1;
    x ^= wSecond;
    y += vFirst + load<u64>(s, 40);
    z = rotr<u64>(z + wFirst, 33) * K1;
    weakHash(s, vSecond * K1, x + wFirst);
    vFirst = weakFirst;
    vSecond = weakSecond;
    weakHash(s + 32, z + wSecond, y + load<u64>(s, 16));
    wFirst = weakFirst;
    wSecond = weakSecond;
    const swapped = x;
    x = z;
    z = swapped;
  }
  return combine(combine(vFirst, wFirst) + mix(y) * K1 + z, combine(vSecond, wSecond) + x);
}
