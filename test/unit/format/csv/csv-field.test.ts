import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvFieldWriter } from '../../../../src/format/csv/csv-field.ts';

const comma = new CsvFieldWriter({ delimiter: ',', quoteChar: '"' });

describe('a field', () => {
  test.each([
    ['plain', 'plain'],
    ['', ''],
    [' spaced ', ' spaced '],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['two\nlines', '"two\nlines"'],
    ['two\r', '"two\r"'],
  ])('%j is written %j', (text, expected) => {
    expect(comma.text(text)).toBe(expected);
  });

  test('is quoted for the characters of its dialect, whatever they mean to patterns', () => {
    const odd = new CsvFieldWriter({ delimiter: ']', quoteChar: '^' });
    expect(['a]b', 'a^b', 'a,b', 'a\\b'].map((text) => odd.text(text))).toEqual([
      '^a]b^',
      '^a^^b^',
      'a,b',
      'a\\b',
    ]);
  });

  test('of bytes keeps every byte', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const written = comma.bytes(bytes);
        const isQuoted = bytes.some((byte) => [0x2c, 0x22, 0x0a, 0x0d].includes(byte));
        const inner = isQuoted ? written.subarray(1, -1) : written;
        const read: number[] = [];
        for (let i = 0; i < inner.length; i++) {
          read.push(inner[i] as number);
          if (isQuoted && inner[i] === 0x22) i++;
        }
        expect(read).toEqual([...bytes]);
      }),
    );
  });
});
