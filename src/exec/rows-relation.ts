// Rows that a query gave, as a relation that other queries and procedures can read.
import type { NeededColumns, Relation, RelationColumn, RelationRow } from '../plan/catalog.ts';
import type { Path } from '../value/path.ts';
import { listColumns } from './general/column-list.ts';
import { type PrepareOptions, type QueryText, queryRows } from './query.ts';

export class RowsRelation implements Relation {
  readonly #rows: readonly RelationRow[];
  #columns: readonly RelationColumn[] | undefined;

  constructor(rows: readonly RelationRow[]) {
    this.#rows = rows;
  }

  get rowCount(): number {
    return this.#rows.length;
  }

  columns(): readonly RelationColumn[] {
    this.#columns ??= listColumns(this.#rows, false);
    return this.#columns;
  }

  columnCount(): number {
    return this.columns().length;
  }

  /** Rows are whole already: leaving columns out would cost more than keeping them. */
  scan(_needed: NeededColumns): Iterable<RelationRow> {
    return this.#rows;
  }

  findRows(name: Path, _needed: NeededColumns): readonly RelationRow[] {
    return this.#rows.filter((row) => row.name.equals(name));
  }

  *rowNames(): Iterable<Path> {
    for (const { name } of this.#rows) yield name;
  }
}

/** Runs a query and holds its rows. */
export function queryRelation(text: QueryText, options: PrepareOptions): RowsRelation {
  return new RowsRelation([...queryRows(text, options)]);
}
