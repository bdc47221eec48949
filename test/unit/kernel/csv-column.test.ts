// Kernels of columns of delimited text: fields, numbers and codes.
import { describe, expect, test } from 'vitest';
import {
  CSV_COLUMN,
  CSV_COLUMN_SIZE,
  CSV_DICTIONARY,
  CSV_DICTIONARY_SIZE,
  CSV_REPORT,
  CSV_REPORT_SIZE,
  CSV_SLOT_SIZE,
  CSV_SWITCH,
} from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

/** Cells of one column, whose texts lie one after the other. */
function putCells(texts: readonly string[]): number {
  const heap = put(new TextEncoder().encode(`${' '.repeat(64)}${texts.join('')}`)) + 64;
  const offsets = [0];
  for (const text of texts) offsets.push((offsets.at(-1) as number) + text.length);
  const cells = room(texts.length * 8 + 16) + 8;
  kernels.csvCells(heap, put(Uint32Array.from(offsets)), texts.length, cells);
  return cells;
}

/** The text of a cell. */
function textAt(cell: number): string {
  const [start, end] = read(Uint32Array, cell - 4, 2) as unknown as [number, number];
  return new TextDecoder().decode(read(Uint8Array, start, end - start));
}

test('csvCells', () => {
  repeat((draw) => {
    const texts = draw.list(draw.integer(0, 20), () => 'abcdef'.slice(0, draw.integer(0, 6)));
    const cells = putCells(texts);
    expect(texts.map((_, i) => textAt(cells + i * 8))).toEqual(texts);
  });
});

/** The state of a column that has no value yet. */
function putColumn(): number {
  const bytes = new DataView(new ArrayBuffer(CSV_COLUMN_SIZE));
  bytes.setFloat64(CSV_COLUMN.min, Infinity, true);
  bytes.setFloat64(CSV_COLUMN.max, -Infinity, true);
  return put(new Uint8Array(bytes.buffer));
}

function expectColumn(state: number, values: readonly (number | undefined)[]): void {
  const numbers = values.filter((value) => value !== undefined);
  const [min, max] = read(Float64Array, state + CSV_COLUMN.min, 2);
  expect([min, max].map((x) => (x as number) + 0)).toEqual([
    Math.min(...numbers) + 0,
    Math.max(...numbers) + 0,
  ]);
  const nulls = values.length - numbers.length;
  expect(read(Int32Array, state + CSV_COLUMN.nulls, 1)[0]).toBe(nulls);
}

