// What operators put into arenas while a query runs, given back when its rows were read.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ChunkSnapshot, DictionarySnapshot, Span } from '../../value/column/snapshot.ts';
import { chunkSpans } from '../../value/column/snapshot-memory.ts';

export class RunMemory {
  readonly arenas: ArenaAllocator;
  /** of all that was held so far */
  sizeBytes = 0;
  /** true: rows that the operators give are read from a scratch file, with the dictionaries held here */
  isLasting = false;
  readonly #spans: Span[] = [];
  readonly #dictionaries: RunMemory;

  /** @param dictionaries holds dictionaries, which outlive the chunks; absent: this does */
  constructor(arenas: ArenaAllocator, dictionaries?: RunMemory) {
    this.arenas = arenas;
    this.#dictionaries = dictionaries ?? this;
  }

  holdChunk(chunk: ChunkSnapshot): ChunkSnapshot {
    for (const span of chunkSpans(chunk)) this.holdSpan(span);
    return chunk;
  }

  holdSpan(span: Span): Span {
    this.#spans.push(span);
    this.sizeBytes += span.sizeBytes;
    return span;
  }

  holdDictionary(dictionary: DictionarySnapshot): DictionarySnapshot {
    this.#dictionaries.holdSpan(dictionary.bytes);
    this.#dictionaries.holdSpan(dictionary.offsets);
    return dictionary;
  }

  release(): void {
    for (const span of this.#spans.splice(0)) this.arenas.free(span);
  }
}
