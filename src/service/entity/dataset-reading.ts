// What the reading routes of a dataset answer, as JSON text in pieces.
import type { DatasetContent, DatasetType } from '../../dataset/dataset-type.ts';
import type { Relation } from '../../plan/namespace.ts';
import { every } from '../../util/every.ts';
import { type Atom, compareAtoms } from '../../value/atom.ts';
import { encodeAtom } from '../../value/atom-codec.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Path } from '../../value/path.ts';
import { compareSeconds, printTimestamp } from '../../value/timestamp.ts';
import { flatten } from '../../value/value.ts';
import type { DatasetReading } from '../engine/engine-task.ts';

export interface ReadingSource {
  readonly relation: Relation;
  readonly type: DatasetType;
  readonly content: DatasetContent;
  checkCancelled(): void;
}

/** Rows between two looks at the cancel flag. */
const ROWS_PER_CHECK = 4096;
const COMPARISONS_PER_CHECK = 16_384;

/** The elements of the JSON array that answers a reading. */
export function readDataset(reading: DatasetReading, source: ReadingSource): Iterable<string> {
  switch (reading.what) {
    case 'rows':
      return quoted(slice(source.relation.rowNames(), reading.start, reading.limit));
    case 'columns':
      return quoted(slice(columnNames(source), reading.offset, reading.limit));
    case 'values':
      return [...countValues(source, reading.column)].map(([, { atom }]) => atomToJsonText(atom));
    case 'valuecounts':
      return slice(countValues(source, reading.column), reading.offset, reading.limit, (entry) => {
        const [, { atom, rowCount }] = entry;
        return `[${atomToJsonText(atom)},${rowCount}]`;
      });
    case 'timestampRange':
      return timestampRange(source);
  }
}

function columnNames({ relation, type, content }: ReadingSource): Iterable<Path> {
  return type.columnNames?.(content) ?? relation.columns().map(({ path }) => path);
}

function* quoted(names: Iterable<Path>): Iterable<string> {
  for (const name of names) yield JSON.stringify(name.toString());
}

function slice<Item>(items: Iterable<Item>, start: number, limit: number): Iterable<Item>;
function slice<Item, Out>(
  items: Iterable<Item>,
  start: number,
  limit: number,
  map: (item: Item) => Out,
): Iterable<Out>;
function* slice<Item>(
  items: Iterable<Item>,
  start: number,
  limit: number,
  map: (item: Item) => unknown = (item) => item,
): Iterable<unknown> {
  let index = 0;
  const end = limit < 0 ? Number.POSITIVE_INFINITY : start + limit;
  for (const item of items) {
    if (index >= end) return;
    if (index++ >= start) yield map(item);
  }
}

interface CountedValue {
  readonly atom: Atom;
  rowCount: number;
}

/** The distinct values of a column in value order, each with the rows that have it. */
function countValues(source: ReadingSource, column: string): [string, CountedValue][] {
  const path = Path.parse(column);
  const counts = new Map<string, CountedValue>();
  let rowIndex = 0;
  for (const { row } of source.relation.scan([path])) {
    if (rowIndex++ % ROWS_PER_CHECK === 0) source.checkCancelled();
    const seen = new Set<string>();
    flatten(row, [], (cellPath, atom) => {
      if (!cellPath.equals(path)) return;
      const key = keyOf(atom);
      if (seen.has(key)) return;
      seen.add(key);
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { atom, rowCount: 1 });
      else known.rowCount++;
    });
  }
  const look = every(COMPARISONS_PER_CHECK, () => source.checkCancelled());
  return [...counts].sort(([, a], [, b]) => {
    look();
    return compareAtoms(a.atom, b.atom);
  });
}

function keyOf(atom: Atom): string {
  if (typeof atom === 'string') return `s${atom}`;
  if (typeof atom === 'number') return `n${atom}`;
  return `x${Buffer.from(encodeAtom(atom)).toString('latin1')}`;
}

function timestampRange({ relation, checkCancelled }: ReadingSource): string[] {
  let earliest: number | undefined;
  let latest: number | undefined;
  let rowIndex = 0;
  for (const { row } of relation.scan('all')) {
    if (rowIndex++ % ROWS_PER_CHECK === 0) checkCancelled();
    flatten(row, [], (_path, _atom, ts) => {
      if (earliest === undefined || compareSeconds(ts, earliest) < 0) earliest = ts;
      if (latest === undefined || compareSeconds(ts, latest) > 0) latest = ts;
    });
  }
  return [earliest, latest].map((ts) =>
    ts === undefined ? 'null' : JSON.stringify(printTimestamp(ts)),
  );
}
