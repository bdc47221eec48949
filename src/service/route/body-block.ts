// Cuts streamed bodies into blocks that can be parsed on their own.
import { failure, type RowanError } from '../../util/error.ts';

/** A part of a body. */
export interface BodyBlock {
  /** in shared memory, so that threads read it without a copy */
  readonly bytes: Uint8Array;
  /** the first line or row of the block: those of the blocks before are counted */
  readonly first: number;
}

const LF = 0x0a;

/** Bytes that arrived and have no block yet. */
export class PendingBytes {
  #parts: Uint8Array[] = [];
  size = 0;

  push(bytes: Uint8Array): void {
    this.#parts.push(bytes);
    this.size += bytes.length;
  }

  /** All of it, which is pending no more. */
  take(): Uint8Array {
    const bytes = new Uint8Array(new SharedArrayBuffer(this.size));
    let offset = 0;
    for (const part of this.#parts) {
      bytes.set(part, offset);
      offset += part.length;
    }
    this.#parts = [];
    this.size = 0;
    return bytes;
  }
}

/**
 * Whole lines, in blocks of at least the size but for the last. The last line needs no line feed.
 * @param blockSize 1: lines are handed on as they arrive
 * @throws BODY_TOO_LARGE for a longer line
 */
export async function* lineBlocks(
  body: AsyncIterable<Uint8Array>,
  blockSize: number,
  lineSizeMax = blockSize * LONG_PART_FACTOR,
): AsyncGenerator<BodyBlock> {
  const pending = new PendingBytes();
  let first = 1;
  for await (const piece of body) {
    const end = pending.size + piece.length < blockSize ? 0 : piece.lastIndexOf(LF) + 1;
    if (end === 0) {
      pending.push(piece);
      if (pending.size > lineSizeMax) throw partTooLarge('line', lineSizeMax);
      continue;
    }
    pending.push(piece.subarray(0, end));
    const bytes = pending.take();
    yield { bytes, first };
    first += countLines(bytes);
    if (end < piece.length) pending.push(piece.subarray(end));
  }
  if (pending.size > 0) yield { bytes: pending.take(), first };
}

const LONG_PART_FACTOR = 4;

export function partTooLarge(what: string, sizeMax: number): RowanError {
  return failure('BODY_TOO_LARGE', { form: 'part', what, bytes: sizeMax }, { sizeMax });
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(LF); at !== -1; at = bytes.indexOf(LF, at + 1)) count++;
  return count;
}
