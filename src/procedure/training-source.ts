// Columns of datasets as learners take them: in place where they lie densely in memory.

import type { CodeArray, NumberPiece, SourceColumn } from '../learn/feature/source.ts';
import type { ArenaAllocator } from '../value/arena-set.ts';
import type { Atom } from '../value/atom.ts';
import { CodesChunkView, ColumnView, NumericChunkView } from '../value/column-view.ts';
import type { ColumnSnapshot } from '../value/snapshot.ts';

/** All rows of a column in stored order, or the given ones. */
export function sourceOfColumn(
  name: string,
  column: ColumnSnapshot,
  arenas: ArenaAllocator,
  rows: Int32Array | undefined,
): SourceColumn {
  const view = new ColumnView(column, arenas);
  if (view.dictionary !== undefined) {
    const { dictionary } = view;
    const entries = Array.from({ length: dictionary.count }, (_, index) =>
      dictionary.atom(index + 1),
    );
    const pieces = rows === undefined ? codePieces(view) : [gatherCodes(view, rows)];
    return { kind: 'codes', name, pieces, entries };
  }
  if (column.type === 'null') return { kind: 'nulls', name };
  if (column.type === 'timestamp') return atomSource(name, gatherAtoms(view, rows));
  const pieces = rows === undefined ? numberPieces(view) : [gatherNumbers(view, rows)];
  return { kind: 'numbers', name, pieces };
}

/** Values of one feature, one a row, as they came out of an expression. */
export function atomSource(name: string, atoms: readonly Atom[]): SourceColumn {
  if (atoms.every((atom) => atom === null)) return { kind: 'nulls', name };
  if (atoms.every((atom) => atom === null || typeof atom === 'number')) {
    const values = Float64Array.from(atoms, (atom) =>
      atom === null ? Number.NaN : (atom as number),
    );
    // A NaN is a number that was seen; only null is missing.
    if (!atoms.some((atom) => Number.isNaN(atom)))
      return { kind: 'numbers', name, pieces: [{ values }] };
  }
  const codes = new Uint32Array(atoms.length);
  const entries: Atom[] = [];
  const known = new Map<Atom, number>();
  atoms.forEach((atom, row) => {
    if (atom === null) return;
    let code = known.get(atom);
    if (code === undefined) {
      code = entries.push(atom);
      known.set(atom, code);
    }
    codes[row] = code;
  });
  return { kind: 'codes', name, pieces: [codes], entries };
}

function numberPieces(view: ColumnView): NumberPiece[] {
  const pieces: NumberPiece[] = [];
  for (let index = 0; index < view.chunkCount; index++) {
    const chunk = view.chunk(index);
    if (chunk instanceof NumericChunkView) {
      const values = chunk.values.subarray(0, chunk.rowCount);
      pieces.push(chunk.validity === undefined ? { values } : { values, validity: chunk.validity });
    } else {
      pieces.push({
        values: Float64Array.from({ length: chunk.rowCount }, (_, row) => chunk.numberAt(row)),
      });
    }
  }
  return pieces;
}

function gatherNumbers(view: ColumnView, rows: Int32Array): NumberPiece {
  return { values: Float64Array.from(rows, (row) => view.numberAt(row)) };
}

function codePieces(view: ColumnView): CodeArray[] {
  const pieces: CodeArray[] = [];
  for (let index = 0; index < view.chunkCount; index++) {
    const chunk = view.chunk(index);
    if (chunk instanceof CodesChunkView) pieces.push(chunk.codes.subarray(0, chunk.rowCount));
    else {
      const codes = new Uint32Array(chunk.rowCount);
      for (let row = 0; row < chunk.rowCount; row++) codes[row] = codeOf(view, chunk.atomAt(row));
      pieces.push(codes);
    }
  }
  return pieces;
}

function gatherCodes(view: ColumnView, rows: Int32Array): CodeArray {
  const starts: number[] = [];
  let start = 0;
  for (let index = 0; index < view.chunkCount; index++) {
    starts.push(start);
    start += view.chunk(index).rowCount;
  }
  const pieces = codePieces(view);
  const out = new Uint32Array(rows.length);
  let piece = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as number;
    // Rows mostly ascend, so the piece is the same or the next one.
    while (row < (starts[piece] as number)) piece--;
    while (piece + 1 < starts.length && row >= (starts[piece + 1] as number)) piece++;
    out[i] = (pieces[piece] as CodeArray)[row - (starts[piece] as number)] as number;
  }
  return out;
}

function codeOf(view: ColumnView, atom: Atom): number {
  return view.dictionary?.find(atom) ?? 0;
}

function gatherAtoms(view: ColumnView, rows: Int32Array | undefined): Atom[] {
  return rows === undefined ? [...view.atoms()] : Array.from(rows, (row) => view.atomAt(row));
}
