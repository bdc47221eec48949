// The bodies of the recording routes to recorded rows.
import { failure } from '../util/error.ts';
import { every } from '../util/every.ts';
import { parseJson } from '../util/exact-json.ts';
import { atomFromJson, pathFromJson, previewJson, timestampFromJson } from '../value/json.ts';
import type { Path } from '../value/path.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';

/** Which shape a JSON body has: one row, many rows, one column, many columns. */
export type JsonForm = 'rows' | 'multirows' | 'columns' | 'multicolumns';

/** JSON, JSON line by line, or an Arrow stream. */
export type RecordingForm = JsonForm | 'ndjson' | 'arrow';

/**
 * @param look called in between while columns are made rows
 * @throws INVALID_PARAMETER naming what is wrong, when its row is reached
 */
export function rowsFromJson(
  form: JsonForm,
  json: unknown,
  look: () => void = () => undefined,
): Iterable<RecordedRow> {
  switch (form) {
    case 'rows':
      return [rowFromObject(json)];
    case 'multirows':
      return rowsFromPairs(arrayOf(json, 'rows'));
    case 'columns': {
      const column = objectOf(json, 'column');
      return transpose([[columnName(column.columnName), arrayOf(column.rows ?? [], 'rows')]], look);
    }
    case 'multicolumns':
      return transpose(
        arrayOf(json, 'columns').map((pair): [Path, unknown[]] => {
          const [name, rows] = pairOf(pair);
          return [columnName(name), arrayOf(rows, 'rows of a column')];
        }),
        look,
      );
  }
}

/** One `[rowName, [[column, value, timestamp], …]]` or `{"rowName","columns"}` a line. */
export function rowFromNdjson(line: string): RecordedRow {
  const json = parseJson(line);
  return Array.isArray(json) ? rowFromPair(json) : rowFromObject(json);
}

function rowFromObject(json: unknown): RecordedRow {
  const row = objectOf(json, 'row');
  return {
    name: rowName(row.rowName),
    cells: arrayOf(row.columns ?? [], 'columns of a row').map(cellFromTriple),
  };
}

function* rowsFromPairs(pairs: readonly unknown[]): Iterable<RecordedRow> {
  for (const pair of pairs) yield rowFromPair(pair);
}

function rowFromPair(json: unknown): RecordedRow {
  const [name, columns] = pairOf(json);
  return { name: rowName(name), cells: arrayOf(columns, 'columns of a row').map(cellFromTriple) };
}

function cellFromTriple(json: unknown): RecordedCell {
  const [column, value, ts] = tripleOf(json);
  return [columnName(column), atomFromJson(value), timestampFromJson(ts)];
}

const CELLS_PER_LOOK = 4096;

/** Columns become rows in the order in which row names first appear. */
function transpose(
  columns: readonly (readonly [Path, readonly unknown[]])[],
  look: () => void,
): Iterable<RecordedRow> {
  const rows = new Map<string, { name: Path; cells: RecordedCell[] }>();
  const lookUp = every(CELLS_PER_LOOK, look);
  for (const [column, triples] of columns) {
    for (const triple of triples) {
      lookUp();
      const [rawName, value, ts] = tripleOf(triple);
      const name = rowName(rawName);
      const key = name.toString();
      let row = rows.get(key);
      if (row === undefined) {
        row = { name, cells: [] };
        rows.set(key, row);
      }
      row.cells.push([column, atomFromJson(value), timestampFromJson(ts)]);
    }
  }
  return rows.values();
}

function rowName(json: unknown): Path {
  return nameOf(json, 'row');
}

function columnName(json: unknown): Path {
  return nameOf(json, 'column');
}

function nameOf(json: unknown, what: 'row' | 'column'): Path {
  const path = pathFromJson(json);
  if (path.length > 0) return path;
  throw failure('INVALID_PARAMETER', `empty ${what} names are not allowed`);
}

function objectOf(json: unknown, what: string): Record<string, unknown> {
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
    return json as Record<string, unknown>;
  }
  throw failure('INVALID_PARAMETER', `${what} ${previewJson(json)} is not an object`);
}

function arrayOf(json: unknown, what: string): unknown[] {
  if (Array.isArray(json)) return json;
  throw failure('INVALID_PARAMETER', `${what}: expected an array; got ${previewJson(json)}`);
}

function pairOf(json: unknown): unknown[] {
  if (Array.isArray(json) && json.length === 2) return json;
  throw failure('INVALID_PARAMETER', `expected 2 element array; got ${previewJson(json)}`);
}

function tripleOf(json: unknown): unknown[] {
  const triple = arrayOf(json, 'data point');
  if (triple.length === 3) return triple;
  const fault = triple.length > 3 ? 'too many elements' : 'not enough elements';
  throw failure(
    'INVALID_PARAMETER',
    `${fault} in data point ${previewJson(json)}: expected are name, value and timestamp`,
  );
}
