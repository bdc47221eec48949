// Arrow IPC files, streams and Feather files as columns.
import { closeSync, fstatSync, openSync } from 'node:fs';
import {
  type DataType,
  type Field,
  type RecordBatch,
  RecordBatchReader,
  type RecordBatchStreamReader,
  type Schema,
  TimeUnit,
  Type,
  type Vector,
} from 'apache-arrow';
import { failure, RowanError } from '../../util/error.ts';
import { type Atom, normalizeInteger } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnSet } from '../../value/column/column-set.ts';
import type { TablePart } from '../../value/column/concatenate.ts';
import { chunkRowCounts } from '../../value/column/table-builder.ts';
import { Interval } from '../../value/interval.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';
import type { ArrayMode } from '../json/json-columns.ts';
import { decimalAtom, uuidText } from '../parquet/parquet-value.ts';
import { checkArrowData } from './arrow-check.ts';
import { arrowMessages } from './arrow-messages.ts';

export interface ArrowFile {
  readonly columns: readonly string[];
  batches(columns: readonly string[], arrays: ArrayMode): Iterable<TablePart>;
}

/** More rows than this are more than a batch has. */
const ROW_COUNT_MAX = 2 ** 31;
/** Key of what a field says of its type beyond the types of Arrow. */
const EXTENSION_NAME = 'ARROW:extension:name';

/** @throws DATA_ERROR naming the URL when the file is none */
export function openArrowFile(
  path: string,
  url: string,
  arenas: ArenaAllocator,
  check: () => void,
): ArrowFile {
  const first = openReader(path, url);
  const { fields } = first.reader.schema;
  first.close();
  return {
    columns: fields.map(({ name }) => name),
    *batches(columns, arrays) {
      const wanted = new Set(columns);
      const file = openReader(path, url);
      try {
        for (;;) {
          check();
          const next = nextBatch(file.reader, url);
          if (next === undefined) return;
          const { numRows } = next;
          if (!(numRows >= 0 && numRows <= ROW_COUNT_MAX)) {
            throw unreadable(url, new Error(`a batch says that it has ${numRows} rows`));
          }
          const out = new ColumnSet(numRows, arenas);
          const batch = new BatchReader(numRows, arrays, out);
          try {
            for (const field of next.schema.fields) {
              check();
              const vector = next.getChild(field.name);
              if (vector !== null && wanted.has(field.name)) {
                for (const data of vector.data) checkArrowData(data);
                if (vector.length < numRows)
                  throw new Error('a column has fewer rows than its batch');
                batch.add(field, vector);
              }
            }
          } catch (thrown) {
            out.release();
            throw thrown instanceof RowanError ? thrown : unreadable(url, thrown);
          }
          yield { chunkRowCounts: chunkRowCounts(numRows), columns: out.seal() };
        }
      } finally {
        file.close();
      }
    },
  };
}

/** A file whose next messages are read when the next batch is asked for. */
interface OpenFile {
  readonly reader: RecordBatchStreamReader;
  close(): void;
}

function openReader(path: string, url: string): OpenFile {
  const descriptor = openSync(path, 'r');
  try {
    const sizeBytes = fstatSync(descriptor).size;
    const reader = RecordBatchReader.from(arrowMessages({ descriptor, sizeBytes })).open();
    // The library says nothing of a stream that ends before its schema.
    if ((reader.schema as Schema | undefined) === undefined) throw new Error('it has no schema');
    return {
      reader,
      close() {
        reader.cancel();
        closeSync(descriptor);
      },
    };
  } catch (thrown) {
    closeSync(descriptor);
    throw unreadable(url, thrown);
  }
}

function nextBatch(reader: RecordBatchStreamReader, url: string): RecordBatch | undefined {
  try {
    const { done, value } = reader.next();
    return done === true ? undefined : value;
  } catch (thrown) {
    throw unreadable(url, thrown);
  }
}

function unreadable(url: string, thrown: unknown): RowanError {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return failure('DATA_ERROR', `${url} is no Arrow file or stream that can be read: ${reason}`, {
    url,
  });
}

/** Reads a batch into columns, nested values into columns below them. */
class BatchReader {
  readonly #rowCount: number;
  readonly #arrays: ArrayMode;
  readonly #columns: ColumnSet;

  constructor(rowCount: number, arrays: ArrayMode, columns: ColumnSet) {
    this.#rowCount = rowCount;
    this.#arrays = arrays;
    this.#columns = columns;
  }

  add(field: Field, vector: Vector): void {
    if (field.type.typeId === Type.Null) {
      this.#columns.at([field.name]);
      return;
    }
    const record = this.#recorder(field);
    for (let row = 0; row < this.#rowCount; row++) {
      const value: unknown = vector.get(row);
      if (value !== null && value !== undefined) record(value, row);
    }
  }

