import { expect, test } from 'vitest';
import {
  JSON_NODE_KIND,
  JSON_NODE_SIZE,
  ROW_TEXT_REPORT_SIZE,
  TEXT_COLUMN_KIND,
  TEXT_COLUMN_SIZE,
} from '../../../src/kernel/generated.ts';
import { printNumber } from '../../../src/value/number-text.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

interface Cells {
  readonly kind: number;
  readonly width?: number;
  readonly data: number;
  readonly valid?: number;
  readonly bytes?: number;
  readonly offsets?: number;
  readonly first?: number;
}

function putColumns(columns: readonly Cells[]): number {
  const words = new Uint32Array((columns.length * TEXT_COLUMN_SIZE) / 4);
  const doubles = new Float64Array(words.buffer);
  columns.forEach(({ kind, width = 0, data, valid = 0, bytes = 0, offsets = 0, first = 0 }, i) => {
    words.set([kind, width, data, valid, bytes, offsets], i * 8);
    doubles[i * 4 + 3] = first;
  });
  return put(words);
}

const textOf = (at: number, length: number) =>
  new TextDecoder().decode(read(Uint8Array, at, length));

function csv(columns: readonly Cells[], rowCount: number, size = 1 << 16) {
  const [out, report] = [room(size), room(ROW_TEXT_REPORT_SIZE)];
  const at = putColumns(columns);
  const comma = 0x2c;
  const rows = kernels.csvRows(at, columns.length, 0, rowCount, out, out + size, comma, 34, report);
  const [next, hard] = read(Int32Array, report, 2);
  return { rows, hard, text: textOf(out, (next as number) - out) };
}

/** Lines of objects of which column i is member `k${i}`. */
function json(columns: readonly Cells[], rowCount: number, includesNulls = false) {
  const size = 1 << 16;
  const [out, report, scratch] = [room(size), room(ROW_TEXT_REPORT_SIZE), room(64)];
  const nodes = new Int32Array(((columns.length + 1) * JSON_NODE_SIZE) / 4);
  nodes.set([JSON_NODE_KIND.object, 0, 0, 0, columns.length + 1, -1]);
  columns.forEach((_, i) => {
    const name = new TextEncoder().encode(`"k${i}":`);
    nodes.set([JSON_NODE_KIND.value, i, put(name), name.length, i + 2, -1], (i + 1) * 6);
  });
  const [at, first] = [putColumns(columns), put(nodes)];
  const rows = kernels.jsonRows(
    ...([at, first, 0, rowCount, out, out + size, includesNulls, scratch, report] as const),
  );
  const [next, hard] = read(Int32Array, report, 2);
  return { rows, hard, text: textOf(out, (next as number) - out) };
}

const word = new DataView(new ArrayBuffer(8));

function anyDouble(draw: Draw): number {
  const form = draw.integer(0, 5);
  if (form === 0) return draw.integer(-1000, 1000) / draw.pick([1, 10, 100, 1000, 10000, 8, 3]);
  if (form === 1) return draw.uniform() * 10 ** draw.integer(-12, 25);
  if (form === 2) return -(2 ** draw.integer(-1074, 1023));
  if (form === 3) return Number(`${draw.integer(1, 99)}e${draw.integer(-323, 300)}`);
  if (form === 4) return draw.integer(0, 2 ** 31) * 2 ** draw.integer(10, 45);
  for (;;) {
    word.setBigUint64(0, draw.word());
    const value = word.getFloat64(0);
    if (Number.isFinite(value)) return value;
  }
}

test('doubles have the digits and the layout of JavaScript in JSON, of the dialect in CSV', () => {
  repeat((draw) => {
    const values = draw.list(400, () => anyDouble(draw));
    values.push(5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 63, 1e21, 1e-6, 1e-7, 9.5e-7, 0.3);
    const column = { kind: TEXT_COLUMN_KIND.float64, data: put(Float64Array.from(values)) };
    expect(csv([column], values.length).text.split('\n').slice(0, -1)).toEqual(
      values.map(printNumber),
    );
    expect(json([column], values.length).text.split('\n').slice(0, -1)).toEqual(
      values.map((value) => `{"k0":${value === 0 ? 0 : String(value)}}`),
    );
  });
});

test('what is no number is a word in CSV and absent in JSON', () => {
  const values = Float64Array.of(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY);
  const column = { kind: TEXT_COLUMN_KIND.float64, data: put(values) };
  expect(csv([column], 3).text).toBe('nan\ninf\n-inf\n');
  expect(json([column], 3).text).toBe('{}\n{}\n{}\n');
  expect(json([column], 1, true).text).toBe('{"k0":null}\n');
});

