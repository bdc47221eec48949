// The columns of rows that were never stored: counted by looking at every row.
import type { RelationColumn } from '../../plan/namespace.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { flatten, type Row } from '../../value/value.ts';
import { keyOf } from './column-key.ts';
import type { ExecRow } from './row.ts';

/** Flattened columns, or top-level members, in natural order with the rows that have them. */
export function listColumns(rows: Iterable<ExecRow>, structured: boolean): RelationColumn[] {
  const columns = new Map<string, { path: Path; rowCount: number }>();
  for (const { row } of rows) {
    for (const [key, path] of structured ? topPaths(row) : flatPaths(row)) {
      const column = columns.get(key);
      if (column === undefined) columns.set(key, { path, rowCount: 1 });
      else column.rowCount++;
    }
  }
  return [...columns.values()].sort((a, b) => comparePaths(a.path, b.path));
}

function flatPaths(row: Row): Map<string, Path> {
  const paths = new Map<string, Path>();
  flatten(row, [], (path) => paths.set(keyOf(path), path));
  return paths;
}

function topPaths(row: Row): Map<string, Path> {
  return new Map(
    row.names.map((name) => {
      const path = new Path([name]);
      return [keyOf(path), path];
    }),
  );
}
