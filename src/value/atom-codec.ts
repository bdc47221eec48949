// Atoms as bytes: a tag and a payload. Used by mixed dictionaries, sparse cells and the write log.
// Equal bytes mean equal atoms of one kind, so tables of distinct atoms compare bytes.
import type { Atom } from './atom.ts';
import { isIntegral, normalizeInteger } from './atom.ts';
import { Interval } from './interval.ts';
import { Path } from './path.ts';
import { Timestamp } from './timestamp.ts';
import { utf8SizeMax, writeUtf8 } from './utf8.ts';

/** Part of the file format: a number is never used again for another meaning. */
export const ATOM_TAG = {
  null: 0,
  /** signed 64-bit, little endian, as everything here */
  integer: 1,
  /** unsigned 64-bit, only from 2^63 on */
  unsigned: 2,
  double: 3,
  /** UTF-8 */
  string: 4,
  /** seconds as a double */
  timestamp: 5,
  /** months, days, seconds as doubles, then 1 when negative */
  interval: 6,
  blob: 7,
  /** for each element its size as Uint32 and its UTF-8 */
  path: 8,
} as const;

const scratch = new DataView(new ArrayBuffer(8));
const scratchBytes = new Uint8Array(scratch.buffer);

/** The tag that an atom is written with. */
export function atomTag(atom: Atom): number {
  if (atom === null) return ATOM_TAG.null;
  switch (typeof atom) {
    case 'number':
      return isIntegral(atom) ? ATOM_TAG.integer : ATOM_TAG.double;
    case 'bigint':
      return atom >= 2n ** 63n ? ATOM_TAG.unsigned : ATOM_TAG.integer;
    case 'string':
      return ATOM_TAG.string;
  }
  if (atom instanceof Timestamp) return ATOM_TAG.timestamp;
  if (atom instanceof Interval) return ATOM_TAG.interval;
  return atom instanceof Path ? ATOM_TAG.path : ATOM_TAG.blob;
}

/** An upper bound of the bytes that `writeAtom` needs. */
export function atomSizeMax(atom: Atom): number {
  if (typeof atom === 'string') return 1 + utf8SizeMax(atom);
  if (atom instanceof Uint8Array) return 1 + atom.length;
  if (atom instanceof Path) {
    return atom.elements.reduce((sum, element) => sum + 4 + utf8SizeMax(element), 1);
  }
  return 32;
}

/** Writes tag and payload at `position`. @returns the position behind them */
export function writeAtom(target: Uint8Array, position: number, atom: Atom): number {
  const tag = atomTag(atom);
  target[position++] = tag;
  switch (tag) {
    case ATOM_TAG.null:
      return position;
    case ATOM_TAG.integer:
      scratch.setBigInt64(0, BigInt(atom as number | bigint), true);
      return writeScratch(target, position);
    case ATOM_TAG.unsigned:
      scratch.setBigUint64(0, atom as bigint, true);
      return writeScratch(target, position);
    case ATOM_TAG.double:
      return writeDouble(target, position, atom as number);
    case ATOM_TAG.timestamp:
      return writeDouble(target, position, (atom as Timestamp).seconds);
    case ATOM_TAG.string:
      return writeUtf8(target, position, atom as string);
    case ATOM_TAG.interval:
      return writeInterval(target, position, atom as Interval);
    case ATOM_TAG.blob:
      target.set(atom as Uint8Array, position);
      return position + (atom as Uint8Array).length;
    default:
      return writePath(target, position, atom as Path);
  }
}

/** The bytes of an atom in an array of their own. */
export function encodeAtom(atom: Atom): Uint8Array {
  const bytes = new Uint8Array(atomSizeMax(atom));
  return bytes.subarray(0, writeAtom(bytes, 0, atom));
}

/** The bytes of a number that is read back as a number, also where an integer is a bigint. */
export function encodeDouble(value: number): Uint8Array {
  const bytes = new Uint8Array(9);
  bytes[0] = ATOM_TAG.double;
  writeDouble(bytes, 1, value);
  return bytes;
}

/** Reads what `writeAtom` or `encodeDouble` wrote into [start, end). */
export function readAtom(bytes: Uint8Array, start: number, end: number): Atom {
  return readPayload(bytes[start] as number, bytes, start + 1, end);
}

function readPayload(tag: number, bytes: Uint8Array, start: number, end: number): Atom {
  switch (tag) {
    case ATOM_TAG.null:
      return null;
    case ATOM_TAG.integer:
      readScratch(bytes, start);
      return normalizeInteger(scratch.getBigInt64(0, true));
    case ATOM_TAG.unsigned:
      readScratch(bytes, start);
      return scratch.getBigUint64(0, true);
    case ATOM_TAG.double:
      return readDouble(bytes, start);
    case ATOM_TAG.string:
      return readUtf8(bytes, start, end);
    case ATOM_TAG.timestamp:
      return new Timestamp(readDouble(bytes, start));
    case ATOM_TAG.interval:
      return new Interval(
        readDouble(bytes, start),
        readDouble(bytes, start + 8),
        readDouble(bytes, start + 16),
        bytes[start + 24] === 1,
      );
    case ATOM_TAG.blob:
      return bytes.slice(start, end);
    case ATOM_TAG.path:
      return readPath(bytes, start, end);
    default:
      throw new Error(`assertion failed: unknown atom tag ${tag}`);
  }
}

/** Decodes UTF-8 of any byte array, shared memory included. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}

function writeScratch(target: Uint8Array, position: number): number {
  for (let i = 0; i < 8; i++) target[position + i] = scratchBytes[i] as number;
  return position + 8;
}

function readScratch(bytes: Uint8Array, start: number): void {
  for (let i = 0; i < 8; i++) scratchBytes[i] = bytes[start + i] as number;
}

/** Every NaN gets the same bytes, and there is no negative zero. */
function writeDouble(target: Uint8Array, position: number, value: number): number {
  scratch.setFloat64(0, Number.isNaN(value) ? Number.NaN : value === 0 ? 0 : value, true);
  return writeScratch(target, position);
}

function readDouble(bytes: Uint8Array, start: number): number {
  readScratch(bytes, start);
  return scratch.getFloat64(0, true);
}

function writeInterval(target: Uint8Array, position: number, interval: Interval): number {
  position = writeDouble(target, position, interval.months);
  position = writeDouble(target, position, interval.days);
  position = writeDouble(target, position, interval.seconds);
  target[position] = interval.negative ? 1 : 0;
  return position + 1;
}

function writePath(target: Uint8Array, position: number, path: Path): number {
  for (const element of path.elements) {
    const end = writeUtf8(target, position + 4, element);
    scratch.setUint32(0, end - position - 4, true);
    for (let i = 0; i < 4; i++) target[position + i] = scratchBytes[i] as number;
    position = end;
  }
  return position;
}

function readPath(bytes: Uint8Array, start: number, end: number): Path {
  const elements: string[] = [];
  for (let position = start; position < end; ) {
    for (let i = 0; i < 4; i++) scratchBytes[i] = bytes[position + i] as number;
    const size = scratch.getUint32(0, true);
    elements.push(readUtf8(bytes, position + 4, position + 4 + size));
    position += 4 + size;
  }
  return new Path(elements);
}
