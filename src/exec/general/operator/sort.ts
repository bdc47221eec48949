// ORDER BY: a total order of rows; with a LIMIT above only as many rows are held as can be wanted.
import type { SortNode } from '../../../plan/plan.ts';
import { comparePaths } from '../../../value/path.ts';
import { hashPath } from '../../../value/path-hash.ts';
import type { Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { compileKeyOrder, type KeyOrder } from '../key-order.ts';
import type { ExecRow } from '../row.ts';
import { moveTo } from './order-frame.ts';
import { comparingWithCancellation, type RowSource, withCancellation } from './source.ts';

interface SortEntry {
  readonly row: ExecRow;
  readonly keys: readonly Value[];
  /** position in the input */
  readonly index: number;
  /** the row that ORDER BY is about: its name breaks ties */
  readonly named: ExecRow;
  /** high and low half of the row hash, once a tie asked for it */
  hashHigh: number;
  hashLow: number;
}

type Comparer = (a: SortEntry, b: SortEntry) => number;

export function compileSort(node: SortNode, input: RowSource, compiler: Compiler): RowSource {
  const evaluators = node.keys.map((key) => compiler.evaluator(key.expression));
  const compare = comparingWithCancellation(makeComparer(node), compiler.runtime.scope);
  return function* () {
    const frame = new Frame();
    const entries = new SortBuffer(compare, node.keep);
    let index = 0;
    for (const row of input()) {
      moveTo(frame, row, node.late);
      const keys = evaluators.map((evaluate) => evaluate(frame));
      entries.add({
        row,
        keys,
        index: index++,
        named: frame.current,
        hashHigh: NOT_HASHED,
        hashLow: 0,
      });
    }
    // Whoever takes the rows may need all of them before anything else looks up.
    yield* withCancellation(rowsOf(entries.sorted()), compiler.runtime);
  };
}

function* rowsOf(entries: readonly SortEntry[]): Iterable<ExecRow> {
  for (const { row } of entries) yield row;
}

function makeComparer(node: SortNode): Comparer {
  const comparers = node.keys.map(compileKeyOrder);
  const breakTie = node.ties === 'row-hash' ? compareNames : compareIndexes;
  return (a, b) => {
    for (let i = 0; i < comparers.length; i++) {
      const order = (comparers[i] as KeyOrder)(a.keys[i] as Value, b.keys[i] as Value);
      if (order !== 0) return order;
    }
    return breakTie(a, b);
  };
}

function compareNames(a: SortEntry, b: SortEntry): number {
  ensureHash(a);
  ensureHash(b);
  const order = a.hashHigh - b.hashHigh || a.hashLow - b.hashLow;
  return order || comparePaths(a.named.name, b.named.name) || a.index - b.index;
}

const NOT_HASHED = -1;

/** Halves of the hash compare as numbers, which is far quicker than bigints. */
function ensureHash(entry: SortEntry): void {
  if (entry.hashHigh !== NOT_HASHED) return;
  const hash = hashPath(entry.named.name);
  entry.hashHigh = Number(hash >> 32n);
  entry.hashLow = Number(hash & 0xffff_ffffn);
}

function compareIndexes(a: SortEntry, b: SortEntry): number {
  return a.index - b.index;
}

/** Holds all entries, or at most twice as many as are wanted: then the worse half is dropped. */
class SortBuffer {
  readonly #compare: Comparer;
  readonly #keep: number;
  #entries: SortEntry[] = [];

  constructor(compare: Comparer, keep: number | undefined) {
    this.#compare = compare;
    this.#keep = keep ?? Number.POSITIVE_INFINITY;
  }

  add(entry: SortEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#keep + 64) this.#entries = this.sorted();
  }

  sorted(): SortEntry[] {
    this.#entries.sort(this.#compare);
    return this.#entries.slice(0, this.#keep);
  }
}
