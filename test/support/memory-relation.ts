// A relation over rows written in a test.
import type { Relation, RelationColumn, RelationRow } from '../../src/plan/namespace.ts';
import type { NeededColumns } from '../../src/plan/needed-columns.ts';
import { atomFromJson, pathFromJson, timestampFromJson } from '../../src/value/json.ts';
import { comparePaths, type Path } from '../../src/value/path.ts';
import { flatten, type Row, RowBuilder, Scalar } from '../../src/value/value.ts';

/** `[column, value, timestamp]` in the JSON forms of recorded rows. */
export type PointJson = readonly [column: unknown, value: unknown, timestamp: unknown];
export type RowJson = readonly [name: unknown, points: readonly PointJson[]];

export class MemoryRelation implements Relation {
  readonly #rows = new Map<string, { name: Path; points: PointJson[]; row: Row | undefined }>();
  /** the columns that scans asked for, in order */
  readonly scans: NeededColumns[] = [];
  lookups = 0;

  constructor(rows: readonly RowJson[] = []) {
    this.record(rows);
  }

  record(rows: readonly RowJson[]): void {
    for (const [nameJson, points] of rows) {
      const name = pathFromJson(nameJson);
      const key = name.toString();
      const known = this.#rows.get(key);
      if (known === undefined) this.#rows.set(key, { name, points: [...points], row: undefined });
      else {
        known.points.push(...points);
        known.row = undefined;
      }
    }
  }

  get rowCount(): number {
    return this.#rows.size;
  }

  columns(): readonly RelationColumn[] {
    const columns = new Map<string, { path: Path; rowCount: number }>();
    for (const { row } of this.#all()) {
      const seen = new Set<string>();
      flatten(row, [], (path) => {
        const key = path.toString();
        if (seen.has(key)) return;
        seen.add(key);
        const column = columns.get(key) ?? { path, rowCount: 0 };
        column.rowCount++;
        columns.set(key, column);
      });
    }
    return [...columns.values()].sort((a, b) => comparePaths(a.path, b.path));
  }

  columnCount(): number {
    return this.columns().length;
  }

  scan(needed: NeededColumns): Iterable<RelationRow> {
    this.scans.push(needed);
    return this.#all().map(({ name, row }) => ({ name, row: narrow(row, needed) }));
  }

  findRows(name: Path, needed: NeededColumns): readonly RelationRow[] {
    this.lookups++;
    return this.#all()
      .filter((row) => row.name.equals(name))
      .map((row) => ({ name: row.name, row: narrow(row.row, needed) }));
  }

  *rowNames(): Iterable<Path> {
    for (const { name } of this.#rows.values()) yield name;
  }

  #all(): RelationRow[] {
    return [...this.#rows.values()].map((entry) => {
      entry.row ??= buildRow(entry.points);
      return { name: entry.name, row: entry.row };
    });
  }
}

/** Only the cells that are needed, so that a test fails when a query asks for too little. */
function narrow(row: Row, needed: NeededColumns): Row {
  if (needed === 'all') return row;
  const builder = new RowBuilder();
  flatten(row, [], (path, atom, ts) => {
    if (needed.some((wanted) => path.startsWith(wanted)))
      builder.addPath(path, new Scalar(atom, ts));
  });
  return builder.build();
}

function buildRow(points: readonly PointJson[]): Row {
  const builder = new RowBuilder();
  for (const [column, value, timestamp] of points) {
    builder.addPath(
      pathFromJson(column),
      new Scalar(atomFromJson(value), timestampFromJson(timestamp)),
    );
  }
  return builder.build();
}
