// hash(x): a stable 64-bit hash of any value.
import type { ValueFunction } from '../plan/function.ts';
import { type Atom, isIntegral, normalizeInteger } from '../value/atom.ts';
import { type HighwayKey, highwayHash64 } from '../value/highway-hash.ts';
import { Interval } from '../value/interval.ts';
import { Path } from '../value/path.ts';
import { hashElement, hashPath } from '../value/path-hash.ts';
import { MINUS_INFINITY, Timestamp } from '../value/timestamp.ts';
import { type Row, Scalar, type Value } from '../value/value.ts';
import { family, INTEGER_TYPE, parameter } from './declare.ts';
import { rowOf } from './vector/shape.ts';

const ATOM_KEY: HighwayKey = [
  0x1958df94340e7cban,
  0x00008928fc8b84a0n,
  0xb4de473517bb7b44n,
  0xee14868f2037839cn,
];
const ROW_KEY: HighwayKey = [0x1958df94340e7cban, 0x00008928fc8b84a0n, 0n, 0n];

export const hashFunctions: readonly ValueFunction[] = [
  family('encoding', { isLinear: true }).value({
    name: 'hash',
    summary:
      'A 64-bit hash of the value, the same everywhere and forever; timestamps play no part in it.',
    parameters: [parameter('x', 'any value; null gives null')],
    examples: [
      ['CAST(hash(1) AS string)', '"6057722525893115906"'],
      ["hash({b: 'coco', a: 12}) = hash({a: 12, b: 'coco'})", '1'],
    ],
    result: INTEGER_TYPE,
    timestamps: 'first',
    evaluate: ([x]) => new Scalar(normalizeInteger(hashValue(x as Value)), MINUS_INFINITY),
  }),
];

/** Unsigned; null hashes as the integer 0. */
export function hashValue(value: Value): bigint {
  const row = rowOf(value);
  return row === undefined ? hashAtom((value as Scalar).atom) : hashRow(row);
}

function hashRow(row: Row): bigint {
  const bytes = new DataView(new ArrayBuffer(16 * row.length));
  row.names.forEach((name, index) => {
    bytes.setBigUint64(16 * index, hashElement(name), true);
    bytes.setBigUint64(16 * index + 8, hashValue(row.values[index] as Value), true);
  });
  return highwayHash64(ROW_KEY, new Uint8Array(bytes.buffer));
}

const encoder = new TextEncoder();

export function hashAtom(atom: Atom): bigint {
  if (atom instanceof Path) return hashPath(atom);
  return highwayHash64(ATOM_KEY, atomBytes(atom));
}

function atomBytes(atom: Exclude<Atom, Path>): Uint8Array {
  switch (typeof atom) {
    case 'string':
      return encoder.encode(atom);
    case 'number':
      return isIntegral(atom) ? integerBytes(BigInt(atom)) : doubleBytes(atom);
    case 'bigint':
      return integerBytes(atom);
  }
  if (atom === null) return integerBytes(0n);
  if (atom instanceof Timestamp) return doubleBytes(atom.seconds);
  return atom instanceof Interval ? intervalBytes(atom) : atom;
}

function integerBytes(value: bigint): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setBigUint64(0, BigInt.asUintN(64, value), true);
  return new Uint8Array(bytes.buffer);
}

function doubleBytes(value: number): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value, true);
  return new Uint8Array(bytes.buffer);
}

/** Months and days in 16 bits, then the seconds, which carry the sign. */
function intervalBytes(interval: Interval): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(12));
  bytes.setUint16(0, interval.months, true);
  bytes.setUint16(2, interval.days, true);
  bytes.setFloat64(4, interval.negative ? -interval.seconds : interval.seconds, true);
  return new Uint8Array(bytes.buffer);
}
