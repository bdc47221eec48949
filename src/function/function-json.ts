// Inputs of function calls from JSON, and outputs to JSON text.
import { failure } from '../util/error.ts';
import { normalizeInteger } from '../value/atom.ts';
import { atomToJsonText, previewJson } from '../value/json.ts';
import { isIndexElement } from '../value/path.ts';
import { compareSeconds, printTimestamp } from '../value/timestamp.ts';
import {
  type Embedding,
  effectiveTs,
  NULL_VALUE,
  Row,
  Scalar,
  sortedRow,
  type Value,
} from '../value/value.ts';

/** Objects are rows, arrays rows with columns 0, 1, …; every cell gets the timestamp. */
export function valueFromJson(json: unknown, ts: number): Value {
  switch (typeof json) {
    case 'string':
    case 'number':
      return new Scalar(json === 0 ? 0 : json, ts);
    case 'bigint':
      return new Scalar(normalizeInteger(json), ts);
    case 'boolean':
      return new Scalar(json ? 1 : 0, ts);
  }
  if (json === null || json === undefined) return new Scalar(null, ts);
  if (Array.isArray(json)) {
    const values = json.map((element) => valueFromJson(element, ts));
    return new Row(
      values.map((_, index) => String(index)),
      values,
    );
  }
  const entries = Object.entries(json);
  return sortedRow(
    entries.map(([name]) => name),
    entries.map(([, member]) => valueFromJson(member, ts)),
  );
}

/** The input of one call. @throws INVALID_PARAMETER when it is no object */
export function inputRowFromJson(json: unknown): Row {
  const value = Array.isArray(json) ? undefined : valueFromJson(json, Number.NaN);
  if (value instanceof Row) return value;
  throw failure(
    'INVALID_PARAMETER',
    `input of a function must be an object of input values; got ${previewJson(json)}`,
  );
}

/** `{"output": …}` with rows as arrays of name, value and timestamp. */
export function compatOutput(output: Value, keepValues: readonly string[]): string {
  if (!(output instanceof Row)) return `{"output":${compatValue(output)}}`;
  const members = membersOf(output, keepValues).map(
    ([name, value]) => `${JSON.stringify(name)}:${compatValue(value)}`,
  );
  return `{"output":{${members.join(',')}}}`;
}

/** `[value, date]` with rows as arrays of name, value and timestamp. */
export function datedOutput(output: Value): string {
  return `[${compatValue(output)},${JSON.stringify(printTimestamp(effectiveTs(output)))}]`;
}

/** The output as plain JSON. */
export function plainOutput(output: Value, keepValues: readonly string[]): string {
  if (output instanceof Row && keepValues.length > 0) {
    return objectText(membersOf(output, keepValues));
  }
  return plainValue(output);
}

function compatValue(value: Value): string {
  if (value instanceof Scalar) return atomToJsonText(value.atom);
  if (!(value instanceof Row)) {
    return `{"shape":${JSON.stringify(value.shape)},"type":"${storageType(value)}","val":${nested(value)}}`;
  }
  if (value.length === 0) return 'null';
  const columns = value.names.map((name, index) => {
    const member = value.values[index] as Value;
    const key = isIndexElement(name) ? name : JSON.stringify(name);
    const date = JSON.stringify(printTimestamp(effectiveTs(member)));
    return `[${key},[${compatValue(member)},${date}]]`;
  });
  return `[${columns.join(',')}]`;
}

/** JSON text of a value: rows whose columns are exactly 0, 1, … n - 1 are arrays. */
export function plainValue(value: Value): string {
  if (value instanceof Scalar) return atomToJsonText(value.atom);
  if (!(value instanceof Row)) return nested(value);
  const isArray = value.length > 0 && value.names.every((name, index) => name === String(index));
  if (isArray) return `[${value.values.map(plainValue).join(',')}]`;
  return objectText(membersOf(value, []));
}

function objectText(members: readonly (readonly [string, Value])[]): string {
  const parts = members.map(([name, value]) => `${JSON.stringify(name)}:${plainValue(value)}`);
  return `{${parts.join(',')}}`;
}

/** One value for each name: the latest. With `keep`, exactly these names, null where missing. */
function membersOf(row: Row, keep: readonly string[]): [string, Value][] {
  if (keep.length > 0) {
    return keep.map((name) => [name, latestMember(row.all(name)) ?? NULL_VALUE]);
  }
  const members: [string, Value][] = [];
  for (let i = 0; i < row.length; ) {
    const name = row.names[i] as string;
    let end = i + 1;
    while (row.names[end] === name) end++;
    const value = end === i + 1 ? row.values[i] : latestMember(row.values.slice(i, end));
    members.push([name, value as Value]);
    i = end;
  }
  return members;
}

function latestMember(values: readonly Value[]): Value | undefined {
  let best = values[0];
  for (const value of values) {
    if (compareSeconds(effectiveTs(value), effectiveTs(best as Value)) > 0) best = value;
  }
  return best;
}

/** The atoms of an embedding as arrays in arrays. */
function nested({ shape, atoms }: Embedding): string {
  const write = (dimension: number, offset: number, size: number): string => {
    const count = shape[dimension] ?? 0;
    const parts: string[] = [];
    const inner = count === 0 ? 0 : size / count;
    for (let i = 0; i < count; i++) {
      parts.push(
        dimension === shape.length - 1
          ? atomToJsonText(atoms[offset + i] ?? null)
          : write(dimension + 1, offset + i * inner, inner),
      );
    }
    return `[${parts.join(',')}]`;
  };
  return write(0, 0, atoms.length);
}

function storageType({ atoms }: Embedding): string {
  return atoms.every((atom) => typeof atom === 'number') ? 'FLOAT64' : 'ATOM';
}
