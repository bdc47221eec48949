// Documents as rows, and rows as documents.
import {
  Binary,
  type BSON,
  BSONSymbol,
  Decimal128,
  type Document,
  Int32,
  Long,
  ObjectId,
  Timestamp,
} from 'mongodb';
import { RowanError } from '../../util/error.ts';
import { normalizeInteger } from '../../value/atom.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp as Instant } from '../../value/timestamp.ts';
import { atomFromWire, type WireAtom } from '../../value/wire-value.ts';
import type { WireRow } from '../message.ts';
import type { DocdbDocument } from './docdb-request.ts';

/** The paths of documents of the same shape are one list. */
export class DocumentReader {
  readonly #lists = new Map<string, readonly (readonly string[])[]>();

  /** The row of a document; with `error` where a value has no meaning here. */
  read(document: Document): WireRow {
    const { _id: id } = document;
    if (!(id instanceof ObjectId)) {
      return faulty(
        `unimplemented support for MongoDB records with key "_id" that are not objectIDs: ${shortText(id)}`,
      );
    }
    const paths: string[][] = [];
    const atoms: WireAtom[] = [];
    try {
      for (const [name, value] of Object.entries(document)) visit([name], value, paths, atoms);
    } catch (thrown) {
      if (!(thrown instanceof NoMeaning)) throw thrown;
      return { ...faulty(thrown.message), name: [id.toHexString()] };
    }
    const ts = id.getTimestamp().getTime() / 1000;
    return { name: [id.toHexString()], ts, paths: this.#shared(paths), atoms };
  }

  #shared(paths: readonly (readonly string[])[]): readonly (readonly string[])[] {
    const key = JSON.stringify(paths);
    const known = this.#lists.get(key);
    if (known !== undefined) return known;
    if (this.#lists.size >= LIST_COUNT_MAX) this.#lists.clear();
    this.#lists.set(key, paths);
    return paths;
  }
}

const LIST_COUNT_MAX = 1024;

class NoMeaning extends Error {}

function faulty(message: string): WireRow {
  const error = new RowanError('DATA_ERROR', 500, message).toBody();
  return { name: undefined, ts: Number.NaN, paths: [], atoms: [], error };
}

function shortText(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

function visit(path: string[], value: unknown, paths: string[][], atoms: WireAtom[]): void {
  const isNested = Array.isArray(value) || (isObject(value) && value._bsontype === undefined);
  if (isNested && !(value instanceof Date) && !(value instanceof Uint8Array)) {
    for (const [name, member] of Object.entries(value)) {
      visit([...path, name], member, paths, atoms);
    }
    return;
  }
  paths.push(path);
  atoms.push(atomOf(value, path));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function atomOf(value: unknown, path: readonly string[]): WireAtom {
  switch (typeof value) {
    case 'undefined':
      return null;
    case 'number':
    case 'string':
      return value;
    case 'boolean':
      return Number(value);
    case 'bigint':
      return normalizeInteger(value);
  }
  if (value === null) return null;
  if (value instanceof Date) return { seconds: value.getTime() / 1000 };
  if (value instanceof ObjectId) return value.toHexString();
  if (value instanceof Binary) return new Uint8Array(value.value());
  // A kind of 64-bit integer, so it comes before that.
  if (value instanceof Timestamp) return value.getHighBitsUnsigned();
  if (value instanceof Long) return normalizeInteger(value.toBigInt());
  if (value instanceof Decimal128) return decimalAtom(value.toString());
  if (value instanceof BSONSymbol) return value.value;
  const kind = (value as { readonly _bsontype?: string })._bsontype ?? typeof value;
  throw new NoMeaning(
    `field ${path.join('.')} of a document has the type ${kind}, which no value of a row can have`,
  );
}

/** A number where a double has the same digits. */
function decimalAtom(text: string): WireAtom {
  const number = Number(text);
  return Number.isNaN(number) || String(number) === text || isSameNumber(text, number)
    ? number
    : text;
}

function isSameNumber(text: string, number: number): boolean {
  const plain = text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '');
  return plain === String(number);
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** The document that keeps a row. */
export function documentOf({ id, fields }: DocdbDocument): Document {
  const document: Document = { _id: id };
  for (const [name, atom] of fields) document[name] = storedValue(atom);
  return document;
}

function storedValue(wire: WireAtom): BSON.Document | number | string | Date {
  const atom = atomFromWire(wire);
  if (atom === null) return '';
  if (typeof atom === 'string') return atom;
  if (typeof atom === 'number') {
    if (!Number.isInteger(atom) || Object.is(atom, -0)) return atom;
    if (atom >= INT32_MIN && atom <= INT32_MAX) return new Int32(atom);
    return Number.isSafeInteger(atom) ? Long.fromNumber(atom) : atom;
  }
  if (typeof atom === 'bigint') {
    return atom < 2n ** 63n ? Long.fromBigInt(atom) : String(atom);
  }
  if (atom instanceof Instant && Number.isFinite(atom.seconds)) {
    return new Date(Math.round(atom.seconds * 1000));
  }
  return atomText(atom);
}
