import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NumberRowReader } from '../../../../src/function/model/number-row-reader.ts';

const room = new NumberRowReader();

/** The arrays that are read at once from the start of a text, and what is left. */
function read(text: string, isLines = false): { rows: number[][]; rest: string } {
  const bytes = new TextEncoder().encode(text);
  room.read(bytes, 0, isLines);
  return { rows: rowsRead(), rest: text.slice(room.position) };
}

/** The same, until nothing more is read. */
function readAll(text: string, isLines = false): { rows: number[][]; rest: string } {
  const bytes = new TextEncoder().encode(text);
  const rows: number[][] = [];
  for (let position = 0; ; position = room.position) {
    room.read(bytes, position, isLines);
    if (room.rowCount === 0) return { rows, rest: text.slice(position) };
    rows.push(...rowsRead());
  }
}

function rowsRead(): number[][] {
  return Array.from({ length: room.rowCount }, (_, i) => {
    const start = i === 0 ? 0 : room.ends[i - 1];
    return [...room.numbers.subarray(start, room.ends[i])];
  });
}

const finite = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1000, max: 1000 }),
  fc.integer({ min: -99_999, max: 99_999 }).map((n) => n / 1000),
);

describe('arrays of numbers', () => {
  test('are read as JSON.parse reads them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(finite), { minLength: 1 }),
        fc.constantFrom('', ' '),
        (rows, gap) => {
          const text = `${rows.map((row) => JSON.stringify(row).replaceAll(',', `,${gap}`)).join(`${gap},`)}${gap}]`;
          const expected = (JSON.parse(`[${text}`) as number[][]).map((row) =>
            row.map((n) => n + 0),
          );
          const { rows: found, rest } = readAll(text);
          expect(found).toEqual(expected.slice(0, found.length));
          const hasLarge = rows.some((row) => row.some((n) => Math.abs(n) > 2 ** 53));
          if (!hasLarge) expect([found.length, rest]).toEqual([rows.length, ']']);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('may be lines, the last with or without its end', () => {
    expect(read('[1]\n[2, 3]\r\n[ ]', true)).toEqual({ rows: [[1], [2, 3], []], rest: '' });
    expect(read('[1]\n', true)).toEqual({ rows: [[1]], rest: '' });
    expect(read('[1,\n2]', true)).toEqual({ rows: [], rest: '[1,\n2]' });
    expect(read('[1],[2]', true)).toEqual({ rows: [], rest: '[1],[2]' });
    expect(read('[1]]\n', true)).toEqual({ rows: [], rest: '[1]]\n' });
  });

  test.each([
    '[01]',
    '[1.]',
    '[.5]',
    '[+1]',
    '[-]',
    '[1e]',
    '[1e+]',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[1',
    '[',
    '["1"]',
    '[null]',
    '[[1]]',
    '[1e999]',
    '[NaN]',
    '[9007199254740992]',
    '{}',
    '1',
    '',
  ])('end before %s', (text) => {
    expect(read(`[7],${text}`)).toEqual({ rows: [[7]], rest: text });
  });

  test('keep what doubles hold', () => {
    expect(read('[-0, 0.1, 1.7976931348623157e308, 123456789012345, 4.9E-324]]').rows).toEqual([
      [0, 0.1, 1.7976931348623157e308, 123456789012345, 5e-324],
    ]);
  });

  test('are read whole wherever a part ends', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) =>
      Array.from({ length: i % 23 }, (_, j) => (i % 997 === 0 ? 1e-200 : (i + j) / 8)),
    );
    const long = Array.from({ length: 30_000 }, (_, i) => i);
    rows.splice(500, 0, long);
    for (const isLines of [false, true]) {
      const text = rows.map((row) => JSON.stringify(row)).join(isLines ? '\n' : ',');
      expect(readAll(text, isLines)).toEqual({ rows, rest: '' });
    }
  });

  test('are read in parts where there are many', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i]);
    const text = rows.map((row) => JSON.stringify(row)).join(',');
    const first = read(text);
    expect(first.rows.length).toBeLessThan(rows.length);
    expect(first.rows).toEqual(rows.slice(0, first.rows.length));
    expect(first.rest.startsWith(`[${first.rows.length}]`)).toBe(true);
  });
});
