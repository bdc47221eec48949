// A few atoms of a column that decide its type as all of them do, from its statistics where it has
// some: rows are looked at only as long as a fraction may be among them.
import { type Atom, isInteger } from '../atom.ts';
import { Timestamp } from '../timestamp.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { NumericChunkView } from './column-view.ts';
import { type DictionaryView, dictionaryView } from './dictionary.ts';
import type { ChunkSnapshot, ColumnSnapshot } from './snapshot.ts';

const typicalOf = new WeakMap<ColumnSnapshot, readonly Atom[]>();

/** @param look called now and then; it may throw */
export function typicalAtomsOf(
  snapshot: ColumnSnapshot,
  arenas: Pick<ArenaAllocator, 'get'>,
  look: () => void,
): readonly Atom[] {
  let atoms = typicalOf.get(snapshot);
  if (atoms === undefined) {
    const typical = new TypicalAtoms();
    if (snapshot.dictionary !== undefined) {
      addEntries(typical, dictionaryView(snapshot.dictionary, arenas));
    }
    for (const chunk of snapshot.chunks) {
      look();
      addChunk(typical, chunk, arenas);
    }
    atoms = typical.atoms;
    typicalOf.set(snapshot, atoms);
  }
  return atoms;
}

/** All entries of a dictionary of texts are of one kind. */
function addEntries(typical: TypicalAtoms, dictionary: DictionaryView): void {
  const { kind, count } = dictionary.snapshot;
  const end = kind === 'text' ? Math.min(1, count) : count;
  for (let code = 1; code <= end && !typical.isMixed; code++) typical.add(dictionary.atom(code));
}

function addChunk(
  typical: TypicalAtoms,
  chunk: ChunkSnapshot,
  arenas: Pick<ArenaAllocator, 'get'>,
): void {
  switch (chunk.kind) {
    case 'constant':
      typical.add(chunk.atom);
      break;
    case 'codes':
      break;
    case 'sparse':
      addChunk(typical, chunk.values, arenas);
      break;
    default: {
      if (chunk.kind === 'int32') {
        typical.add(chunk.min ?? null);
        typical.add(chunk.max ?? null);
        break;
      }
      if (chunk.kind === 'float64' && typical.hasFraction) break;
      const view = new NumericChunkView(chunk, arenas);
      if (chunk.kind === 'float64') addDoubles(typical, view);
      else addTimes(typical, view);
    }
  }
}

/** A fraction makes all numbers doubles, so the first one is enough. */
function addDoubles(typical: TypicalAtoms, view: NumericChunkView): void {
  for (let row = 0; row < view.rowCount && !typical.hasFraction; row++) {
    typical.add(view.atomAt(row));
  }
}

/** One time, and one that is no point in time. */
function addTimes(typical: TypicalAtoms, view: NumericChunkView): void {
  let hasTime = false;
  for (let row = 0; row < view.rowCount && !typical.isMixed; row++) {
    if (view.isNull(row) || (hasTime && Number.isFinite(view.values[row]))) continue;
    hasTime ||= Number.isFinite(view.values[row]);
    typical.add(view.atomAt(row));
  }
}

/** Collects the atoms that decide a type. */
export class TypicalAtoms {
  #least: number | bigint | undefined;
  #greatest: number | bigint | undefined;
  #fraction: number | undefined;
  readonly #others = new Map<unknown, Atom>();

  add(atom: Atom): void {
    if (typeof atom === 'number' || typeof atom === 'bigint') this.#addNumber(atom);
    else if (atom !== null) this.#others.set(kindOf(atom), atom);
  }

  /** no atom that is added can change the type any more */
  get isMixed(): boolean {
    return (
      this.#others.size + (this.#least === undefined && this.#fraction === undefined ? 0 : 1) > 1
    );
  }

  get hasFraction(): boolean {
    return this.#fraction !== undefined;
  }

  get atoms(): Atom[] {
    const numbers = [this.#least, this.#greatest, this.#fraction];
    return [...numbers.filter((atom) => atom !== undefined), ...this.#others.values()];
  }

  #addNumber(atom: number | bigint): void {
    if (!isInteger(atom)) {
      this.#fraction ??= atom as number;
      return;
    }
    if (this.#least === undefined || atom < this.#least) this.#least = atom;
    if (this.#greatest === undefined || atom > this.#greatest) this.#greatest = atom;
  }
}

/** Timestamps that are no point in time have no Arrow form, and so are a kind of their own. */
function kindOf(atom: Exclude<Atom, null>): unknown {
  if (typeof atom !== 'object') return typeof atom;
  if (atom instanceof Timestamp) return Number.isFinite(atom.seconds) ? Timestamp : 'no time';
  return atom.constructor;
}
