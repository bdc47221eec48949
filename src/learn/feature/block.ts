// Walking over pieces of columns block by block, and bringing a block within a kernel's reach.
import type { Workspace } from '../workspace.ts';
import type { CodeArray, NumberPiece } from './source.ts';

/** Rows that a kernel call covers at most. */
export const BLOCK_ROW_COUNT = 65_536;

/** Visits [fromRow, toRow) of the pieces, `row` being the number of the block's first row. */
export function forEachBlock(
  pieces: readonly CodeArray[],
  visit: (codes: CodeArray, row: number) => void,
  fromRow = 0,
  toRow = Number.POSITIVE_INFINITY,
): void {
  forEachRange(
    pieces,
    (a) => a.length,
    fromRow,
    toRow,
    (piece, from, length, row) => {
      visit(piece.subarray(from, from + length), row);
    },
  );
}

export function forEachNumberBlock(
  pieces: readonly NumberPiece[],
  visit: (piece: NumberPiece, from: number, length: number, row: number) => void,
  fromRow = 0,
  toRow = Number.POSITIVE_INFINITY,
): void {
  forEachRange(pieces, (piece) => piece.values.length, fromRow, toRow, visit);
}

function forEachRange<Piece>(
  pieces: readonly Piece[],
  lengthOf: (piece: Piece) => number,
  fromRow: number,
  toRow: number,
  visit: (piece: Piece, from: number, length: number, row: number) => void,
): void {
  let first = 0;
  for (const piece of pieces) {
    const length = lengthOf(piece);
    const end = Math.min(length, toRow - first);
    for (let from = Math.max(0, fromRow - first); from < end; from += BLOCK_ROW_COUNT) {
      visit(piece, from, Math.min(BLOCK_ROW_COUNT, end - from), first + from);
    }
    first += length;
  }
}

/** Offset of an array in an arena; it is copied to `staging` when it lies elsewhere. */
export function placed(
  workspace: Workspace,
  arena: number,
  codes: CodeArray,
  staging: number,
): number {
  const { memory, u8 } = workspace.memory.get(arena);
  if (codes.buffer === memory.buffer) return codes.byteOffset;
  u8.set(new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength), staging);
  return staging;
}

/** Offset of the numbers of a block as float64 with NaN for missing ones. */
export function placedNumbers(
  workspace: Workspace,
  arena: number,
  piece: NumberPiece,
  from: number,
  length: number,
  staging: number,
): number {
  const { memory, f64 } = workspace.memory.get(arena);
  const { values, validity } = piece;
  if (validity === undefined && values instanceof Float64Array && values.buffer === memory.buffer) {
    return values.byteOffset + from * 8;
  }
  const at = staging >>> 3;
  f64.set(values.subarray(from, from + length), at);
  if (validity !== undefined) {
    for (let i = 0; i < length; i++) {
      if (!hasValue(validity, from + i)) f64[at + i] = Number.NaN;
    }
  }
  return staging;
}

/** The number of a row, NaN when missing. */
export function numberAt(piece: NumberPiece, index: number): number {
  if (piece.validity !== undefined && !hasValue(piece.validity, index)) return Number.NaN;
  return (piece.values[index] as number) + 0; // -0 becomes 0
}

function hasValue(validity: Uint8Array, index: number): boolean {
  return (((validity[index >> 3] as number) >> (index & 7)) & 1) === 1;
}