describe('columns of numbers', () => {
  const parsed = (text: string): number | undefined => (text === '' ? undefined : Number(text));

  /** Fields that a kernel reads, then now and then one at which it stops. */
  const fieldsOf = (draw: Draw, some: () => string, ends: readonly string[]) => {
    const texts = draw.list(draw.integer(0, 12), some);
    const end = draw.chance(0.5) ? [draw.pick(ends), some()] : [];
    return { texts, cells: putCells([...texts, ...end]), count: texts.length + end.length };
  };

  test('csvIntegers', () => {
    repeat((draw) => {
      const some = () =>
        draw.chance(0.2)
          ? draw.pick(['', '+5', ' 7', '-2147483648', '2147483647', '000000000012'])
          : String(draw.integer(-(10 ** draw.integer(0, 9)), 10 ** draw.integer(0, 9)));
      const ends = ['x', '1.5', '2147483648', '-', '12a'];
      const { texts, cells, count } = fieldsOf(draw, some, ends);
      const [out, validity, state] = [room(80), put(new Uint8Array(4).fill(255)), putColumn()];
      const first = draw.integer(0, 3);
      const done = kernels.csvIntegers(cells, 8, count, out, validity, first, state);
      expect(done).toBe(texts.length);
      const values = texts.map(parsed);
      const found = [...read(Int32Array, out + first * 4, done)];
      expect(found).toEqual(values.map((value) => value ?? 0));
      const bits = read(Uint8Array, validity, 4);
      for (const [i, value] of values.entries()) {
        const row = first + i;
        expect(((bits[row >> 3] as number) >> (row & 7)) & 1).toBe(Number(value !== undefined));
      }
      expectColumn(state, values);
    });
  });

  test('csvDoubles, and csvNote for whole numbers', () => {
    repeat((draw) => {
      const some = () =>
        draw.pick(['', '0.5', '1e3', '-7', '1E-2', '12345.678', String(draw.integer(0, 1e6) / 8)]);
      const { texts, cells, count } = fieldsOf(draw, some, ['x', '1.2.3']);
      const [out, validity, state] = [room(160), put(new Uint8Array(4).fill(255)), putColumn()];
      const done = kernels.csvDoubles(cells, 8, count, out, validity, 0, state);
      expect(done).toBe(texts.length);
      const values = texts.map(parsed);
      const found = [...read(Float64Array, out, done)];
      expect(found).toEqual(values.map((value) => value ?? 0));
      expectColumn(state, values);
      const isWhole = values.every((value) => value === undefined || Number.isInteger(value));
      expect(read(Int32Array, state + CSV_COLUMN.fractions, 1)[0]).toBe(isWhole ? 0 : 1);
      const note = putColumn();
      const value = draw.pick([1, 2.5, -3, 2 ** 63, -(2 ** 63)]);
      kernels.csvNote(note, value);
      expectColumn(note, [value]);
      const isInteger64 = Number.isInteger(value) && value < 2 ** 63;
      expect(read(Int32Array, note + CSV_COLUMN.fractions, 1)[0]).toBe(isInteger64 ? 0 : 1);
    });
  });

  test('csvWiden turns integers into doubles in place; csvZeros', () => {
    repeat((draw) => {
      const values = draw.integers(draw.integer(0, 20), -2, 2);
      const source = put(new Uint8Array(values.length * 8));
      kernels.csvRecode(put(values), 4, values.length, 0, source, 4);
      expect(kernels.csvZeros(source, values.length)).toBe(values.filter((x) => x === 0).length);
      kernels.csvWiden(source, values.length);
      expect([...read(Float64Array, source, values.length)]).toEqual([...values]);
    });
  });
});

describe('columns of texts', () => {
  function putDictionary(slots: number, heap: number, entries: number): number {
    const words = new Uint32Array(CSV_DICTIONARY_SIZE / 4);
    const fields = {
      table: put(new Uint8Array(slots * CSV_SLOT_SIZE)),
      mask: slots - 1,
      heap: room(heap + 64),
      heapCapacity: heap,
      offsets: put(new Uint32Array(entries + 2)),
      offsetsCapacity: entries,
    };
    for (const [field, value] of Object.entries(fields)) {
      words[CSV_DICTIONARY[field as keyof typeof CSV_DICTIONARY] / 4] = value;
    }
    return put(words);
  }

  test('csvCodes numbers texts by their first appearance, and stops when there is no room', () => {
    repeat((draw) => {
      const letters = 'a long text of many letters, and more';
      const some = () =>
        letters.slice(draw.integer(0, 3), draw.integer(3, 3 + draw.pick([2, 6, 30])));
      const texts = draw.list(draw.integer(0, 40), () => (draw.chance(0.2) ? '' : some()));
      const [heap, entries] = [draw.pick([40, 4000]), draw.pick([5, 100])];
      const dictionary = putDictionary(128, heap, entries);
      const [cells, out] = [putCells(texts), room(texts.length * 4)];
      const done = kernels.csvCodes(cells, 8, texts.length, out, dictionary);
      const known: string[] = [];
      const codes: number[] = [];
      for (const text of texts) {
        if (text !== '' && !known.includes(text)) {
          const size = known.join('').length + text.length;
          if (known.length >= 63 || known.length + 1 >= entries || size > heap) break;
          known.push(text);
        }
        codes.push(text === '' ? 0 : known.indexOf(text) + 1);
      }
      expect(done).toBe(codes.length);
      expect([...read(Uint32Array, out, done)]).toEqual(codes);
      const field = (name: keyof typeof CSV_DICTIONARY) =>
        read(Uint32Array, dictionary + CSV_DICTIONARY[name], 1)[0] as number;
      expect([field('count'), field('heapSize')]).toEqual([known.length, known.join('').length]);
      const bytes = read(Uint8Array, field('heap'), field('heapSize'));
      expect(new TextDecoder().decode(bytes)).toBe(known.join(''));
      // The same entries in an empty table are found again.
      kernels.csvRecode(put(new Uint32Array(128 * 4)), 4, 128 * 4, 0, field('table'), 4);
      kernels.csvRehash(dictionary);
      expect(kernels.csvCodes(cells, 8, done, out, dictionary)).toBe(done);
      expect([...read(Uint32Array, out, done)]).toEqual(codes);
      expect(field('count')).toBe(known.length);
    });
  });
});

