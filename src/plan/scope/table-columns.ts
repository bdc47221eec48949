// What is known of the columns of a table: their order, and whether a name is one of them.
import { findNearestWord } from '../../util/nearest-word.ts';
import type { ColumnOrder } from '../column-order.ts';
import { isClosed } from '../column-order.ts';

export class TableColumns {
  readonly order: ColumnOrder;
  readonly #listed: (() => ReadonlySet<string>) | undefined;
  #names: ReadonlySet<string> | undefined;

  /** @param listed the first elements of the columns that an open table has now */
  constructor(order: ColumnOrder, listed?: () => ReadonlySet<string>) {
    this.order = order;
    this.#listed = listed;
  }

  /** True when the table can have no other columns. */
  get closed(): boolean {
    return isClosed(this.order);
  }

  /** True when all columns are known that the table has now, though others may come. */
  get areListed(): boolean {
    return (this.#listed?.().size ?? 0) > 0;
  }

  /** True when the name is certainly a column or the beginning of one. */
  has(name: string): boolean {
    return this.#known().has(name);
  }

  /** The only name that is the same but for its case. */
  findInAnyCase(name: string): string | undefined {
    const lower = name.toLowerCase();
    const found = [...this.#known()].filter((known) => known.toLowerCase() === lower);
    return found.length === 1 ? found[0] : undefined;
  }

  nearest(name: string): string | undefined {
    return findNearestWord(name, this.#known());
  }

  #known(): ReadonlySet<string> {
    this.#names ??= new Set([
      ...this.order.paths.map((path) => path[0] as string),
      ...(this.#listed?.() ?? []),
    ]);
    return this.#names;
  }
}
