// Tables that tell their columns.
import { RemoteRelation } from './remote-relation.ts';

/** `Table`: what the system says of a table. */
export abstract class RemoteTable<Request, Table> extends RemoteRelation<Request> {
  #known: Table | undefined;

  protected abstract tableRequest(): Request;
  /** @throws for a table that cannot be read */
  protected checkTable(_table: Table): void {}

  /** Asked for once. */
  protected table(): Table {
    if (this.#known === undefined) {
      const table = this.access.execute(this.request(this.tableRequest())) as Table;
      this.checkTable(table);
      this.#known = table;
    }
    return this.#known;
  }
}