  #recorder(field: Field): (value: unknown, row: number) => void {
    const path = [field.name];
    if (isNested(field.type)) {
      return (value, row) => this.#recordNested(path, field, value, row);
    }
    const column = this.#columns.at(path);
    const atomOf = atomReader(field);
    return (value, row) => {
      if (column.rowCount < row) column.appendNulls(row - column.rowCount);
      column.append(atomOf(value));
    };
  }

  #recordNested(path: readonly string[], field: Field, value: unknown, row: number): void {
    if (value === null || value === undefined) return;
    const { type } = field;
    if (type.typeId === Type.Struct) {
      const struct = value as Record<string, unknown>;
      for (const inner of type.children as readonly Field[]) {
        this.#recordNested([...path, inner.name], inner, struct[inner.name], row);
      }
      return;
    }
    if (type.typeId === Type.Map) {
      const [entries] = type.children as readonly Field[];
      const [, member] = (entries as Field).type.children as readonly Field[];
      for (const [key, element] of value as Iterable<[unknown, unknown]>) {
        this.#recordNested([...path, String(key)], member as Field, element, row);
      }
      return;
    }
    if (
      type.typeId === Type.List ||
      type.typeId === Type.FixedSizeList ||
      type.typeId === Type.LargeList
    ) {
      const [inner] = type.children as readonly [Field];
      let index = 0;
      for (const element of value as Iterable<unknown>) {
        const isEncoded = this.#arrays === 'encode' && !isNested(inner.type);
        if (isEncoded && element !== null) {
          const atom = atomReader(inner)(element);
          if (atom !== null) this.#put([...path, atomText(atom)], row, 1);
        } else this.#recordNested([...path, String(index)], inner, element, row);
        index++;
      }
      return;
    }
    this.#put(path, row, atomReader(field)(value));
  }

  #put(path: readonly string[], row: number, atom: Atom): void {
    const column = this.#columns.filledTo(path, row);
    // A name that occurs twice in a row: the first value counts.
    if (column.rowCount === row) column.append(atom);
  }
}

function isNested(type: DataType): boolean {
  switch (type.typeId) {
    case Type.Struct:
    case Type.Map:
    case Type.List:
    case Type.LargeList:
    case Type.FixedSizeList:
      return true;
    default:
      return false;
  }
}

/** How a value of a field, as the library gives it, becomes an atom. */
function atomReader({ name, type, metadata }: Field): (value: unknown) => Atom {
  if (metadata.get(EXTENSION_NAME) === 'arrow.uuid') {
    return (value) => uuidText(value as Uint8Array);
  }
  return typedAtomReader(type, name);
}

/** @param name of the field, for messages */
function typedAtomReader(type: DataType, name: string): (value: unknown) => Atom {
  switch (type.typeId) {
    case Type.Null:
      return () => null;
    case Type.Bool:
      return (value) => (value === true ? 1 : 0);
    case Type.Int:
      return (value) => (typeof value === 'bigint' ? normalizeInteger(value) : (value as number));
    case Type.Float:
      return (value) => (value as number) + 0;
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return (value) => value as string;
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
    case Type.FixedSizeBinary:
      return (value) => Uint8Array.from(value as Uint8Array);
    case Type.Decimal: {
      const { scale } = type as DataType & { readonly scale: number };
      return (value) => decimalAtom(littleEndian(value as Uint32Array), scale);
    }
    case Type.Dictionary:
      return typedAtomReader(
        (type as DataType & { readonly dictionary: DataType }).dictionary,
        name,
      );
    // The library gives milliseconds whatever the unit.
    case Type.Date:
    case Type.Timestamp:
      return (value) => new Timestamp(Number(value) / 1000);
    case Type.Time:
    case Type.Duration: {
      const { unit } = type as DataType & { readonly unit: TimeUnit };
      const perSecond = {
        [TimeUnit.SECOND]: 1,
        [TimeUnit.MILLISECOND]: 1e3,
        [TimeUnit.MICROSECOND]: 1e6,
        [TimeUnit.NANOSECOND]: 1e9,
      }[unit];
      return (value) => Interval.ofSigned(0, 0, Number(value as bigint) / perSecond);
    }
    case Type.Interval:
      return (value) => intervalOf(value as Int32Array);
    default:
      throw failure(
        'DATA_ERROR',
        `the column "${name}" has the Arrow type ${type}, which cannot be imported; others can with select`,
      );
  }
}

function littleEndian(words: Uint32Array): bigint {
  let value = 0n;
  for (let i = words.length - 1; i >= 0; i--) value = (value << 32n) | BigInt(words[i] as number);
  return BigInt.asIntN(words.length * 32, value);
}

/** Months, or days and milliseconds, or months, days and nanoseconds. */
function intervalOf(parts: Int32Array): Interval {
  const [first = 0, second = 0] = parts;
  if (parts.length === 1) return Interval.ofSigned(first, 0, 0);
  if (parts.length === 2) return Interval.ofSigned(0, first, second / 1e3);
  const view = new DataView(parts.buffer, parts.byteOffset, parts.byteLength);
  return Interval.ofSigned(first, second, Number(view.getBigInt64(8, true)) / 1e9);
}
