// Recorded rows from an Arrow IPC stream: one row a row, a null is no cell.
import { type Field, type RecordBatch, RecordBatchReader, Type, type Vector } from 'apache-arrow';
import { failure } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';
import { type Atom, normalizeInteger } from '../value/atom.ts';
import { atomFromJson } from '../value/json.ts';
import { Path } from '../value/path.ts';
import { Timestamp } from '../value/timestamp.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';

/** The column that names rows; without it they are named by their number in the body. */
const ROW_NAME = '_rowName';
/** Marks columns whose texts are the JSON of cells. */
const MIXED_KEY = 'rowan.mixed';

/**
 * @param ts timestamp of every cell, in seconds
 * @param firstRow number of the first row, where rows have no names
 * @throws INVALID_PARAMETER for what is no stream, and for types that have no atom
 */
export function* rowsFromArrow(body: Uint8Array, ts: number, firstRow = 0): Generator<RecordedRow> {
  let number = firstRow;
  for (const batch of batchesOf(body)) {
    const names = batch.getChild(ROW_NAME);
    const columns = batch.schema.fields
      .filter((field) => field.name !== ROW_NAME)
      .map((field) => columnReader(field, batch.getChild(field.name) as Vector));
    for (let row = 0; row < batch.numRows; row++) {
      const name = names === null ? Path.of(String(number)) : rowName(names.get(row));
      number++;
      const cells: RecordedCell[] = [];
      for (const { path, read } of columns) {
        const atom = read(row);
        if (atom !== null) cells.push([path, atom, ts]);
      }
      yield { name, cells };
    }
  }
}

function* batchesOf(body: Uint8Array): Iterable<RecordBatch> {
  try {
    const reader = RecordBatchReader.from(Uint8Array.from(body)).open();
    // Bytes that are something else look like a stream without a schema.
    if (reader.schema === undefined) throw new Error('it has no schema');
    yield* reader;
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw failure('INVALID_PARAMETER', `request body is not an Arrow IPC stream: ${reason}`);
  }
}

function rowName(value: unknown): Path {
  if (typeof value === 'string') return Path.parse(value);
  if (typeof value === 'number' || typeof value === 'bigint') return Path.of(String(value));
  throw failure('INVALID_PARAMETER', `${ROW_NAME} must be a text or a number in every row`);
}

interface ColumnReader {
  readonly path: Path;
  read(row: number): Atom;
}

function columnReader(field: Field, vector: Vector): ColumnReader {
  const path = Path.parse(field.name);
  if (path.length === 0) {
    throw failure('INVALID_PARAMETER', 'empty column names are not allowed');
  }
  const convert = converterOf(field);
  return {
    path,
    read(row) {
      const value: unknown = vector.get(row);
      return value === null || value === undefined ? null : convert(value);
    },
  };
}

function converterOf(field: Field): (value: unknown) => Atom {
  const type = field.type.typeId === Type.Dictionary ? field.type.dictionary : field.type;
  switch (type.typeId) {
    case Type.Bool:
      return (value) => (value === true ? 1 : 0);
    case Type.Int:
      return (value) => (typeof value === 'bigint' ? normalizeInteger(value) : (value as number));
    case Type.Float:
      return (value) => value as number;
    case Type.Utf8:
    case Type.LargeUtf8:
      return field.metadata.get(MIXED_KEY) === 'true'
        ? (value) => atomFromJson(parseJson(value as string))
        : (value) => value as string;
    case Type.Binary:
    case Type.LargeBinary:
    case Type.FixedSizeBinary:
      return (value) => Uint8Array.from(value as Uint8Array);
    case Type.Timestamp:
    case Type.Date:
      // The library gives milliseconds whatever the unit.
      return (value) => new Timestamp(Number(value) / 1000);
    case Type.Null:
      return () => null;
    default:
      throw failure(
        'INVALID_PARAMETER',
        `column '${field.name}' has the Arrow type ${field.type}; accepted are booleans, integers, floats, texts, binaries, dates and timestamps`,
      );
  }
}
