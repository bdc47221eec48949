// Dictionaries: the distinct atoms of a column, found by code and, when asked, by atom or in order.

import type { Atom } from '../atom.ts';
import { compareAtoms } from '../atom.ts';
import { atomSizeMax, encodeAtom, readAtom, writeAtom } from '../atom-codec.ts';
import { compareEntries, utf8Bytes, utf8SizeMax, writeUtf8 } from '../utf8.ts';
import type { ArenaAllocator } from './arena-set.ts';
import { ByteTable } from './byte-table.ts';
import { GrowableSpan } from './growable-span.ts';
import type { DictionarySnapshot, Span } from './snapshot.ts';
import { bytesOf, uint32Of } from './span-view.ts';

/** Collects distinct atoms; texts only until the first atom of another kind. */
export class DictionaryBuilder {
  readonly #allocator: ArenaAllocator;
  #heap: GrowableSpan;
  #offsets: GrowableSpan;
  #table = new ByteTable();
  #kind: 'text' | 'mixed' = 'text';
  #count = 0;
  #size = 0;

  constructor(allocator: ArenaAllocator) {
    this.#allocator = allocator;
    this.#heap = new GrowableSpan(allocator);
    this.#offsets = new GrowableSpan(allocator);
    this.#offsets.u32.fill(0, 0, 2);
  }

  /** Starts with the entries of a sealed dictionary, which keep their codes. */
  static from(allocator: ArenaAllocator, snapshot: DictionarySnapshot): DictionaryBuilder {
    const builder = new DictionaryBuilder(allocator);
    builder.#kind = snapshot.kind;
    const offsets = uint32Of(allocator, snapshot.offsets);
    const bytes = bytesOf(allocator, snapshot.bytes);
    builder.#table = new ByteTable(snapshot.count);
    for (let code = 1; code <= snapshot.count; code++) {
      builder.#addCopy(bytes, offsets[code] as number, offsets[code + 1] as number);
    }
    return builder;
  }

  get kind(): 'text' | 'mixed' {
    return this.#kind;
  }

  /** Entries so far, which is also the largest code. */
  get count(): number {
    return this.#count;
  }

