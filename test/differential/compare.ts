// Whether two answers hold the same rows.
import type { Answer, Cell } from './engines.ts';

type Row = readonly Cell[];

/** @returns what differs, in words; undefined when nothing does */
export function difference(ours: Answer, theirs: Answer, isOrdered: boolean): string | undefined {
  if ('error' in theirs) return undefined;
  if ('error' in ours) return `refused: ${ours.error}`;
  if (ours.rows.length !== theirs.rows.length) {
    return `${ours.rows.length} rows, DuckDB has ${theirs.rows.length}`;
  }
  if (isOrdered) {
    const at = ours.rows.findIndex((row, index) => !areSame(row, theirs.rows[index] as Row));
    if (at < 0) return undefined;
    return `row ${at}: ${JSON.stringify(ours.rows[at])}, DuckDB has ${JSON.stringify(theirs.rows[at])}`;
  }
  const left = new Set(theirs.rows.map((_, index) => index));
  const others = sorted(theirs.rows);
  const lone = sorted(ours.rows).find((row) => !takeSame(row, others, left));
  return lone && `row ${JSON.stringify(lone)} is not among DuckDB's`;
}

function sorted(rows: readonly Row[]): readonly Row[] {
  const texts = new Map(rows.map((row) => [row, JSON.stringify(row)]));
  const text = (row: Row) => texts.get(row) as string;
  return [...rows].sort((a, b) => (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

/** Takes a row like this one out of those that are left; sorted, it is mostly the first. */
function takeSame(row: Row, others: readonly Row[], left: Set<number>): boolean {
  for (const index of left) {
    if (!areSame(row, others[index] as Row)) continue;
    left.delete(index);
    return true;
  }
  return false;
}

function areSame(ours: Row, theirs: Row): boolean {
  return (
    ours.length === theirs.length && ours.every((cell, at) => isSame(cell, theirs[at] ?? null))
  );
}

function isSame(ours: Cell, theirs: Cell): boolean {
  if (typeof ours !== 'number' || typeof theirs !== 'number') return ours === theirs;
  return Math.abs(ours - theirs) <= 1e-9 * Math.max(1, Math.abs(theirs));
}
