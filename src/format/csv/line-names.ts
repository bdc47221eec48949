// Row names made of line numbers: a sequence, numbers, or `fileIndex.lineNumber`.
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ChunkSnapshot, RowNames } from '../../value/column/snapshot.ts';
import { freeChunk } from '../../value/column/snapshot-memory.ts';
import { bytesOf, int32Of } from '../../value/column/span-view.ts';

interface LineRange {
  readonly fileIndex: number;
  readonly firstLine: number;
  readonly lineCount: number;
  /** offsets from the first line of lines that are no rows */
  readonly refused: Uint32Array;
}

/** Collects ranges of lines and makes the names of their rows. */
export class LineNames {
  readonly #withFiles: boolean;
  readonly #ranges: LineRange[] = [];

  constructor(withFiles: boolean) {
    this.#withFiles = withFiles;
  }

  add(fileIndex: number, firstLine: number, lineCount: number, refused: Uint32Array): void {
    this.#ranges.push({ fileIndex, firstLine, lineCount, refused });
  }

  seal(chunkRowCounts: readonly number[], arenas: ArenaAllocator): RowNames {
    const first = this.#ranges[0]?.firstLine ?? 0;
    if (this.#withFiles) return this.#sealPaths(arenas);
    if (this.#ranges.every(({ refused }) => refused.length === 0))
      return { kind: 'sequence', first };
    return { kind: 'numbers', chunks: this.#sealNumbers(chunkRowCounts, arenas) };
  }

  *#lines(): Generator<{ fileIndex: number; line: number }> {
    for (const { fileIndex, firstLine, lineCount, refused } of this.#ranges) {
      let nextRefused = 0;
      for (let i = 0; i < lineCount; i++) {
        if (refused[nextRefused] === i) nextRefused++;
        else yield { fileIndex, line: firstLine + i };
      }
    }
  }

  #sealNumbers(chunkRowCounts: readonly number[], arenas: ArenaAllocator): ChunkSnapshot[] {
    const lines = this.#lines();
    const chunks: ChunkSnapshot[] = [];
    try {
      for (const rowCount of chunkRowCounts) {
        const data = arenas.allocate(rowCount * 4);
        const numbers = int32Of(arenas, data);
        for (let i = 0; i < rowCount; i++)
          numbers[i] = (lines.next().value as { line: number }).line;
        const min = numbers[0] as number;
        const max = numbers[rowCount - 1] as number;
        chunks.push({ kind: 'int32', rowCount, data, nullCount: 0, min, max });
      }
    } catch (error) {
      for (const chunk of chunks) freeChunk(chunk, arenas);
      throw error;
    }
    return chunks;
  }

  #sealPaths(arenas: ArenaAllocator): RowNames {
    const rowCount = this.#ranges.reduce((sum, r) => sum + r.lineCount - r.refused.length, 0);
    const sizeMax = this.#ranges.reduce(
      (sum, { fileIndex, firstLine, lineCount }) =>
        sum + lineCount * (String(fileIndex).length + 1 + String(firstLine + lineCount).length),
      0,
    );
    const bytes = arenas.allocate(sizeMax);
    try {
      const offsets = arenas.allocate((rowCount + 1) * 4);
      const target = bytesOf(arenas, bytes);
      const ends = new Uint32Array(rowCount + 1);
      let size = 0;
      let row = 0;
      for (const { fileIndex, line } of this.#lines()) {
        size = writeDigits(target, size, fileIndex);
        target[size++] = 46;
        size = writeDigits(target, size, line);
        ends[++row] = size;
      }
      bytesOf(arenas, offsets).set(new Uint8Array(ends.buffer));
      return { kind: 'paths', bytes: arenas.shrink(bytes, size), offsets };
    } catch (error) {
      arenas.free(bytes);
      throw error;
    }
  }
}

/** @returns the position behind the digits */
function writeDigits(target: Uint8Array, position: number, value: number): number {
  let end = position + 1;
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++;
  let rest = value;
  for (let i = end - 1; i >= position; i--) {
    target[i] = 48 + (rest % 10);
    rest = Math.floor(rest / 10);
  }
  return end;
}
