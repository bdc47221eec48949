import { expect, test } from 'vitest';
import { JSON_CELL, JSON_PIECE, JSON_PIECE_SIZE } from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const ROW_COUNT_MAX = 12;

interface Column {
  readonly values: number;
  readonly cells: number;
}

interface Piece {
  readonly literal: string;
  readonly column?: Column;
  readonly next?: readonly Piece[];
}

/** @returns the address of the first of pieces that may stand in one place */
function putPieces(pieces: readonly Piece[]): number {
  let other = 0;
  for (const { literal, column, next } of [...pieces].reverse()) {
    const piece = new Uint32Array(JSON_PIECE_SIZE / 4);
    const set = (field: keyof typeof JSON_PIECE, value: number) => {
      piece[JSON_PIECE[field] / 4] = value;
    };
    set('literal', put(Buffer.from(literal)));
    set('literalSize', Buffer.byteLength(literal));
    set('values', column?.values ?? 0);
    set('cells', column?.cells ?? 0);
    set('next', next === undefined ? 0 : putPieces(next));
    set('other', other);
    other = put(piece);
  }
  return other;
}

function makeColumn(): Column {
  return { values: room(8 * ROW_COUNT_MAX), cells: put(new Uint8Array(ROW_COUNT_MAX)) };
}

const TEXTS = ['', 'plain', 'ä'.repeat(20), 'with "quotes"', 'back\\slash', '\u0001\n', '😀'];

function anyValue(draw: Draw): unknown {
  return draw.pick([
    () => draw.integer(-1e9, 1e9),
    () => draw.uniform() * 1e-5,
    () => draw.integer(0, 1e6) / 8,
    () => draw.pick([true, false, null]),
    () => draw.pick(TEXTS),
  ])();
}

/** What a column has in a row, by the kernel's account. */
function cellOf({ values, cells }: Column, row: number): unknown {
  const pair = read(Uint32Array, values + 8 * row, 2);
  const text = () =>
    Buffer.from(read(Uint8Array, pair[0] as number, (pair[1] as number) - (pair[0] as number)));
  switch (read(Uint8Array, cells + row, 1)[0]) {
    case JSON_CELL.number:
      return read(Float64Array, values + 8 * row, 1)[0];
    case JSON_CELL.text:
      return text().toString();
    case JSON_CELL.escaped:
      return JSON.parse(`"${text()}"`);
    case JSON_CELL.integer:
      return BigInt(text().toString());
    case JSON_CELL.nothing:
      return null;
    default:
      return undefined;
  }
}

/** A line with one of two forms, or another; and the values that the kernel must find. */
function lineOf(draw: Draw): { readonly text: string; readonly cells?: readonly unknown[] } {
  const [a, b] = [anyValue(draw), anyValue(draw)];
  const plain = (value: unknown) => (typeof value === 'boolean' ? Number(value) : value);
  const tail = draw.pick(['', ' ', '\r', ' \t\r']);
  const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
  return draw.pick([
    () => ({ text: `{"a":${x},"b":${y}}${tail}`, cells: [plain(a), plain(b)] }),
    () => ({ text: `{"a":${x}}${tail}`, cells: [plain(a), undefined] }),
    () => ({ text: `{"b": ${y}}${tail}`, cells: [undefined, plain(b)] }),
    () => ({ text: `{"a":-90071992547409930,"b":0}`, cells: [-90071992547409930n, 0] }),
    () =>
      draw.pick([
        { text: `{"a":${x},"b":${y}}}` },
        { text: `{"a":01,"b":1}` },
        { text: `{"a":"\\x"}` },
        { text: `{"a":"\\u12g4"}` },
        { text: '{"a":"\u0001"}' },
        { text: `{"a":tru,"b":1}` },
        { text: '{"a":' },
        { text: '' },
        { text: `{"a":1e999}` },
      ]),
  ])();
}

test('jsonLines reads lines of forms that are known, up to one of another', () => {
  repeat((draw) => {
    const [a, b] = [makeColumn(), makeColumn()];
    const end = { literal: '}' };
    const pieces = putPieces([
      { literal: '{"a":', column: a, next: [end, { literal: ',"b":', column: b, next: [end] }] },
      { literal: '{"b": ', column: b, next: [end] },
    ]);
    const lines = draw.list(draw.integer(0, 15), () => lineOf(draw));
    const text = Buffer.from(lines.map((line) => line.text).join('\n'));
    const start = put(Buffer.concat([text, Buffer.alloc(1)]));
    const lineSizeMax = draw.pick([1000, 25]);
    const other = lines.findIndex(
      (line) => line.cells === undefined || Buffer.byteLength(line.text) > lineSizeMax,
    );
    const count = Math.min(ROW_COUNT_MAX, other === -1 ? lines.length : other);
    const report = room(16);
    const first = draw.integer(0, 2);
    const last = kernels.jsonLines(
      ...([start, start + text.length, pieces, first, ROW_COUNT_MAX, lineSizeMax] as const),
      report,
    );
    const taken = Math.min(count, ROW_COUNT_MAX - first);
    expect(last - first).toBe(taken);
    const size = Buffer.byteLength(
      lines
        .slice(0, taken)
        .map((line) => `${line.text}\n`)
        .join(''),
    );
    const stop = (read(Uint32Array, report, 1)[0] as number) - start;
    expect(stop).toBe(Math.min(size, text.length));
    for (let i = 0; i < taken; i++) {
      expect([cellOf(a, first + i), cellOf(b, first + i)]).toEqual(lines[i]?.cells);
    }
  });
});

test('jsonCells says which kinds of cells there are', () => {
  repeat((draw) => {
    const cells = draw.list(draw.integer(0, 40), () => draw.integer(0, 5));
    const plain = cells.reduce((seen, cell) => seen | (1 << cell), 0);
    expect(kernels.jsonCells(put(Uint8Array.from(cells)), cells.length)).toBe(plain);
  });
});

test('jsonUnescape writes what escapes mean', () => {
  repeat((draw) => {
    const part = () =>
      draw.pick(['\\n', '\\"', '\\\\', '\\/', '\\b\\f\\r\\t', 'ab', 'é', '\\u00e9', '\\u0041']) +
      draw.pick(['', '\\u20AC', '\\ud83d\\ude00', '\\ud83d', '\\ude00', '\\ud83dx', '\\ud83d\\n']);
    const texts = draw.list(draw.integer(1, 5), () => draw.list(draw.integer(0, 5), part).join(''));
    const heap = Buffer.from(texts.join('|'));
    const at = put(heap);
    const pairs = new Uint32Array(texts.length * 2);
    let from = at;
    texts.forEach((text, i) => {
      pairs[2 * i] = from;
      from += Buffer.byteLength(text);
      pairs[2 * i + 1] = from++;
    });
    const isEscaped = texts.map(() => draw.chance(0.8));
    const values = put(pairs);
    const cells = put(
      Uint8Array.from(isEscaped, (is) => (is ? JSON_CELL.escaped : JSON_CELL.absent)),
    );
    kernels.jsonUnescape(values, cells, texts.length);
    texts.forEach((text, i) => {
      const [start = 0, end = 0] = read(Uint32Array, values + 8 * i, 2);
      const is = Buffer.from(read(Uint8Array, start, end - start)).toString();
      const plain = isEscaped[i] ? Buffer.from(JSON.parse(`"${text}"`)).toString() : text;
      expect(is).toBe(plain);
    });
    expect([...read(Uint8Array, cells, texts.length)]).toEqual(
      isEscaped.map((is) => (is ? JSON_CELL.text : JSON_CELL.absent)),
    );
  });
});
