// Writes columns as lines of text: rounds of units run on all threads while what the round before
// has written goes on its way.
import { WriteQueue } from '../../util/write-queue.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ColumnSnapshot, RowNames, Span } from '../../value/column/snapshot.ts';
import type { Parallel } from '../parallel.ts';
import { homeArena } from '../vector/chunk-range.ts';
import type { LineForm } from './line-form.ts';
import { type RowTextArgs, rowTextJob, type WrittenText } from './row-text-job.ts';
import type { LineColumn } from './text-columns.ts';

/** What a unit writes at most, and how much of it is aimed at. */
const UNIT_SIZE = 1 << 20;
const AIMED_SHARE = 0.7;
const FIRST_UNIT_ROW_COUNT = 1024;
const UNITS_PER_THREAD = 3;

export interface RowTextSource {
  readonly columns: readonly ColumnSnapshot[];
  /** names of rows as one more column, behind the others */
  readonly rowNames?: RowNames | undefined;
  readonly chunkRowCounts: readonly number[];
}

export interface RowTextOptions {
  readonly form: LineForm;
  readonly arenas: ArenaAllocator;
  readonly parallel: Parallel;
  /** Takes the bytes in order; they stay as they are. */
  write(bytes: Uint8Array): Promise<void>;
  /** Told how many rows are written; throws when the writing is to end. */
  report(rowCount: number): void;
}

export async function writeRowText(source: RowTextSource, options: RowTextOptions): Promise<void> {
  const { arenas, parallel } = options;
  const arena = homeArena(source.columns);
  const room: Span[] = [];
  const queue = new WriteQueue(options.write);
  const rows = new RowCursor(source.chunkRowCounts);
  try {
    const unitCount = parallel.threadCount * UNITS_PER_THREAD;
    while (room.length < unitCount) room.push(arenas.allocateIn(arena, UNIT_SIZE));
    let unitRowCount = FIRST_UNIT_ROW_COUNT;
    while (!rows.isAtEnd) {
      const taken = room.map(() => rows.take(unitRowCount)).filter((each) => each !== undefined);
      const chunks = [...new Set(taken.map(({ chunk }) => chunk))];
      const args: RowTextArgs = {
        form: options.form,
        arena,
        chunks: chunks.map((chunk) => lineColumns(source, chunk, rows.startOf(chunk))),
        units: taken.map(({ chunk, from, to }, i) => {
          return { chunk: chunks.indexOf(chunk), from, to, out: room[i] as Span };
        }),
      };
      const written = parallel.run(rowTextJob, args, taken.length);
      const [sizeBytes, rowCount] = sumOf(written);
      const bytes = joined(written, room, arenas);
      const whole = written.findIndex((each, i) => each.rowCount < rowsOf(args.units[i]));
      if (whole === -1) await queue.add(bytes);
      else await writePieces(args, written, queue, options);
      if (rowCount > 0) {
        unitRowCount = Math.max(1, Math.floor((UNIT_SIZE * AIMED_SHARE * rowCount) / sizeBytes));
      }
      options.report(rows.count);
    }
    await queue.end();
  } finally {
    await queue.end().catch(() => undefined);
    for (const span of room) arenas.free(span);
  }
}

type Unit = RowTextArgs['units'][number];

function rowsOf(unit: Unit | undefined): number {
  return unit === undefined ? 0 : unit.to - unit.from;
}

function sumOf(written: readonly WrittenText[]): [sizeBytes: number, rowCount: number] {
  let sizeBytes = 0;
  let rowCount = 0;
  for (const each of written) {
    sizeBytes += each.sizeBytes;
    rowCount += each.rowCount;
  }
  return [sizeBytes, rowCount];
}

/** What units wrote, in order, as a copy: their memory is written again in the next round. */
function joined(
  written: readonly WrittenText[],
  room: readonly Span[],
  arenas: ArenaAllocator,
): Uint8Array {
  const bytes = new Uint8Array(sumOf(written)[0]);
  let at = 0;
  written.forEach(({ sizeBytes }, i) => {
    const { arena, offset } = room[i] as Span;
    bytes.set(arenas.get(arena).u8.subarray(offset, offset + sizeBytes), at);
    at += sizeBytes;
  });
  return bytes;
}

/** Where a unit had no room for all of its rows, the rest of them is written before the next. */
async function writePieces(
  args: RowTextArgs,
  written: readonly WrittenText[],
  queue: WriteQueue,
  { arenas, parallel, report }: RowTextOptions,
): Promise<void> {
  for (const [i, unit] of args.units.entries()) {
    await queue.add(joined([written[i] as WrittenText], [unit.out], arenas));
    let from = unit.from + (written[i] as WrittenText).rowCount;
    let size = unit.out.sizeBytes;
    while (from < unit.to) {
      report(0);
      const out = arenas.allocateIn(args.arena, size);
      try {
        const [piece] = parallel.run(rowTextJob, { ...args, units: [{ ...unit, from, out }] }, 1);
        const { rowCount } = piece as WrittenText;
        await queue.add(joined([piece as WrittenText], [out], arenas));
        from += rowCount;
        // A line that is longer than the room.
        if (rowCount === 0) size *= 2;
      } finally {
        arenas.free(out);
      }
    }
  }
}

/** The columns of one chunk. @param start the number of its first row */
function lineColumns(
  { columns, rowNames }: RowTextSource,
  index: number,
  start: number,
): LineColumn[] {
  const out = columns.map(({ chunks, dictionary }): LineColumn => {
    const chunk = chunks[index] as ColumnSnapshot['chunks'][number];
    return { kind: 'chunk', chunk, dictionary, isText: false };
  });
  switch (rowNames?.kind) {
    case 'sequence':
      out.push({ kind: 'sequence', first: rowNames.first + start });
      break;
    case 'numbers': {
      const chunk = rowNames.chunks[index] as ColumnSnapshot['chunks'][number];
      out.push({ kind: 'chunk', chunk, dictionary: undefined, isText: true });
      break;
    }
    case 'paths':
      out.push({ kind: 'texts', bytes: rowNames.bytes, offsets: rowNames.offsets, first: start });
      break;
  }
  return out;
}

/** Rows that are not taken yet. */
class RowCursor {
  readonly #chunkRowCounts: readonly number[];
  readonly #starts: number[] = [];
  #chunk = 0;
  #row = 0;
  /** rows taken */
  count = 0;

  constructor(chunkRowCounts: readonly number[]) {
    this.#chunkRowCounts = chunkRowCounts;
    let start = 0;
    for (const rowCount of chunkRowCounts) {
      this.#starts.push(start);
      start += rowCount;
    }
    this.#skipEmpty();
  }

  get isAtEnd(): boolean {
    return this.#chunk === this.#chunkRowCounts.length;
  }

  startOf(chunk: number): number {
    return this.#starts[chunk] as number;
  }

  /** Rows of one chunk, at most so many. */
  take(rowCountMax: number): Omit<Unit, 'out'> | undefined {
    if (this.isAtEnd) return undefined;
    const [chunk, from] = [this.#chunk, this.#row];
    const to = Math.min(from + rowCountMax, this.#chunkRowCounts[chunk] as number);
    this.#row = to;
    this.count += to - from;
    this.#skipEmpty();
    return { chunk, from, to };
  }

  #skipEmpty(): void {
    while (!this.isAtEnd && this.#row === this.#chunkRowCounts[this.#chunk]) {
      this.#chunk++;
      this.#row = 0;
    }
  }
}
