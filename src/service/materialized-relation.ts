// Rows of a query kept as a relation, for a single pass over them.
import type { Relation, RelationColumn, RelationRow } from '../plan/catalog.ts';
import { comparePaths, type Path } from '../value/path.ts';
import { flatten } from '../value/value.ts';

export function materialize(rows: Iterable<RelationRow>): Relation {
  const kept = [...rows];
  let columns: RelationColumn[] | undefined;
  const listColumns = (): RelationColumn[] => {
    columns ??= columnsOf(kept);
    return columns;
  };
  return {
    rowCount: kept.length,
    columns: listColumns,
    columnCount: () => listColumns().length,
    scan: () => kept,
    findRows: (name) => kept.filter((row) => row.name.equals(name)),
    rowNames: () => kept.map(({ name }) => name),
  };
}

function columnsOf(rows: readonly RelationRow[]): RelationColumn[] {
  const counts = new Map<string, { readonly path: Path; rowCount: number }>();
  for (const { row } of rows) {
    const seen = new Set<string>();
    flatten(row, [], (path) => {
      const key = path.toString();
      if (seen.has(key)) return;
      seen.add(key);
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { path, rowCount: 1 });
      else known.rowCount++;
    });
  }
  return [...counts.values()].sort((a, b) => comparePaths(a.path, b.path));
}
