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
import { utf8SizeMax } from '../../value/utf8.ts';
import { atomReader, type ColumnValues } from '../column-rows.ts';

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
  return validityWhere(atoms.length, (index) => atoms[index] === null);
}

function validityWhere(length: number, isNull: (index: number) => boolean): Validity {
  const bitmap = new Uint8Array(Math.ceil(length / 8));
  let nullCount = 0;
  for (let index = 0; index < length; index++) {
    if (isNull(index)) nullCount++;
    else bitmap[index >> 3] = (bitmap[index >> 3] as number) | (1 << (index & 7));
  }
  return { length, nullCount, nullBitmap: nullCount === 0 ? null : bitmap };
}

const encoder = new TextEncoder();

function textData(texts: readonly string[], validity: Validity): Data {
  const writer = new BytesWriter(texts.length);
  for (const text of texts) writer.addText(text);
  return makeData({ type: new Utf8(), ...writer.take(), ...validity });
}

function joinBytes(parts: readonly Uint8Array[]): { valueOffsets: Int32Array; data: Uint8Array } {
  const writer = new BytesWriter(parts.length);
  for (const part of parts) writer.add(part);
  return writer.take();
}

let scratch = Buffer.allocUnsafe(1 << 16);

/** Joins bytes in memory that is used again, so that a column of texts leaves little garbage. */
class BytesWriter {
  readonly #offsets: Int32Array;
  #count = 0;
  #size = 0;

  constructor(count: number) {
    this.#offsets = new Int32Array(count + 1);
  }

  add(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    // A call costs more than the few bytes of a usual text.
    if (bytes.length > 32) scratch.set(bytes, this.#size);
    else for (let i = 0; i < bytes.length; i++) scratch[this.#size + i] = bytes[i] as number;
    this.#end(bytes.length);
  }

  addText(text: string): void {
    this.#reserve(utf8SizeMax(text));
    this.#end(scratch.write(text, this.#size));
  }

  take(): { valueOffsets: Int32Array; data: Uint8Array } {
    return { valueOffsets: this.#offsets, data: new Uint8Array(scratch.subarray(0, this.#size)) };
  }

  #end(sizeBytes: number): void {
    this.#size += sizeBytes;
    this.#offsets[++this.#count] = this.#size;
  }

  #reserve(sizeBytes: number): void {
    if (this.#size + sizeBytes <= scratch.length) return;
    const larger = Buffer.allocUnsafe(Math.max(scratch.length * 2, this.#size + sizeBytes));
    larger.set(scratch.subarray(0, this.#size));
    scratch = larger;
  }
}

/** Texts of codes that are kept as bytes. */
const KEPT_CODE_COUNT = 65_536;

/** Makes Arrow data of the rows from one to before another of a column. */
export function columnReader(
  values: ColumnValues,
  column: ArrowColumnType,
): (start: number, end: number) => Data {
  if (values.kind === 'numbers') {
    if (column === INT64_COLUMN) return (start, end) => integerData(values, start, end);
    if (column === FLOAT64_COLUMN) return (start, end) => doubleData(values, start, end);
  }
  if (values.kind === 'codes' && column === TEXT_COLUMN) {
    const kept: Uint8Array[] = [];
    const bytesAt = (index: number) => {
      const code = values.codeAt(index);
      if (code === 0) return EMPTY_BYTES;
      const known = kept[code];
      if (known !== undefined) return known;
      const bytes = encoder.encode(String(values.atom(code)));
      if (code < KEPT_CODE_COUNT) kept[code] = bytes;
      return bytes;
    };
    return (start, end) => {
      const writer = new BytesWriter(end - start);
      for (let index = start; index < end; index++) writer.add(bytesAt(index));
      const validity = validityWhere(end - start, (i) => values.codeAt(start + i) === 0);
      return makeData({ type: new Utf8(), ...writer.take(), ...validity });
    };
  }
  const read = atomReader(values);
  return (start, end) => {
    const atoms = Array.from({ length: end - start }, (_, i) => read(start + i));
    return arrowData(atoms, column);
  };
}

type NumberValues = Extract<ColumnValues, { kind: 'numbers' }>;

/** Integers that a double holds, as two halves each. */
function integerData(values: NumberValues, start: number, end: number): Data {
  const data = new BigInt64Array(end - start);
  const halves = new Int32Array(data.buffer);
  for (let index = start; index < end; index++) {
    if (values.isNull(index)) continue;
    const value = values.numberAt(index);
    halves[2 * (index - start)] = value | 0;
    halves[2 * (index - start) + 1] = Math.floor(value / 2 ** 32);
  }
  const validity = validityWhere(end - start, (i) => values.isNull(start + i));
  return makeData({ type: new Int64(), data, ...validity });
}

function doubleData(values: NumberValues, start: number, end: number): Data {
  const data = new Float64Array(end - start);
  for (let index = start; index < end; index++) {
    if (!values.isNull(index)) data[index - start] = values.numberAt(index);
  }
  const validity = validityWhere(end - start, (i) => values.isNull(start + i));
  return makeData({ type: new Float64(), data, ...validity });
}
