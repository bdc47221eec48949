import type { RelationColumn } from '../../plan/namespace.ts';
import type { NeededColumns } from '../../plan/needed-columns.ts';
import { RowanError } from '../../util/error.ts';
import { comparePaths, Path } from '../../value/path.ts';
import type { Condition } from '../condition.ts';
import type { Connection, RemoteRequest } from '../message.ts';
import type { RemoteAccess } from '../remote-access.ts';
import { RemoteRelation, type RemoteScan } from '../remote-relation.ts';
import { docdbConnection } from './docdb-address.ts';
import { docdbFilter, fieldOf } from './docdb-filter.ts';
import type { DocdbRequest } from './docdb-request.ts';

/** A collection: a row for each document, named by its object id. */
export class DocdbRelation extends RemoteRelation<DocdbRequest> {
  protected readonly system = 'docdb';
  readonly #uri: string;
  readonly #collection: string;

  constructor(uri: string, collection: string, access: RemoteAccess) {
    super(access, false);
    this.#uri = uri;
    this.#collection = collection;
  }

  /** Documents have the fields that they have: all are read. */
  columns(): readonly RelationColumn[] {
    const counts = new Map<readonly (readonly string[])[], number>();
    for (const { paths, error } of this.access.rows(this.#find({}, 'all'))) {
      if (error !== undefined) throw RowanError.fromBody(error);
      counts.set(paths, (counts.get(paths) ?? 0) + 1);
    }
    const columns = new Map<string, { readonly path: Path; rowCount: number }>();
    for (const [paths, count] of counts) {
      for (const elements of paths) {
        const path = new Path(elements);
        const key = path.toString();
        const known = columns.get(key);
        if (known === undefined) columns.set(key, { path, rowCount: count });
        else known.rowCount += count;
      }
    }
    return [...columns.values()].sort((a, b) => comparePaths(a.path, b.path));
  }

  protected countRows(): number {
    const request = { kind: 'count', collection: this.#collection } as const;
    return this.access.execute(this.request(request)) as number;
  }

  protected scanFor(needed: NeededColumns, condition: Condition | undefined): RemoteScan {
    const filter = (condition === undefined ? undefined : docdbFilter(condition)) ?? {};
    const fields = fieldsOf(needed);
    const projection = fields === undefined ? '' : `, projection: ${JSON.stringify(fields)}`;
    return {
      request: this.#find(filter, needed),
      text: `find ${this.#collection} ${JSON.stringify(filter)}${projection}`,
    };
  }

  protected lookupFor(name: Path, needed: NeededColumns): RemoteRequest | undefined {
    const [id = ''] = name.elements;
    if (name.length !== 1 || !/^[0-9a-f]{24}$/.test(id)) return undefined;
    return this.#find({ _id: { $oid: id } }, needed);
  }

  #find(filter: object, needed: NeededColumns): RemoteRequest {
    return this.request({
      kind: 'find',
      collection: this.#collection,
      filter: JSON.stringify(filter),
      fields: fieldsOf(needed),
    });
  }

  protected connection(): Connection {
    return docdbConnection(this.#uri, this.access);
  }
}

/** Top-level fields; undefined: all, also where a name means something else to the server. */
function fieldsOf(needed: NeededColumns): readonly string[] | undefined {
  if (needed === 'all') return undefined;
  const fields = new Set(['_id', ...needed.map(({ elements }) => elements[0] as string)]);
  return [...fields].every((field) => fieldOf([field]) !== undefined) ? [...fields] : undefined;
}