test('timestamps are written as the value prints, or left to others', () => {
  repeat((draw) => {
    const values = draw.list(60, () => {
      const second = draw.integer(-62_135_596_900, 253_402_300_900);
      const form = draw.integer(0, 4);
      if (form === 0) return second;
      if (form === 1) return second + draw.integer(0, 999) / 1000;
      if (form === 2) return draw.uniform() * 2e9;
      if (form === 3) return draw.integer(0, 2e9) + draw.integer(0, 999_999) / 1e6;
      return draw.pick([Number.NaN, Infinity, -Infinity, 0, -1, 951_782_400, 0.1]);
    });
    for (const value of values) {
      const column = { kind: TEXT_COLUMN_KIND.timestamp, data: put(Float64Array.of(value)) };
      const { rows, hard, text } = csv([column], 1);
      if (rows === 1) expect(text).toBe(`${new Timestamp(value)}\n`);
      else expect([hard, value % 1 === 0, Math.abs(value) < 1e10]).toEqual([0, false, true]);
      const inJson = json([column], 1);
      if (inJson.rows === 0) continue;
      expect(inJson.text).toBe(
        Number.isFinite(value) ? `{"k0":"${new Timestamp(value)}"}\n` : '{}\n',
      );
    }
  }, 10);
});

test('texts, integers and nulls are quoted and escaped as plain code does it', () => {
  repeat((draw) => {
    const rowCount = draw.integer(1, 40);
    const part = () =>
      draw.pick(['a', 'ä', '"', ',', '\n', '\r', '\\', '\u0001', '\u001f', 'é𝄞', '']);
    const entries = draw.list(draw.integer(1, 8), () =>
      draw.list(draw.pick([1, 5, 40, 90]), part).join(''),
    );
    const encoded = entries.map((entry) => new TextEncoder().encode(entry));
    const offsets = [0, 0];
    for (const { length } of encoded) offsets.push((offsets.at(-1) as number) + length);
    const heap = Buffer.concat(encoded);
    const codes = draw.list(rowCount, () => draw.integer(0, entries.length));
    const width = draw.pick([1, 2, 4]);
    const stored = width === 1 ? Uint8Array : width === 2 ? Uint16Array : Uint32Array;
    const integers = draw.integers(rowCount, -(2 ** 31), 2 ** 31 - 1);
    const bits = draw.list(rowCount, () => draw.integer(0, 1));
    const bitmap = new Uint8Array((rowCount + 7) >> 3);
    bits.forEach((bit, i) => {
      bitmap[i >> 3] = (bitmap[i >> 3] as number) | (bit << (i & 7));
    });
    const shared = { bytes: put(Uint8Array.from(heap)), offsets: put(Uint32Array.from(offsets)) };
    const columns = [
      { kind: TEXT_COLUMN_KIND.codes, width, data: put(stored.from(codes)), ...shared },
      { kind: TEXT_COLUMN_KIND.int32, data: put(integers), valid: put(bitmap) },
      { kind: TEXT_COLUMN_KIND.nulls, data: 0 },
      { kind: TEXT_COLUMN_KIND.sequence, data: 0, first: 998 },
      { kind: TEXT_COLUMN_KIND.ready, width: 4, data: put(Uint32Array.from(codes)), ...shared },
    ];
    const quoted = (text: string) =>
      /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    const plainCsv = codes.map((code, i) => {
      const text = code === 0 ? '' : (entries[code - 1] as string);
      return `${quoted(text)},${bits[i] === 1 ? integers[i] : ''},,${998 + i},${text}\n`;
    });
    expect(csv(columns, rowCount).text).toBe(plainCsv.join(''));
    const plainJson = codes.map((code, i) => {
      const text = code === 0 ? undefined : entries[code - 1];
      const members = { k0: text, k1: bits[i] === 1 ? integers[i] : undefined, k3: `${998 + i}` };
      return `${JSON.stringify(members)}\n`;
    });
    expect(json(columns.slice(0, 4), rowCount).text).toBe(plainJson.join(''));
    // Whole lines only, however little room there is.
    const room = draw.integer(100, 600);
    const { rows, text } = csv(columns, rowCount, room);
    expect(text).toBe(plainCsv.slice(0, rows).join(''));
    expect(text.length).toBeLessThanOrEqual(room);
  });
});
