// Cells of one column as Arrow data.
import {
  Binary,
  type Data,
  type DataType,
  Float64,
  Int64,
  IntervalMonthDayNano,
  makeData,
  TimestampMicrosecond,
  Uint64,
  Utf8,
} from 'apache-arrow';
import { type Atom, isInteger } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { Timestamp } from '../../value/timestamp.ts';

export interface ArrowColumnType {
  readonly type: DataType;
  /** true: the text is the JSON of each cell, because the kinds of cells differ */
  readonly mixed: boolean;
  readonly encode: (atoms: readonly Atom[], validity: Validity) => Data;
}

export const TEXT_COLUMN: ArrowColumnType = {
  type: new Utf8(),
  mixed: false,
  encode: (atoms, validity) =>
    textData(
      atoms.map((atom) => (atom === null ? '' : String(atom))),
      validity,
    ),
};

const MIXED_COLUMN: ArrowColumnType = {
  type: new Utf8(),
  mixed: true,
  encode: (atoms, validity) => textData(atoms.map(atomToJsonText), validity),
};

const INT64_COLUMN: ArrowColumnType = {
  type: new Int64(),
  mixed: false,
  encode: (atoms, validity) => {
    const data = BigInt64Array.from(atoms, (atom) => BigInt((atom ?? 0) as number | bigint));
    return makeData({ type: new Int64(), data, ...validity });
  },
};

const UINT64_COLUMN: ArrowColumnType = {
  type: new Uint64(),
  mixed: false,
  encode: (atoms, validity) => {
    const data = BigUint64Array.from(atoms, (atom) => BigInt((atom ?? 0) as number | bigint));
    return makeData({ type: new Uint64(), data, ...validity });
  },
};

const FLOAT64_COLUMN: ArrowColumnType = {
  type: new Float64(),
  mixed: false,
  encode: (atoms, validity) => {
    const data = Float64Array.from(atoms, (atom) => Number(atom ?? 0));
    return makeData({ type: new Float64(), data, ...validity });
  },
};

const TIMESTAMP_COLUMN: ArrowColumnType = {
  type: new TimestampMicrosecond('UTC'),
  mixed: false,
  encode: (atoms, validity) => {
    const data = BigInt64Array.from(atoms, microseconds);
    return makeData({ type: new TimestampMicrosecond('UTC'), data, ...validity });
  },
};

const INTERVAL_COLUMN: ArrowColumnType = {
  type: new IntervalMonthDayNano(),
  mixed: false,
  encode: (atoms, validity) => {
    const data = new Int32Array(atoms.length * 4);
    const nanoseconds = new DataView(data.buffer);
    atoms.forEach((atom, index) => {
      if (!(atom instanceof Interval)) return;
      data[index * 4] = atom.sign * atom.months;
      data[index * 4 + 1] = atom.sign * atom.days;
      const whole = BigInt(Math.round(atom.seconds * 1e9)) * BigInt(atom.sign);
      nanoseconds.setBigInt64(index * 16 + 8, whole, true);
    });
    return makeData({ type: new IntervalMonthDayNano(), data, ...validity });
  },
};

const BINARY_COLUMN: ArrowColumnType = {
  type: new Binary(),
  mixed: false,
  encode: (atoms, validity) => {
    const blobs = atoms.map((atom) => (atom instanceof Uint8Array ? atom : EMPTY_BYTES));
    return makeData({ type: new Binary(), ...joinBytes(blobs), ...validity });
  },
};

const EMPTY_BYTES = new Uint8Array(0);

/** The type that holds all of these cells; nulls fit everywhere. */
export function arrowColumnType(atoms: readonly Atom[]): ArrowColumnType {
  const present = atoms.filter((atom) => atom !== null);
  if (present.length === 0) return TEXT_COLUMN;
  const [first] = present;
  if (typeof first === 'number' || typeof first === 'bigint') return numberType(present);
  const sameAs = SAME_KIND.find(([test]) => test(first as Atom));
  return sameAs !== undefined && present.every(sameAs[0]) ? sameAs[1] : MIXED_COLUMN;
}

const SAME_KIND: readonly [test: (atom: Atom) => boolean, type: ArrowColumnType][] = [
  [(atom) => typeof atom === 'string', TEXT_COLUMN],
  [isPlainTimestamp, TIMESTAMP_COLUMN],
  [(atom) => atom instanceof Interval, INTERVAL_COLUMN],
  [(atom) => atom instanceof Uint8Array, BINARY_COLUMN],
  [(atom) => atom instanceof Path, TEXT_COLUMN],
];

/** NaD and the infinities have no Arrow form. */
function isPlainTimestamp(atom: Atom): boolean {
  return atom instanceof Timestamp && Number.isFinite(atom.seconds);
}

function numberType(atoms: readonly Atom[]): ArrowColumnType {
  let integers = true;
  let negative = false;
  let unsigned = false;
  for (const atom of atoms) {
    if (typeof atom !== 'number' && typeof atom !== 'bigint') return MIXED_COLUMN;
    integers &&= isInteger(atom);
    negative ||= atom < 0;
    unsigned ||= atom >= 2n ** 63n;
  }
  if (!integers || (negative && unsigned)) return FLOAT64_COLUMN;
  return unsigned ? UINT64_COLUMN : INT64_COLUMN;
}

function microseconds(atom: Atom): bigint {
  return atom instanceof Timestamp ? BigInt(Math.round(atom.seconds * 1e6)) : 0n;
}

/** Which cells are there: Arrow's bitmap, bit i of the least significant first. */
export interface Validity {
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap: Uint8Array | null;
}

export function arrowData(atoms: readonly Atom[], type: ArrowColumnType): Data {
  return type.encode(atoms, validityOf(atoms));
}

function validityOf(atoms: readonly Atom[]): Validity {
  const bitmap = new Uint8Array(Math.ceil(atoms.length / 8));
  let nullCount = 0;
  atoms.forEach((atom, index) => {
    if (atom === null) nullCount++;
    else bitmap[index >> 3] = (bitmap[index >> 3] as number) | (1 << (index & 7));
  });
  return { length: atoms.length, nullCount, nullBitmap: nullCount === 0 ? null : bitmap };
}

const encoder = new TextEncoder();

function textData(texts: readonly string[], validity: Validity): Data {
  return makeData({
    type: new Utf8(),
    ...joinBytes(texts.map((text) => encoder.encode(text))),
    ...validity,
  });
}

function joinBytes(parts: readonly Uint8Array[]): { valueOffsets: Int32Array; data: Uint8Array } {
  const valueOffsets = new Int32Array(parts.length + 1);
  parts.forEach((part, index) => {
    valueOffsets[index + 1] = (valueOffsets[index] as number) + part.length;
  });
  const data = new Uint8Array(valueOffsets[parts.length] as number);
  for (const [index, part] of parts.entries()) data.set(part, valueOffsets[index]);
  return { valueOffsets, data };
}
