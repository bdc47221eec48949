// The hash of paths: rowHash(), columnHash(), samples by row name. It never changes.
//
// CityHash64, version 1.0, by Geoff Pike and Jyrki Alakuijala (2011), of the UTF-8 bytes of each
// element; the elements of a path are combined from the left.
import type { Path } from './path.ts';
import {
  add,
  addNumber,
  copy,
  foldHigh47,
  load,
  loadWord,
  multiply,
  rotateRight,
  setBigint,
  setWords,
  subtract,
  toUint64,
  xor,
} from './uint64.ts';

/** Registers of uint64.ts; the letters are those of the published algorithm. */
const K0 = 0;
const K1 = 1;
const K2 = 2;
const K3 = 3;
const KM = 4;
const RESULT = 5;
const FOLDED = 6;
const A = 7;
const B = 8;
const C = 9;
const D = 10;
const T = 11;
const U = 12;
const V1 = 13;
const V2 = 14;
const W1 = 15;
const W2 = 16;
const X = 17;
const Y = 18;
const Z = 19;
const P = 20;
const Q = 21;

setBigint(K0, 0xc3a5c85c97cb3127n);
setBigint(K1, 0xb492b66fbe98f273n);
setBigint(K2, 0x9ae16a3b2f90404fn);
setBigint(K3, 0xc949d7c7509e6557n);
setBigint(KM, 0x9ddfea08eb382d69n);

/** The 64-bit hash of a path, unsigned; 0 for the null path. */
export function hashPath(path: Path): bigint {
  const { elements } = path;
  if (elements.length === 0) return 0n;
  digestElement(elements[0] as string);
  for (let i = 1; i < elements.length; i++) {
    copy(FOLDED, RESULT);
    digestElement(elements[i] as string);
    combine(RESULT, FOLDED, RESULT);
  }
  return toUint64(RESULT);
}

/** 16 lower-case hexadecimal digits. */
export function hashPathHex(path: Path): string {
  return hashPath(path).toString(16).padStart(16, '0');
}

/** The hash of the path of one element. */
export function hashElement(element: string): bigint {
  digestElement(element);
  return toUint64(RESULT);
}

const encoder = new TextEncoder();
let buffer = new Uint8Array(256);

function digestElement(element: string): void {
  if (buffer.length < element.length * 3) buffer = new Uint8Array(element.length * 3);
  digestBytes(buffer, encodeInto(element));
}

/** Short ASCII names, nearly all there are, need no encoder. */
function encodeInto(element: string): number {
  const { length } = element;
  if (length > 64) return encoder.encodeInto(element, buffer).written;
  for (let i = 0; i < length; i++) {
    const code = element.charCodeAt(i);
    if (code > 127) return encoder.encodeInto(element, buffer).written;
    buffer[i] = code;
  }
  return length;
}

function digestBytes(s: Uint8Array, n: number): void {
  if (n === 0) copy(RESULT, K2);
  else if (n <= 3) hashUpTo3(s, n);
  else if (n <= 8) hashUpTo8(s, n);
  else if (n <= 16) hashUpTo16(s, n);
  else if (n <= 32) hashUpTo32(s, n);
  else if (n <= 64) hashUpTo64(s, n);
  else hashLong(s, n);
}

function combine(to: number, u: number, v: number): void {
  xor(T, u, v);
  multiply(T, T, KM);
  foldHigh47(T, T);
  xor(T, v, T);
  multiply(T, T, KM);
  foldHigh47(T, T);
  multiply(to, T, KM);
}

function hashUpTo3(s: Uint8Array, n: number): void {
  setWords(A, 0, (s[0] as number) + 256 * (s[n >> 1] as number));
  setWords(B, 0, n + 4 * (s[n - 1] as number));
  multiply(A, A, K2);
  multiply(B, B, K3);
  xor(A, A, B);
  foldHigh47(A, A);
  multiply(RESULT, A, K2);
}

function hashUpTo8(s: Uint8Array, n: number): void {
  const first = loadWord(s, 0);
  setWords(A, first >>> 29, first << 3);
  addNumber(A, A, n);
  setWords(B, 0, loadWord(s, n - 4));
  combine(RESULT, A, B);
}

function hashUpTo16(s: Uint8Array, n: number): void {
  load(A, s, 0);
  load(B, s, n - 8);
  addNumber(C, B, n);
  rotateRight(C, C, n);
  combine(C, A, C);
  xor(RESULT, C, B);
}