  /** @returns the code of any atom; 0 for null */
  add(atom: Atom): number {
    if (atom === null) return 0;
    if (typeof atom === 'string') return this.addText(atom);
    if (this.#kind === 'text') this.promote();
    this.#heap.reserve(this.#size + atomSizeMax(atom));
    return this.#enter(writeAtom(this.#heap.u8, this.#size, atom));
  }

  addText(text: string): number {
    this.#heap.reserve(this.#size + 1 + utf8SizeMax(text));
    if (this.#kind === 'mixed') return this.#enter(writeAtom(this.#heap.u8, this.#size, text));
    return this.#enter(writeUtf8(this.#heap.u8, this.#size, text));
  }

  /** Adds a text that is UTF-8 already. */
  addTextBytes(bytes: Uint8Array, start: number, end: number): number {
    if (this.#kind === 'mixed')
      return this.addText(Buffer.from(bytes.slice(start, end)).toString());
    return this.#addCopy(bytes, start, end);
  }

  /** Adds an entry of a sealed dictionary. @param code of that dictionary, not 0 */
  addEntry(view: DictionaryView, code: number): number {
    if (view.snapshot.kind !== this.#kind) return this.add(view.atom(code));
    const { bytes, offsets } = view;
    return this.#addCopy(bytes, offsets[code] as number, offsets[code + 1] as number);
  }

  /** From now on entries may be of any kind; codes stay. */
  promote(): void {
    if (this.#kind === 'mixed') return;
    const old = { heap: this.#heap, offsets: this.#offsets, count: this.#count };
    this.#kind = 'mixed';
    this.#heap = new GrowableSpan(this.#allocator, this.#size + this.#count + 64);
    this.#offsets = new GrowableSpan(this.#allocator, (this.#count + 2) * 4);
    this.#offsets.u32.fill(0, 0, 2);
    this.#table = new ByteTable(old.count);
    this.#count = 0;
    this.#size = 0;
    for (let code = 1; code <= old.count; code++) {
      const start = old.offsets.u32[code] as number;
      const end = old.offsets.u32[code + 1] as number;
      // A text's bytes in a mixed dictionary are its tag and the same UTF-8.
      this.#heap.reserve(this.#size + 1 + end - start);
      const behindTag = writeAtom(this.#heap.u8, this.#size, '');
      this.#heap.u8.set(old.heap.u8.subarray(start, end), behindTag);
      this.#enter(behindTag + end - start);
    }
    old.heap.release();
    old.offsets.release();
  }

  /** What was collected so far, valid until the next entry is added. */
  entries(): { readonly bytes: Uint8Array; readonly offsets: Uint32Array } {
    return { bytes: this.#heap.u8.subarray(0, this.#size), offsets: this.#offsets.u32 };
  }

  /** Ends the collection; the builder is used up. */
  seal(): DictionarySnapshot {
    const offsets = this.#offsets.seal((this.#count + 2) * 4);
    const bytes = this.#heap.seal(this.#size);
    const snapshot: DictionarySnapshot = {
      kind: this.#kind,
      id: this.#allocator.nextId(),
      count: this.#count,
      bytes,
      offsets,
      sorted: false,
    };
    return { ...snapshot, sorted: isSorted(new DictionaryView(snapshot, this.#allocator)) };
  }

  /** Frees what a builder that is given up has collected. */
  release(): void {
    this.#heap.release();
    this.#offsets.release();
  }

  /** Most bytes are an entry already, so they are looked up where they lie. */
  #addCopy(bytes: Uint8Array, start: number, end: number): number {
    const next = this.#count + 1;
    const place = this.#size;
    const code = this.#table.findOrAddCopy(this.#heap.u8, bytes, start, end, next, place);
    if (code !== next) return code;
    const size = end - start;
    this.#heap.reserve(place + size);
    const heap = this.#heap.u8;
    if (size < 64) for (let i = 0; i < size; i++) heap[place + i] = bytes[start + i] as number;
    else heap.set(bytes.subarray(start, end), place);
    this.#addEntry(place + size);
    return code;
  }

  /** Takes the bytes behind the heap's end as an entry, unless they are one already. */
  #enter(end: number): number {
    const next = this.#count + 1;
    const { u8 } = this.#heap;
    const code = this.#table.findOrAdd(u8, this.#size, end, next);
    if (code === next) this.#addEntry(end);
    return code;
  }

  /** The bytes up to `end` of the heap are one entry more. */
  #addEntry(end: number): void {
    const next = ++this.#count;
    this.#size = end;
    this.#offsets.reserve((next + 2) * 4);
    this.#offsets.u32[next + 1] = end;
  }
}

function isSorted(view: DictionaryView): boolean {
  const { bytes, offsets, snapshot } = view;
  for (let code = 2; code <= snapshot.count; code++) {
    const order =
      snapshot.kind === 'text'
        ? compareEntries(bytes, offsets, code - 1, code)
        : compareAtoms(view.atom(code - 1), view.atom(code));
    if (order >= 0) return false;
  }
  return true;
}

/** Reads a sealed dictionary; atoms are decoded once. */
export class DictionaryView {
  readonly snapshot: DictionarySnapshot;
  readonly bytes: Uint8Array;
  /** entry k lies in [offsets[k], offsets[k + 1]) */
  readonly offsets: Uint32Array;
  readonly #buffer: Buffer;
  readonly #atoms: (Atom | undefined)[];
  #table: ByteTable | undefined;
  #order: Uint32Array | undefined;
  #ranks: Uint32Array | undefined;

  constructor(snapshot: DictionarySnapshot, arenas: Pick<ArenaAllocator, 'get'>) {
    this.snapshot = snapshot;
    this.bytes = bytesOf(arenas, snapshot.bytes);
    this.offsets = uint32Of(arenas, snapshot.offsets);
    const { buffer, byteOffset, length } = this.bytes;
    this.#buffer = Buffer.from(buffer, byteOffset, length);
    this.#atoms = [null];
  }

  get count(): number {
    return this.snapshot.count;
  }

  /** The atom of a code; null for code 0. */
  atom(code: number): Atom {
    const known = this.#atoms[code];
    return known !== undefined ? known : this.#decode(code);
  }

  /** @returns the code of an atom, undefined when no cell has it; 0 for null */
  find(atom: Atom): number | undefined {
    if (atom === null) return 0;
    if (this.snapshot.kind === 'text') {
      return typeof atom === 'string' ? this.#findBytes(utf8Bytes(atom)) : undefined;
    }
    return this.#findBytes(encodeAtom(atom));
  }

  /** Codes in ascending order of their atoms, without NULL. @param look called for comparisons */
  order(look: () => void = () => undefined): Uint32Array {
    this.#order ??= this.#sortCodes(look);
    return this.#order;
  }

  /** Position of each code in that order, counted from 1; NULL has 0, so ranks compare as atoms. */
  ranks(): Uint32Array {
    if (this.#ranks === undefined) {
      const ranks = new Uint32Array(this.count + 1);
      this.order().forEach((code, index) => {
        ranks[code] = index + 1;
      });
      this.#ranks = ranks;
    }
    return this.#ranks;
  }

  #decode(code: number): Atom {
    const start = this.offsets[code] as number;
    const end = this.offsets[code + 1] as number;
    const atom =
      this.snapshot.kind === 'text'
        ? this.#buffer.toString('utf8', start, end)
        : readAtom(this.bytes, start, end);
    this.#atoms[code] = atom;
    return atom;
  }

  #findBytes(bytes: Uint8Array): number | undefined {
    this.#table ??= this.#makeTable();
    return this.#table.find(this.bytes, bytes, 0, bytes.length) || undefined;
  }

  #makeTable(): ByteTable {
    const table = new ByteTable(this.count);
    for (let code = 1; code <= this.count; code++) {
      const start = this.offsets[code] as number;
      table.findOrAdd(this.bytes, start, this.offsets[code + 1] as number, code);
    }
    return table;
  }

  #sortCodes(look: () => void): Uint32Array {
    const codes = Uint32Array.from({ length: this.count }, (_, index) => index + 1);
    if (this.snapshot.sorted) return codes;
    const { bytes, offsets } = this;
    if (this.snapshot.kind === 'text') {
      return codes.sort((a, b) => {
        look();
        return compareEntries(bytes, offsets, a, b);
      });
    }
    return codes.sort((a, b) => {
      look();
      return compareAtoms(this.atom(a), this.atom(b));
    });
  }
}

const views = new Map<number, WeakRef<DictionaryView>>();
const forgotten = new FinalizationRegistry<number>((id) => {
  if (views.get(id)?.deref() === undefined) views.delete(id);
});

/** The view of a dictionary; a thread has one as long as it is in use. */
export function dictionaryView(
  snapshot: DictionarySnapshot,
  arenas: Pick<ArenaAllocator, 'get'>,
): DictionaryView {
  const known = views.get(snapshot.id)?.deref();
  // Tests have several sets of arenas in a process, and each set counts its ids.
  if (known !== undefined && known.bytes.buffer === arenas.get(snapshot.bytes.arena).u8.buffer) {
    return known;
  }
  const view = new DictionaryView(snapshot, arenas);
  views.set(snapshot.id, new WeakRef(view));
  forgotten.register(view, snapshot.id);
  return view;
}

/** Dictionaries made into one, and for each the new code (Uint32) of every old one, 0 included. */
export interface MergedDictionary {
  readonly dictionary: DictionarySnapshot;
  /** the caller frees them */
  readonly remaps: readonly Span[];
}

/** Unites the dictionaries of several workers; codes of the first stay as they are. */
export function mergeDictionaries(
  dictionaries: readonly DictionarySnapshot[],
  allocator: ArenaAllocator,
): MergedDictionary {
  const builder = new DictionaryBuilder(allocator);
  if (dictionaries.some((dictionary) => dictionary.kind === 'mixed')) builder.promote();
  const remaps = dictionaries.map((dictionary) => {
    const view = new DictionaryView(dictionary, allocator);
    const span = allocator.allocate((dictionary.count + 1) * 4);
    const remap = uint32Of(allocator, span);
    remap[0] = 0;
    for (let code = 1; code <= dictionary.count; code++) remap[code] = builder.addEntry(view, code);
    return span;
  });
  return { dictionary: builder.seal(), remaps };
}
