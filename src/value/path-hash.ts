// The 64-bit hash of paths: rowHash(), sampling and the order of ties. It must never change.
import type { Path } from './path.ts';

const MASK = 0xffff_ffff_ffff_ffffn;
const K0 = 0xc3a5c85c97cb3127n;
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;
const K3 = 0xc949d7c7509e6557n;
const KM = 0x9ddfea08eb382d69n;

const encoder = new TextEncoder();

/** Unsigned; the null path is 0. */
export function hashPath(path: Path): bigint {
  const { elements } = path;
  if (elements.length === 0) return 0n;
  let hash = hashElement(elements[0] as string);
  for (let i = 1; i < elements.length; i++) {
    hash = combine(hash, hashElement(elements[i] as string));
  }
  return hash;
}

/** 16 lower-case hexadecimal digits. */
export function hashPathHex(path: Path): string {
  return hashPath(path).toString(16).padStart(16, '0');
}

export function hashElement(element: string): bigint {
  return hashBytes(encoder.encode(element));
}

/**
 * 64-bit hash of bytes, the four-constant variant of version 1.0.
 * @see Pike & Alakuijala, "Introducing CityHash", Google 2011
 */
export function hashBytes(bytes: Uint8Array): bigint {
  const n = bytes.length;
  const view = new DataView(bytes.buffer, bytes.byteOffset, n);
  if (n <= 16) return hashShort(view, n);
  if (n <= 32) return hashTo32(view, n);
  return n <= 64 ? hashTo64(view, n) : hashLong(view, n);
}

function combine(u: bigint, v: bigint): bigint {
  const a = mix(mul(u ^ v, KM));
  const b = mix(mul(v ^ a, KM));
  return mul(b, KM);
}

function hashShort(view: DataView, n: number): bigint {
  if (n === 0) return K2;
  const size = BigInt(n);
  if (n <= 3) {
    const y = view.getUint8(0) + 256 * view.getUint8(n >> 1);
    const z = n + 4 * view.getUint8(n - 1);
    return mul(mix(mul(BigInt(y), K2) ^ mul(BigInt(z), K3)), K2);
  }
  if (n <= 8) {
    const low = BigInt(view.getUint32(0, true));
    return combine(add(size, low << 3n), BigInt(view.getUint32(n - 4, true)));
  }
  const a = word(view, 0);
  const b = word(view, n - 8);
  return combine(a, rotate(add(b, size), n)) ^ b;
}

function hashTo32(view: DataView, n: number): bigint {
  const a = mul(word(view, 0), K1);
  const b = word(view, 8);
  const c = mul(word(view, n - 8), K2);
  const d = mul(word(view, n - 16), K0);
  return combine(
    add(rotate(sub(a, b), 43), rotate(c, 30), d),
    add(a, sub(rotate(b ^ K3, 20), c), BigInt(n)),
  );
}

function hashTo64(view: DataView, n: number): bigint {
  const size = BigInt(n);
  const a = add(word(view, 0), mul(add(size, word(view, n - 16)), K0));
  const [vf, vs] = half(a, word(view, 24), word(view, 8), word(view, 16));
  const b = add(word(view, 16), word(view, n - 32));
  const [wf, ws] = half(b, word(view, n - 8), word(view, n - 24), word(view, n - 16));
  const r = mix(add(mul(add(vf, ws), K2), mul(add(wf, vs), K0)));
  return mul(mix(add(mul(r, K0), vs)), K2);
}

function half(start: bigint, z: bigint, p1: bigint, p2: bigint): [bigint, bigint] {
  let a = start;
  const b = rotate(add(a, z), 52);
  let c = rotate(a, 37);
  a = add(a, p1);
  c = add(c, rotate(a, 7));
  a = add(a, p2);
  return [add(a, z), add(b, rotate(a, 31), c)];
}

function hashLong(view: DataView, n: number): bigint {
  const size = BigInt(n);
  let x = word(view, n - 40);
  let y = add(word(view, n - 16), word(view, n - 56));
  let z = combine(add(word(view, n - 48), size), word(view, n - 24));
  let [v1, v2] = weak(view, n - 64, size, z);
  let [w1, w2] = weak(view, n - 32, add(y, K1), x);
  x = add(mul(x, K1), word(view, 0));
  for (let i = 0; i < ((n - 1) & ~63); i += 64) {
    x = mul(rotate(add(x, y, v1, word(view, i + 8)), 37), K1);
    y = mul(rotate(add(y, v2, word(view, i + 48)), 42), K1);
    x ^= w2;
    y = add(y, v1, word(view, i + 40));
    z = mul(rotate(add(z, w1), 33), K1);
    [v1, v2] = weak(view, i, mul(v2, K1), add(x, w1));
    [w1, w2] = weak(view, i + 32, add(z, w2), add(y, word(view, i + 16)));
    [x, z] = [z, x];
  }
  return combine(add(combine(v1, w1), mul(mix(y), K1), z), add(combine(v2, w2), x));
}

function weak(view: DataView, i: number, a0: bigint, b0: bigint): [bigint, bigint] {
  const z = word(view, i + 24);
  let a = add(a0, word(view, i));
  let b = rotate(add(b0, a, z), 21);
  const c = a;
  a = add(a, word(view, i + 8), word(view, i + 16));
  b = add(b, rotate(a, 44));
  return [add(a, z), add(b, c)];
}

function word(view: DataView, offset: number): bigint {
  return view.getBigUint64(offset, true);
}

function add(...terms: bigint[]): bigint {
  let sum = 0n;
  for (const term of terms) sum += term;
  return sum & MASK;
}

function sub(a: bigint, b: bigint): bigint {
  return (a - b) & MASK;
}

function mul(a: bigint, b: bigint): bigint {
  return (a * b) & MASK;
}

function mix(v: bigint): bigint {
  return v ^ (v >> 47n);
}

function rotate(v: bigint, bits: number): bigint {
  const shift = BigInt(bits & 63);
  return shift === 0n ? v : ((v >> shift) | (v << (64n - shift))) & MASK;
}
