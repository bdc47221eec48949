// Where rows and columns lie. Rows that do not fit the height a browser can scroll are mapped to it.
import type { CellText, ResultColumn } from '../../worker/protocol.ts';

export const ROW_HEIGHT = 26;
export const HEAD_HEIGHT = 30;
/** Browsers end at about 17 to 33 million pixels. */
const SCROLL_HEIGHT_MAX = 12_000_000;
const LETTER_WIDTH = 7.6;
const WIDTH_MIN = 56;
const WIDTH_MAX = 320;

export function scrollHeight(rowCount: number): number {
  return HEAD_HEIGHT + Math.min(rowCount * ROW_HEIGHT, SCROLL_HEIGHT_MAX);
}

/** The first visible row, with its fraction. */
export function firstRowAt(scrollTop: number, rowCount: number, viewHeight: number): number {
  const full = rowCount * ROW_HEIGHT;
  if (full <= SCROLL_HEIGHT_MAX) return scrollTop / ROW_HEIGHT;
  const scrollable = scrollHeight(rowCount) - viewHeight;
  const lastFirst = rowCount - (viewHeight - HEAD_HEIGHT) / ROW_HEIGHT;
  return Math.max(0, Math.min(1, scrollTop / scrollable) * lastFirst);
}

/** The inverse. */
export function scrollTopOf(firstRow: number, rowCount: number, viewHeight: number): number {
  const full = rowCount * ROW_HEIGHT;
  if (full <= SCROLL_HEIGHT_MAX) return firstRow * ROW_HEIGHT;
  const scrollable = scrollHeight(rowCount) - viewHeight;
  const lastFirst = rowCount - (viewHeight - HEAD_HEIGHT) / ROW_HEIGHT;
  return (firstRow / lastFirst) * scrollable;
}

/** Columns in the order in which they are shown: pinned ones first, hidden ones left out. */
export class ColumnLayout {
  readonly order: readonly number[];
  readonly pinnedCount: number;
  readonly lefts: Float64Array;
  readonly gutter: number;

  constructor(
    columns: readonly ResultColumn[],
    widths: readonly number[],
    {
      hidden,
      pinned,
    }: { readonly hidden: ReadonlySet<number>; readonly pinned: ReadonlySet<number> },
    rowCount: number,
  ) {
    const shown = columns.map((_, index) => index).filter((index) => !hidden.has(index));
    const first = shown.filter((index) => pinned.has(index));
    this.order = [...first, ...shown.filter((index) => !pinned.has(index))];
    this.pinnedCount = first.length;
    this.gutter = Math.max(3, String(rowCount).length) * LETTER_WIDTH + 18;
    this.lefts = new Float64Array(this.order.length + 1);
    this.lefts[0] = this.gutter;
    this.order.forEach((index, position) => {
      this.lefts[position + 1] = (this.lefts[position] as number) + (widths[index] ?? WIDTH_MIN);
    });
  }

  get width(): number {
    return this.lefts[this.order.length] as number;
  }

  get pinnedEnd(): number {
    return this.lefts[this.pinnedCount] as number;
  }

  /** Positions of the columns that are seen, the pinned ones included. */
  visible(scrollLeft: number, viewWidth: number): number[] {
    const found = Array.from({ length: this.pinnedCount }, (_, position) => position);
    let low = this.pinnedCount;
    let high = this.order.length;
    const from = scrollLeft + this.pinnedEnd;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.lefts[middle + 1] as number) <= from) low = middle + 1;
      else high = middle;
    }
    for (let at = low; at < this.order.length; at++) {
      if ((this.lefts[at] as number) >= scrollLeft + viewWidth) break;
      found.push(at);
    }
    return found;
  }
}

/** A width that suits most of the cells. */
export function fittingWidth(name: string, cells: readonly CellText[]): number {
  const lengths = cells.map((cell) => cell?.length ?? 4).sort((a, b) => a - b);
  const typical = lengths[Math.floor(lengths.length * 0.95)] ?? 4;
  const letters = Math.max(typical, Math.min(name.length + 3, 26));
  return Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, Math.round(letters * LETTER_WIDTH + 18)));
}

const FIGURE_SPACE = '\u2007';
const POINT_SPACE = '\u2008';

/** Digits after the point; undefined for what is no plain decimal number. */
export function decimalCount(text: string): number | undefined {
  const match = /^-?\d+(?:\.(\d+))?$/.exec(text);
  return match === null ? undefined : (match[1]?.length ?? 0);
}

/** Pads a number so that points stand below one another. */
export function alignPoint(text: string, decimals: number): string {
  const own = decimalCount(text);
  if (own === undefined || own >= decimals) return text;
  return text + (own === 0 ? POINT_SPACE : '') + FIGURE_SPACE.repeat(decimals - own);
}
