// The bodies of the recording routes to recorded rows.
import { failure, withDetails } from '../util/error.ts';
import { every } from '../util/every.ts';
import { parseJson } from '../util/exact-json.ts';
import { atomFromJson, pathFromJson, previewJson, timestampFromJson } from '../value/json.ts';
import type { Path } from '../value/path.ts';
import type { RecordedCell, RecordedRow } from './recorded-row.ts';

/** Which shape a JSON body has: one row, many rows, one column, many columns. */
export type JsonForm = 'rows' | 'multirows' | 'columns' | 'multicolumns';

/** JSON, JSON line by line, or an Arrow stream. */
export type RecordingForm = JsonForm | 'ndjson' | 'arrow';

/** What each form looks like, for messages and documentation. */
export const JSON_FORMS: Readonly<Record<JsonForm, string>> = {
  rows: '{"rowName": name, "columns": [[column, value, timestamp], …]}',
  multirows: '[[rowName, [[column, value, timestamp], …]], …]',
  columns: '{"columnName": name, "rows": [[rowName, value, timestamp], …]}',
  multicolumns: '[[columnName, [[rowName, value, timestamp], …]], …]',
};

/**
 * @param look called in between while columns are made rows
 * @throws EMPTY_PAYLOAD; INVALID_PARAMETER naming what is wrong, when its row is reached: the
 *   indexes of its row or column and of its cell are details
 */
export function rowsFromJson(
  form: JsonForm,
  json: unknown,
  look: () => void = () => undefined,
): Iterable<RecordedRow> {
  if (json === undefined) {
    throw failure('EMPTY_PAYLOAD', { form: 'rows', rows: JSON_FORMS[form] });
  }
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
        eachOf(arrayOf(json, 'columns'), 'column', (pair): [Path, unknown[]] => {
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
    cells: cellsOf(row.columns ?? []),
  };
}

function* rowsFromPairs(pairs: readonly unknown[]): Iterable<RecordedRow> {
  let row = 0;
  try {
    for (; row < pairs.length; row++) yield rowFromPair(pairs[row]);
  } catch (thrown) {
    throw withDetails(thrown, { row });
  }
}

function rowFromPair(json: unknown): RecordedRow {
  const [name, columns] = pairOf(json);
  return { name: rowName(name), cells: cellsOf(columns) };
}

function cellsOf(json: unknown): RecordedCell[] {
  return eachOf(arrayOf(json, 'columns of a row'), 'cell', cellFromTriple);
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
  const addCell = (column: Path, triple: unknown): void => {
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
  };
  eachOf(columns, 'column', ([column, triples]) => {
    eachOf(triples, 'cell', (triple) => addCell(column, triple));
  });
  return rows.values();
}

/** All elements converted. @throws the first failure with the index of its element */
function eachOf<Element, Made>(
  elements: readonly Element[],
  noun: 'column' | 'cell',
  convert: (element: Element) => Made,
): Made[] {
  const made: Made[] = [];
  try {
    for (const element of elements) made.push(convert(element));
  } catch (thrown) {
    throw withDetails(thrown, { [noun]: made.length });
  }
  return made;
}

function rowName(json: unknown): Path {
  return nameOf(json, 'row');
}

function columnName(json: unknown): Path {
  return nameOf(json, 'column');
}

function nameOf(json: unknown, what: 'row' | 'column'): Path {
  if (json === undefined) {
    throw failure('INVALID_PARAMETER', `Unparseable JSON Path value: ${what}Name is missing`);
  }
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
