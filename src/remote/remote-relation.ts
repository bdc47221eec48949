// A table of another system as a relation: its rows are fetched each time that they are read.
import type { BoundExpression } from '../plan/expression.ts';
import type { Relation, RelationColumn, RelationRow, RemoteFacet } from '../plan/namespace.ts';
import type { NeededColumns } from '../plan/needed-columns.ts';
import { OPEN_ROW_TYPE, type ValueType } from '../plan/type/type.ts';
import { RowanError } from '../util/error.ts';
import { Path } from '../value/path.ts';
import { type Row, RowBuilder, Scalar } from '../value/value.ts';
import { atomFromWire } from '../value/wire-value.ts';
import { type Condition, conditionOfAll } from './condition.ts';
import type { Connection, RemoteRequest, RemoteSystem, WireRow } from './message.ts';
import type { RemoteAccess } from './remote-access.ts';

/** What is asked for, in words of the other system. */
export interface RemoteScan {
  readonly request: RemoteRequest;
  /** for EXPLAIN; no secrets */
  readonly text: string;
}

/** `Request`: what the driver of the system understands. */
export abstract class RemoteRelation<Request> implements Relation {
  remote: RemoteFacet;
  protected abstract readonly system: RemoteSystem;
  protected readonly access: RemoteAccess;
  #rowCount: number | undefined;

  /** @param listsColumns whether the columns are known without reading the rows */
  constructor(access: RemoteAccess, listsColumns: boolean) {
    this.access = access;
    this.remote = {
      listsColumns,
      rowType: () => this.columnTypes(),
      describe: (needed, prefilter) => this.#scanOf(needed, prefilter).text,
    };
  }

  protected abstract connection(): Connection;
  protected abstract scanFor(needed: NeededColumns, condition: Condition | undefined): RemoteScan;
  /** The request for the rows of a name; undefined: no row can have it. */
  protected abstract lookupFor(name: Path, needed: NeededColumns): RemoteRequest | undefined;
  protected abstract countRows(): number;
  /** The types of columns that always have one. */
  protected columnTypes(): ValueType {
    return OPEN_ROW_TYPE;
  }

  abstract columns(): readonly RelationColumn[];

  /** As the other system estimates it, where counting would read all rows. */
  get rowCount(): number {
    this.#rowCount ??= this.countRows();
    return this.#rowCount;
  }

  columnCount(): number {
    return this.columns().length;
  }

  scan(needed: NeededColumns, prefilter: readonly BoundExpression[] = []): Iterable<RelationRow> {
    return this.rowsOf(this.#scanOf(needed, prefilter).request);
  }

  findRows(name: Path, needed: NeededColumns): readonly RelationRow[] {
    const request = this.lookupFor(name, needed);
    if (request === undefined) return [];
    return [...this.rowsOf(request)].filter((row) => row.name.equals(name));
  }

  *rowNames(): Iterable<Path> {
    for (const { name } of this.scan([])) yield name;
  }

  protected request(request: Request): RemoteRequest {
    return { system: this.system, connection: this.connection(), request };
  }

  #scanOf(needed: NeededColumns, prefilter: readonly BoundExpression[]): RemoteScan {
    return this.scanFor(needed, conditionOfAll(prefilter));
  }

  protected *rowsOf(request: RemoteRequest): Iterable<RelationRow> {
    const paths = new PathLists();
    let index = 0;
    for (const wire of this.access.rows(request)) {
      if (wire.error !== undefined) throw RowanError.fromBody(wire.error);
      yield {
        name: wire.name === undefined ? Path.of(String(index)) : new Path(wire.name),
        row: rowOf(wire, paths.of(wire.paths)),
      };
      index++;
    }
  }
}

/** Paths are made once for the rows that share them. */
export class PathLists {
  #wire: WireRow['paths'] | undefined;
  #paths: readonly Path[] = [];

  of(wire: WireRow['paths']): readonly Path[] {
    if (wire !== this.#wire) {
      this.#wire = wire;
      this.#paths = wire.map((elements) => new Path(elements));
    }
    return this.#paths;
  }
}

export function rowOf({ atoms, ts }: WireRow, paths: readonly Path[]): Row {
  const builder = new RowBuilder();
  atoms.forEach((atom, index) => {
    builder.addPath(paths[index] as Path, new Scalar(atomFromWire(atom), ts));
  });
  return builder.build();
}
