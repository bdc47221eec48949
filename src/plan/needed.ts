// The columns that expressions read from their input row.
import { Path } from '../value/path.ts';
import { childrenOf, itemExpressions } from './children.ts';
import type { BoundExpression, ProjectItem } from './expression.ts';
import type { NeededColumns } from './needed-columns.ts';

/** A growing set of column paths, or everything. */
export class NeededSet {
  readonly #paths = new Map<string, Path>();
  #all = false;

  addAll(): void {
    this.#all = true;
  }

  addPath(elements: readonly string[]): void {
    const path = new Path(elements);
    this.#paths.set(path.toString(), path);
  }

  add(needed: NeededColumns): void {
    if (needed === 'all') this.addAll();
    else for (const path of needed) this.addPath(path.elements);
  }

  addExpression(expression: BoundExpression | undefined): void {
    if (expression === undefined) return;
    if (expression.kind === 'column') this.addPath(expression.path);
    else if (expression.kind === 'row') this.addItems(expression.items);
    else if (expression.kind === 'row-function' && expression.function === 'columnCount') {
      this.addAll();
    } else for (const child of childrenOf(expression)) this.addExpression(child);
  }

  addItems(items: readonly ProjectItem[]): void {
    for (const item of items) {
      const runsOverColumns = item.kind === 'wildcard' || item.kind === 'column-expression';
      if (runsOverColumns && item.source === 'input') this.addAll();
      for (const expression of itemExpressions(item)) this.addExpression(expression);
    }
  }

  /** The first elements of the paths, in the order in which they were added. */
  variables(): readonly string[] {
    return [...new Set([...this.#paths.values()].map(({ elements }) => elements[0] as string))];
  }

  get columns(): NeededColumns {
    return this.#all ? 'all' : [...this.#paths.values()];
  }
}
