import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeNumberRows, readNumberRows } from '../../../src/function/number-row-reader.ts';

const room = makeNumberRows();

/** The arrays at the start of a text, and what is left. */
function read(text: string, isLines = false): { rows: number[][]; rest: string } {
  const bytes = new TextEncoder().encode(text);
  readNumberRows(bytes, 0, isLines, room);
  const rows: number[][] = [];
  for (let i = 0, start = 0; i < room.rowCount; i++) {
    const end = room.ends[i] as number;
    rows.push([...room.numbers.subarray(start, end)]);
    start = end;
  }
  return { rows, rest: text.slice(room.position) };
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
          const { rows: found, rest } = read(text);
          const isExact = !/\d{16}/.test(text.replaceAll(/\.\d+/g, ''));
          if (isExact) expect([found, rest]).toEqual([expected, ']']);
          else expect(found).toEqual(expected.slice(0, found.length));
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
    '[1234567890123456]',
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

  test('are read in parts where there are many', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => [i]);
    const text = rows.map((row) => JSON.stringify(row)).join(',');
    const first = read(text);
    expect(first.rows.length).toBeLessThan(rows.length);
    expect(first.rows).toEqual(rows.slice(0, first.rows.length));
    expect(first.rest.startsWith(`[${first.rows.length}]`)).toBe(true);
  });
});
