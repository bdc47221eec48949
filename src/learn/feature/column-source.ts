// Columns of datasets as learners take them: in place where they lie densely in memory.

import { every } from '../../util/every.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { CodesChunkView, ColumnView, NumericChunkView } from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import type { CodeArray, NumberPiece, SourceColumn } from './source.ts';

/** Rows or entries between two looks at the cancel flag. */
const STEPS_PER_CHECK = 32_768;

/** All rows of a column in stored order, or the given ones. @param check looks at the cancel flag */
export function sourceOfColumn(
  name: string,
  column: ColumnSnapshot,
  arenas: ArenaAllocator,
  rows: Int32Array | undefined,
  check: () => void,
): SourceColumn {
  const look = every(STEPS_PER_CHECK, check);
  const view = new ColumnView(column, arenas);
  if (view.dictionary !== undefined) {
    const { dictionary } = view;
    const entries: Atom[] = [];
    for (let code = 1; code <= dictionary.count; code++) {
      look();
      entries.push(dictionary.atom(code));
    }
    const pieces = rows === undefined ? codePieces(view, look) : [gatherCodes(view, rows, look)];
    return { kind: 'codes', name, pieces, entries };
  }
  if (column.type === 'null') return { kind: 'nulls', name };
  if (column.type === 'timestamp') return atomSource(name, gatherAtoms(view, rows, look), check);
  const pieces = rows === undefined ? numberPieces(view, look) : [gatherNumbers(view, rows, look)];
  return { kind: 'numbers', name, pieces };
}

/** A column that fewer rows have is kept by its entries, so that a million words fit. */
const SPARSE_SHARE = 0.25;

/** Values of one feature in the rows that have it. @param check looks at the cancel flag */
export function columnSource(
  name: string,
  rows: ArrayLike<number>,
  atoms: readonly Atom[],
  rowCount: number,
  check: () => void,
): SourceColumn {
  const isNumeric = atoms.every((atom) => typeof atom === 'number' && !Number.isNaN(atom));
  if (isNumeric && rows.length < SPARSE_SHARE * rowCount) {
    const values = Float64Array.from(atoms as readonly number[]);
    return { kind: 'sparse', name, rowCount, rows: Uint32Array.from(rows), values };
  }
  const all = new Array<Atom>(rowCount).fill(null);
  for (let i = 0; i < rows.length; i++) all[rows[i] as number] = atoms[i] as Atom;
  return atomSource(name, all, check);
}

/**
 * Values of one feature, one a row, as they came out of an expression.
 * @param check looks at the cancel flag
 */
export function atomSource(
  name: string,
  atoms: readonly Atom[],
  check: () => void = () => undefined,
): SourceColumn {
  if (atoms.every((atom) => atom === null)) return { kind: 'nulls', name };
  if (atoms.every((atom) => atom === null || typeof atom === 'number')) {
    check();
    const values = new Float64Array(atoms.length);
    for (const [row, atom] of atoms.entries()) {
      values[row] = atom === null ? Number.NaN : (atom as number);
    }
    // A NaN is a number that was seen; only null is missing.
    if (!atoms.some((atom) => Number.isNaN(atom)))
      return { kind: 'numbers', name, pieces: [{ values }] };
  }
  const codes = new Uint32Array(atoms.length);
  const entries: Atom[] = [];
  const known = new Map<Atom, number>();
  const look = every(STEPS_PER_CHECK, check);
  atoms.forEach((atom, row) => {
    look();
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

function numberPieces(view: ColumnView, look: () => void): NumberPiece[] {
  const pieces: NumberPiece[] = [];
  for (let index = 0; index < view.chunkCount; index++) {
    const chunk = view.chunk(index);
    if (chunk instanceof NumericChunkView) {
      const values = chunk.values.subarray(0, chunk.rowCount);
      pieces.push(chunk.validity === undefined ? { values } : { values, validity: chunk.validity });
    } else {
      const values = new Float64Array(chunk.rowCount);
      for (let row = 0; row < values.length; row++) {
        look();
        values[row] = chunk.numberAt(row);
      }
      pieces.push({ values });
    }
  }
  return pieces;
}

function gatherNumbers(view: ColumnView, rows: Int32Array, look: () => void): NumberPiece {
  const values = new Float64Array(rows.length);
  for (let i = 0; i < rows.length; i++) {
    look();
    values[i] = view.numberAt(rows[i] as number);
  }
  return { values };
}

function codePieces(view: ColumnView, look: () => void): CodeArray[] {
  const pieces: CodeArray[] = [];
  for (let index = 0; index < view.chunkCount; index++) {
    const chunk = view.chunk(index);
    if (chunk instanceof CodesChunkView) pieces.push(chunk.codes.subarray(0, chunk.rowCount));
    else {
      const codes = new Uint32Array(chunk.rowCount);
      for (let row = 0; row < chunk.rowCount; row++) {
        look();
        codes[row] = codeOf(view, chunk.atomAt(row));
      }
      pieces.push(codes);
    }
  }
  return pieces;
}

function gatherCodes(view: ColumnView, rows: Int32Array, look: () => void): CodeArray {
  const starts: number[] = [];
  let start = 0;
  for (let index = 0; index < view.chunkCount; index++) {
    starts.push(start);
    start += view.chunk(index).rowCount;
  }
  const pieces = codePieces(view, look);
  const out = new Uint32Array(rows.length);
  let piece = 0;
  for (let i = 0; i < rows.length; i++) {
    look();
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

function gatherAtoms(view: ColumnView, rows: Int32Array | undefined, look: () => void): Atom[] {
  const atoms: Atom[] = [];
  const add = (atom: Atom): void => {
    look();
    atoms.push(atom);
  };
  if (rows === undefined) for (const atom of view.atoms()) add(atom);
  else for (const row of rows) add(view.atomAt(row));
  return atoms;
}
