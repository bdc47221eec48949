// What is known of the state of a server that may be killed at any moment: for each thing, every
// outcome that is possible. What was asked for adds an outcome, an answer leaves only that one, and
// so does a look after a restart.

/** The thing does not exist. */
export const ABSENT = 'absent';

export class Ledger {
  readonly #outcomes = new Map<string, Set<string>>();

  /** Things that exist, or may. */
  names(prefix = ''): string[] {
    return [...this.#outcomes.keys()].filter((name) => name.startsWith(prefix));
  }

  /** Something is under way that leads to the outcome, if it is not interrupted. */
  ask(name: string, ...outcomes: readonly string[]): void {
    const known = this.#outcomes.get(name) ?? new Set([ABSENT]);
    for (const outcome of outcomes) known.add(outcome);
    this.#outcomes.set(name, known);
  }

  /** One of the outcomes was promised. */
  settle(name: string, ...outcomes: readonly string[]): void {
    if (outcomes.length === 1 && outcomes[0] === ABSENT) this.#outcomes.delete(name);
    else this.#outcomes.set(name, new Set(outcomes));
  }

  isPossible(name: string, outcome: string): boolean {
    return this.#outcomes.get(name)?.has(outcome) ?? outcome === ABSENT;
  }

  /** An outcome is not possible after all. */
  exclude(name: string, outcome: string): void {
    this.#outcomes.get(name)?.delete(outcome);
  }

  /** What was found is true from now on. @throws Error when it is not possible */
  observe(name: string, outcome: string): void {
    const possible = this.#outcomes.get(name) ?? new Set([ABSENT]);
    if (!possible.has(outcome)) {
      throw new Error(`${name} is ${outcome}, which must be ${[...possible].join(' or ')}`);
    }
    this.settle(name, outcome);
  }
}

/** Rows of one dataset, in batches that are recorded as a whole or not at all. */
export class RowLedger {
  readonly #batches = new Map<string, { readonly rows: readonly string[]; isRecorded: boolean }>();
  readonly #visible = new Set<string>();

  get batchCount(): number {
    return this.#batches.size;
  }

  ask(batch: string, rows: readonly string[]): void {
    this.#batches.set(batch, { rows, isRecorded: false });
  }

  recorded(batch: string): void {
    const known = this.#batches.get(batch);
    if (known !== undefined) known.isRecorded = true;
  }

  /** Batches that a commit which starts now must make visible. */
  recordedBatches(): string[] {
    return [...this.#batches].filter(([, { isRecorded }]) => isRecorded).map(([batch]) => batch);
  }

  committed(batches: readonly string[]): void {
    for (const batch of batches) this.#visible.add(batch);
  }

  /** @param visible rows that a query finds. @throws Error when one is missing or not whole */
  check(visible: ReadonlySet<string>, isAllCommitted: boolean): void {
    let found = 0;
    for (const [batch, { rows, isRecorded }] of this.#batches) {
      const count = rows.filter((row) => visible.has(row)).length;
      found += count;
      if (count !== 0 && count !== rows.length) throw new Error(`batch ${batch} is half there`);
      const isPromised = this.#visible.has(batch) || (isAllCommitted && isRecorded);
      if (isPromised && count === 0) throw new Error(`batch ${batch} is lost`);
      if (isAllCommitted && count === 0) this.#batches.delete(batch);
    }
    if (found !== visible.size) {
      throw new Error(`${visible.size - found} rows are there that nobody recorded`);
    }
    if (isAllCommitted) this.committed([...this.#batches.keys()]);
  }
}