describe('csvFields', () => {
  /** The fields of a line; undefined when it is not accepted. */
  function plainFields(line: string, columnCount: number, switches: number): string[] | undefined {
    if (line === '' || line === '\r') return undefined;
    const rest = line.replace(/[ \t-\r]+$/, '');
    const fields: string[] = [];
    let at = 0;
    while (at < rest.length && fields.length < columnCount) {
      const isFormula = (switches & CSV_SWITCH.excelFormulas) !== 0 && rest.startsWith('="', at);
      const quoted = /^"((?:[^"]|"")*)"/.exec(rest.slice(isFormula ? at + 1 : at));
      if (rest[isFormula ? at + 1 : at] === '"') {
        if (quoted === null) return undefined;
        fields.push((quoted[1] as string).replaceAll('""', '"'));
        at += quoted[0].length + Number(isFormula);
        if (at < rest.length && rest[at] !== ',') return undefined;
      } else {
        const end = rest.indexOf(',', at);
        fields.push(rest.slice(at, end < 0 ? rest.length : end));
        at = end < 0 ? rest.length : end;
      }
      if (at < rest.length) at++;
    }
    if (at < rest.length && (switches & CSV_SWITCH.ignoreExtraColumns) === 0) return undefined;
    if (fields.length < columnCount - 1) return undefined;
    return fields.length < columnCount ? [...fields, ''] : fields;
  }

  test('splits lines as the plain rules do', () => {
    repeat((draw) => {
      const columnCount = draw.integer(1, 3);
      const field = () =>
        draw.pick(['a', '', '"b"', '"c,d"', '"e""f"', 'g h ', '="7"', '"open', '"x"y', '1']);
      const lines = draw.list(draw.integer(0, 8), () =>
        draw.chance(0.1) ? draw.pick(['', '\r']) : draw.list(draw.integer(1, 4), field).join(','),
      );
      const switches =
        (draw.chance(0.5) ? CSV_SWITCH.excelFormulas : 0) |
        (draw.chance(0.5) ? CSV_SWITCH.ignoreExtraColumns : 0) |
        (draw.chance(0.3) ? CSV_SWITCH.stopAtBadLine : 0);
      const text = lines.map((line) => `${line}\n`).join('');
      const start = put(new TextEncoder().encode(`${text}${'\n'.repeat(64)}`));
      const cells = room(lines.length * columnCount * 8 + 32) + 16;
      const [refused, report] = [room(lines.length * 4 + 4), room(CSV_REPORT_SIZE)];
      const used = put(new Uint8Array(columnCount));
      const accepted = kernels.csvFields(
        ...([start, start + text.length, cells, columnCount, 44, 34] as const),
        ...([switches, used, refused, report] as const),
      );
      const plain: string[][] = [];
      const bad: number[] = [];
      let seen = 0;
      for (const [i, line] of lines.entries()) {
        const fields = plainFields(line, columnCount, switches);
        if (fields === undefined) bad.push(i);
        else plain.push(fields);
        seen = i + 1;
        if (bad.length > 0 && (switches & CSV_SWITCH.stopAtBadLine) !== 0) break;
      }
      expect(accepted).toBe(plain.length);
      const found = plain.flat().map((_, i) => textAt(cells + i * 8));
      expect(found).toEqual(plain.flat());
      expect([...read(Int32Array, refused, bad.length)]).toEqual(bad);
      const told = (name: keyof typeof CSV_REPORT) =>
        read(Int32Array, report + CSV_REPORT[name], 1)[0] as number;
      expect([told('lines'), told('refused')]).toEqual([seen, bad.length]);
      const behind = lines.slice(0, seen).reduce((size, line) => size + line.length + 1, 0);
      expect(told('next')).toBe(start + behind);
    }, 100);
  });
});