function hashUpTo32(s: Uint8Array, n: number): void {
  load(A, s, 0);
  multiply(A, A, K1);
  load(B, s, 8);
  load(C, s, n - 8);
  multiply(C, C, K2);
  load(D, s, n - 16);
  multiply(D, D, K0);
  subtract(U, A, B);
  rotateRight(U, U, 43);
  rotateRight(X, C, 30);
  add(U, U, X);
  add(U, U, D);
  xor(X, B, K3);
  rotateRight(X, X, 20);
  add(X, A, X);
  subtract(X, X, C);
  addNumber(X, X, n);
  combine(RESULT, U, X);
}

/** Mixes A and Z with the two words P and Q into `first` and `second`. */
function half(first: number, second: number): void {
  add(B, A, Z);
  rotateRight(B, B, 52);
  rotateRight(C, A, 37);
  add(A, A, P);
  rotateRight(D, A, 7);
  add(C, C, D);
  add(A, A, Q);
  add(first, A, Z);
  rotateRight(D, A, 31);
  add(second, B, D);
  add(second, second, C);
}

function hashUpTo64(s: Uint8Array, n: number): void {
  load(A, s, n - 16);
  addNumber(A, A, n);
  multiply(A, A, K0);
  load(B, s, 0);
  add(A, A, B);
  load(Z, s, 24);
  load(P, s, 8);
  load(Q, s, 16);
  half(V1, V2);
  load(A, s, 16);
  load(B, s, n - 32);
  add(A, A, B);
  load(Z, s, n - 8);
  load(P, s, n - 24);
  load(Q, s, n - 16);
  half(W1, W2);
  add(X, V1, W2);
  multiply(X, X, K2);
  add(Y, W1, V2);
  multiply(Y, Y, K0);
  add(X, X, Y);
  foldHigh47(X, X);
  multiply(X, X, K0);
  add(X, X, V2);
  foldHigh47(X, X);
  multiply(RESULT, X, K2);
}

/** Hashes 32 bytes with the seeds A and B; a hash of its own, weak but quick. */
function weakHash(first: number, second: number, s: Uint8Array, offset: number): void {
  load(C, s, offset);
  add(A, A, C);
  load(P, s, offset + 24);
  add(B, B, A);
  add(B, B, P);
  rotateRight(B, B, 21);
  copy(D, A);
  load(C, s, offset + 8);
  add(A, A, C);
  load(C, s, offset + 16);
  add(A, A, C);
  rotateRight(C, A, 44);
  add(B, B, C);
  add(first, A, P);
  add(second, B, D);
}

function hashLong(s: Uint8Array, n: number): void {
  load(X, s, n - 40);
  load(Y, s, n - 16);
  load(A, s, n - 56);
  add(Y, Y, A);
  load(A, s, n - 48);
  addNumber(A, A, n);
  load(B, s, n - 24);
  combine(Z, A, B);
  setWords(A, 0, n);
  copy(B, Z);
  weakHash(V1, V2, s, n - 64);
  add(A, Y, K1);
  copy(B, X);
  weakHash(W1, W2, s, n - 32);
  multiply(X, X, K1);
  load(A, s, 0);
  add(X, X, A);
  const end = (n - 1) & ~63;
  for (let i = 0; i < end; i += 64) mixBlock(s, i);
  combine(A, V1, W1);
  foldHigh47(Y, Y);
  multiply(Y, Y, K1);
  add(A, A, Y);
  add(A, A, Z);
  combine(B, V2, W2);
  add(B, B, X);
  combine(RESULT, A, B);
}

function mixBlock(s: Uint8Array, i: number): void {
  add(X, X, Y);
  add(X, X, V1);
  load(A, s, i + 8);
  add(X, X, A);
  rotateRight(X, X, 37);
  multiply(X, X, K1);
  add(Y, Y, V2);
  load(A, s, i + 48);
  add(Y, Y, A);
  rotateRight(Y, Y, 42);
  multiply(Y, Y, K1);
  xor(X, X, W2);
  add(Y, Y, V1);
  load(A, s, i + 40);
  add(Y, Y, A);
  add(Z, Z, W1);
  rotateRight(Z, Z, 33);
  multiply(Z, Z, K1);
  multiply(A, V2, K1);
  add(B, X, W1);
  weakHash(V1, V2, s, i);
  add(A, Z, W2);
  load(C, s, i + 16);
  add(B, Y, C);
  weakHash(W1, W2, s, i + 32);
  copy(U, X);
  copy(X, Z);
  copy(Z, U);
}
