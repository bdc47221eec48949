// What operators put into arenas while a query runs, given back when its rows were read.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ChunkSnapshot, DictionarySnapshot, Span } from '../../value/column/snapshot.ts';
import { chunkSpans } from '../../value/column/snapshot-memory.ts';

export class RunMemory {
  readonly arenas: ArenaAllocator;
  /** of all that was held so far */
  sizeBytes = 0;
  readonly #spans: Span[] = [];

  constructor(arenas: ArenaAllocator) {
    this.arenas = arenas;
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
    this.holdSpan(dictionary.bytes);
    this.holdSpan(dictionary.offsets);
    return dictionary;
  }

  release(): void {
    for (const span of this.#spans.splice(0)) this.arenas.free(span);
  }
}
