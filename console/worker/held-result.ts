// One result: its batches, as far as memory allows, and answers about them.
import type { Field, RecordBatch, Schema, Table } from 'apache-arrow';
import { cellText, kindOf, plainValue } from './cell.ts';
import { copyText } from './copy.ts';
import { mapPoints, type PointColumn } from './points.ts';
import { columnProfile } from './profile.ts';
import {
  CELL_LENGTH_MAX,
  type CellText,
  type MapPoints,
  type Question,
  type Range,
  type ResultColumn,
} from './protocol.ts';

/** Of one result; batches far from the reader are dropped beyond it. */
const HELD_BYTES_MAX = 256 * 2 ** 20;

type Fetch = (from: number, limit: number, signal?: AbortSignal) => Promise<Table>;

interface Piece {
  readonly from: number;
  readonly rowCount: number;
  readonly sizeBytes: number;
  /** undefined: dropped, it is asked for again when somebody wants it */
  batch: RecordBatch | undefined;
  usedAt: number;
  request: Promise<RecordBatch> | undefined;
}

export class HeldResult {
  columns: readonly ResultColumn[] = [];
  rowCount = 0;
  sizeBytes = 0;
  isWhole = false;
  readonly #fetch: Fetch;
  readonly #pieces: Piece[] = [];
  #useCount = 0;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  begin(schema: Schema): void {
    this.columns = schema.fields.map((field: Field) => ({ name: field.name, kind: kindOf(field) }));
  }

  add(batch: RecordBatch): void {
    if (batch.numRows === 0) return;
    const sizeBytes = batch.data.byteLength;
    const from = this.rowCount;
    const rowCount = batch.numRows;
    this.#pieces.push({ from, rowCount, sizeBytes, batch, usedAt: 0, request: undefined });
    this.rowCount += rowCount;
    this.sizeBytes += sizeBytes;
    this.#dropFar();
  }

  /** There are more rows, which are asked for when somebody wants them. */
  expect(rowCount: number, pieceRows: number): void {
    const bytesPerRow = this.sizeBytes / Math.max(1, this.rowCount);
    for (let from = this.rowCount; from < rowCount; from += pieceRows) {
      const count = Math.min(pieceRows, rowCount - from);
      const sizeBytes = Math.ceil(count * bytesPerRow);
      const piece = { from, rowCount: count, sizeBytes, usedAt: 0 };
      this.#pieces.push({ ...piece, batch: undefined, request: undefined });
    }
    this.rowCount = Math.max(this.rowCount, rowCount);
  }

  /** The first batch stays: it is where everybody begins. */
  #dropFar(): void {
    while (this.sizeBytes > HELD_BYTES_MAX) {
      let oldest: Piece | undefined;
      for (const piece of this.#pieces.slice(1)) {
        if (piece.batch !== undefined && (oldest === undefined || piece.usedAt < oldest.usedAt)) {
          oldest = piece;
        }
      }
      if (oldest === undefined) return;
      oldest.batch = undefined;
      this.sizeBytes -= oldest.sizeBytes;
    }
  }

  answer(question: Question): Promise<unknown> {
    switch (question.kind) {
      case 'cells':
        return this.#cells(question);
      case 'copy':
        return this.#copy(question);
      case 'value':
        return this.#value(question.row, question.column);
      case 'profile':
        return this.#profile(question.column);
      case 'points':
        return this.#points(question);
    }
  }

  async #cells({ rowFrom, rowTo, columns }: Range): Promise<CellText[][]> {
    const rows: CellText[][] = [];
    for await (const { batch, from, to } of this.#slices(rowFrom, rowTo)) {
      const vectors = columns.map((index) => batch.getChildAt(index));
      for (let row = from; row < to; row++) {
        rows.push(
          vectors.map((vector, position) => {
            const { kind } = this.columns[columns[position] as number] as ResultColumn;
            return cut(cellText(vector?.get(row), kind));
          }),
        );
      }
    }
    return rows;
  }

  async #copy({ rowFrom, rowTo, columns, format }: Question & { kind: 'copy' }): Promise<string> {
    const chosen = columns.map((index) => this.columns[index] as ResultColumn);
    const rows: unknown[][] = [];
    for await (const { batch, from, to } of this.#slices(rowFrom, rowTo)) {
      const vectors = columns.map((index) => batch.getChildAt(index));
      for (let row = from; row < to; row++) {
        rows.push(
          vectors.map((vector, at) =>
            plainValue(vector?.get(row), (chosen[at] as ResultColumn).kind),
          ),
        );
      }
    }
    return copyText(format, chosen, rows);
  }

  async #value(row: number, column: number): Promise<{ text: string | null; value: unknown }> {
    const { kind } = this.columns[column] as ResultColumn;
    for await (const { batch, from } of this.#slices(row, row + 1)) {
      const raw = batch.getChildAt(column)?.get(from);
      return { text: cellText(raw, kind), value: plainValue(raw, kind) };
    }
    return { text: null, value: null };
  }

  async #profile(column: number) {
    const { kind } = this.columns[column] as ResultColumn;
    const held = this.#pieces.filter(({ batch }) => batch !== undefined);
    const vectors = held.map(({ batch }) => (batch as RecordBatch).getChildAt(column));
    const isWhole = this.isWhole && held.length === this.#pieces.length;
    return columnProfile(vectors, kind, isWhole);
  }

  async #points({ x, y, colour }: Question & { kind: 'points' }): Promise<MapPoints> {
    const batches: RecordBatch[] = [];
    for await (const { batch } of this.#slices(0, this.rowCount)) batches.push(batch);
    const column = (index: number): PointColumn => ({
      vectors: batches.map((batch) => batch.getChildAt(index)),
      kind: (this.columns[index] as ResultColumn).kind,
    });
    const coloured = colour === undefined ? undefined : column(colour);
    return mapPoints(this.rowCount, column(x), column(y), coloured);
  }

  /** The batches of a range, each with its part of it. */
  async *#slices(rowFrom: number, rowTo: number) {
    for (const piece of this.#pieces) {
      const from = Math.max(rowFrom, piece.from) - piece.from;
      const to = Math.min(rowTo, piece.from + piece.rowCount) - piece.from;
      if (from < to) yield { batch: await this.#obtain(piece), from, to };
    }
  }

  async #obtain(piece: Piece): Promise<RecordBatch> {
    piece.usedAt = ++this.#useCount;
    if (piece.batch !== undefined) return piece.batch;
    piece.request ??= this.#fetch(piece.from, piece.rowCount)
      .then((table) => {
        const [batch] = table.batches;
        if (batch === undefined || batch.numRows < piece.rowCount) {
          throw new Error('the rows have changed since; run the query again');
        }
        piece.batch = batch;
        this.sizeBytes += piece.sizeBytes;
        this.#dropFar();
        return batch;
      })
      .finally(() => {
        piece.request = undefined;
      });
    return piece.request;
  }
}

function cut(text: string | null): CellText {
  if (text === null || text.length <= CELL_LENGTH_MAX) return text;
  return `${text.slice(0, CELL_LENGTH_MAX)}…`;
}
