// Points of a map: coordinates and colours as flat arrays, which the page can draw without rows.
import type { Vector } from 'apache-arrow';
import { cellText } from './cell.ts';
import type { ColumnKind, MapPoints, PointColours } from './protocol.ts';

/** More values than a reader tells apart by colour; the rest share one. */
const GROUP_COUNT_MAX = 10;
/** A number of at most so many values is a label, for instance of a cluster. */
const LABEL_VALUES_MAX = 10;
/** Shares of the values that the ends of the scale leave out, so that a few extremes do not wash it out. */
const SCALE_MARGIN = 0.01;

export interface PointColumn {
  readonly vectors: readonly (Vector | null)[];
  readonly kind: ColumnKind;
}

/** @param count of rows. Coordinates that are no numbers are NaN */
export function mapPoints(
  count: number,
  x: PointColumn,
  y: PointColumn,
  colour: PointColumn | undefined,
): MapPoints {
  return {
    x: numbersOf(x, count),
    y: numbersOf(y, count),
    colours: colour === undefined ? { kind: 'none' } : coloursOf(colour, count),
  };
}

function numbersOf(column: PointColumn, count: number): Float32Array<ArrayBuffer> {
  const numbers = new Float32Array(count).fill(Number.NaN);
  if (column.kind === 'text' || column.kind === 'blob' || column.kind === 'interval') {
    return numbers;
  }
  eachValue(column, (value, row) => {
    if (value !== null && value !== undefined && value !== '') numbers[row] = Number(value);
  });
  return numbers;
}

function coloursOf(column: PointColumn, count: number): PointColours {
  const isNumber =
    column.kind === 'integer' || column.kind === 'number' || column.kind === 'timestamp';
  const counts = new Map<string | null, number>();
  eachValue(column, (value) => {
    const text = cellText(value, column.kind);
    // Of many texts only the frequent ones are told apart; numbers past the limit are a scale.
    if (isNumber && counts.size > LABEL_VALUES_MAX + 1) return;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  });
  const isScale = isNumber && counts.size - (counts.has(null) ? 1 : 0) > LABEL_VALUES_MAX;
  return isScale ? scaleOf(column, count) : groupsOf(column, count, counts, isNumber);
}

function scaleOf(column: PointColumn, count: number): PointColours {
  const values = numbersOf(column, count);
  const sorted = values.filter(Number.isFinite).sort();
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
  const text = (number: number) =>
    cellText(number, column.kind === 'timestamp' ? 'timestamp' : 'number') ?? '';
  const [from, to] = [at(SCALE_MARGIN), at(1 - SCALE_MARGIN)];
  return { kind: 'scale', values, from, to, fromText: text(from), toText: text(to) };
}

function groupsOf(
  column: PointColumn,
  count: number,
  counts: ReadonlyMap<string | null, number>,
  isNumber: boolean,
): PointColours {
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).slice(0, GROUP_COUNT_MAX);
  const groups = frequent.map(([value, rowCount]) => ({ value, rowCount }));
  groups.sort((a, b) => compareLabels(a.value, b.value, isNumber));
  const codeOf = new Map(groups.map(({ value }, code) => [value, code]));
  const codes = new Uint8Array(count).fill(groups.length);
  eachValue(column, (value, row) => {
    codes[row] = codeOf.get(cellText(value, column.kind)) ?? groups.length;
  });
  const named = groups.reduce((sum, { rowCount }) => sum + rowCount, 0);
  return { kind: 'groups', groups, codes, otherCount: count - named };
}

/** NULL last. */
function compareLabels(a: string | null, b: string | null, isNumber: boolean): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  return isNumber ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0;
}

function eachValue({ vectors }: PointColumn, visit: (value: unknown, row: number) => void): void {
  let row = 0;
  for (const vector of vectors) {
    if (vector === null) continue;
    for (const value of vector) visit(value, row++);
  }
}
