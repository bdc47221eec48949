// Reading a path in a row: one value for operators, all points for select lists.
import { compareSeconds } from '../../../value/timestamp.ts';
import {
  compareValues,
  Embedding,
  effectiveTs,
  embeddingAsRow,
  mergeRows,
  NULL_VALUE,
  Row,
  Scalar,
  type Value,
} from '../../../value/value.ts';
import type { Points } from '../frame.ts';

const NOTHING: readonly Value[] = [];

/** Everything stored at a path: several points, or a scalar beside a nested row. */
export function valuesAt(value: Value, path: readonly string[], from = 0): readonly Value[] {
  if (from === path.length) return [value];
  if (value instanceof Embedding) return valuesInEmbedding(value, path, from);
  if (!(value instanceof Row)) return NOTHING;
  const name = path[from] as string;
  const first = value.indexOf(name);
  if (first === -1) return NOTHING;
  if (value.names[first + 1] !== name) {
    return valuesAt(value.values[first] as Value, path, from + 1);
  }
  return value.all(name).flatMap((member) => valuesAt(member, path, from + 1));
}

function valuesInEmbedding(
  embedding: Embedding,
  path: readonly string[],
  from: number,
): readonly Value[] {
  const name = path[from] as string;
  const index = Number(name);
  if (String(index) !== name || !(index >= 0 && index < embedding.length)) return NOTHING;
  return valuesAt(embedding.at(index), path, from + 1);
}

/** The one value that operators see; null when nothing is there. */
export function latestAt(value: Value, path: readonly string[]): Value {
  return latestAmong(valuesAt(value, path));
}

/** All points at a path; null when nothing is there. */
export function pointsAt(value: Value, path: readonly string[]): Points {
  const values = valuesAt(value, path);
  if (values.length === 0) return NULL_VALUE;
  return values.length === 1 ? (values[0] as Value) : values;
}

/** The latest of several points, the smallest among equally late ones; atoms before rows. */
export function latestAmong(values: readonly Value[]): Value {
  let best = values[0];
  if (best === undefined) return NULL_VALUE;
  for (let i = 1; i < values.length; i++) best = laterPoint(best, values[i] as Value);
  return best;
}

export function latestOfPoints(points: Points): Value {
  return Array.isArray(points) ? latestAmong(points) : (points as Value);
}

function laterPoint(a: Value, b: Value): Value {
  if (a instanceof Row || b instanceof Row) {
    if (a instanceof Row && b instanceof Row) return mergeRows(a, b);
    return a instanceof Row ? b : a;
  }
  const order = compareSeconds(effectiveTs(b), effectiveTs(a));
  return order > 0 || (order === 0 && compareValues(b, a) < 0) ? b : a;
}

/** The same value with only the latest point of every cell; itself when no cell has several. */
export function latestVersions(value: Value): Value {
  return value instanceof Row ? latestRow(value) : value;
}

export function latestRow(row: Row): Row {
  if (!hasRepeats(row)) return row;
  const names: string[] = [];
  const values: Value[] = [];
  for (let i = 0; i < row.length; ) {
    const name = row.names[i] as string;
    let end = i + 1;
    while (end < row.length && row.names[end] === name) end++;
    const group = row.values.slice(i, end);
    const points = group.filter((value) => !(value instanceof Row));
    if (points.length > 0) {
      names.push(name);
      values.push(latestAmong(points));
    }
    for (const value of group) {
      if (!(value instanceof Row)) continue;
      names.push(name);
      values.push(latestRow(value));
    }
    i = end;
  }
  return new Row(names, values);
}

function hasRepeats(row: Row): boolean {
  const { names, values } = row;
  for (let i = 0; i < names.length; i++) {
    if (i > 0 && names[i] === names[i - 1]) return true;
    const value = values[i];
    if (value instanceof Row && hasRepeats(value)) return true;
  }
  return false;
}

/** The members of a value for an extract, `row_dataset` and `AS *`; undefined for an atom. */
export function asRow(value: Value): Row | undefined {
  if (value instanceof Row) return value;
  return value instanceof Embedding ? embeddingAsRow(value) : undefined;
}

export function isNull(value: Value): boolean {
  return value instanceof Scalar && value.atom === null;
}
