// Each kernel that reads delimited text beside a plain twin.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CSV_NUMBER, CSV_REPORT } from '../../../src/kernel/generated.ts';
import { instantiateKernels } from '../../../src/kernel/kernels.ts';
import { parseNumber } from '../../../src/value/number-text.ts';

const memory = new WebAssembly.Memory({ initial: 20, maximum: 65_536, shared: true });
const kernels = instantiateKernels(memory);
const u8 = new Uint8Array(memory.buffer);
const u32 = new Uint32Array(memory.buffer);
const i32 = new Int32Array(memory.buffer);
const f64 = new Float64Array(memory.buffer);

// Places in the memory, far enough from one another for the texts below.
const REPORT = 65_536;
const TEXT = 70_000;
const CELLS = 200_016;
const OUT = 400_000;
const COMMA = 44;
const QUOTE = 34;

function put(text: string | Uint8Array): { start: number; end: number } {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text;
  u8.fill(0x22, TEXT - 64, TEXT + bytes.length + 64);
  u8.set(bytes, TEXT);
  return { start: TEXT, end: TEXT + bytes.length };
}

/** Texts of the cells, each from its start to its end. */
function cellTexts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const start = u32[(CELLS + index * 8 - 4) >> 2] as number;
    const end = u32[(CELLS + index * 8) >> 2] as number;
    return Buffer.from(u8.slice(start, end)).toString();
  });
}

const field = fc.stringMatching(/^[a-z0-9 é]{0,12}$/);

describe('csvIndex', () => {
  test('finds every field of lines without quotes', () => {
    fc.assert(
      fc.property(fc.array(fc.array(field, { minLength: 1 }), { minLength: 1 }), (rows) => {
        const text = rows.map((row) => `${row.join(',')}\n`).join('');
        const { start, end } = put(text);
        const found = kernels.csvIndex(start, end, CELLS, COMMA, -1, REPORT);
        expect(cellTexts(found)).toEqual(rows.flat());
        expect(i32[(REPORT + CSV_REPORT.lines) >> 2]).toBe(rows.length);
        if (text.includes('é')) expect(i32[(REPORT + CSV_REPORT.isHigh) >> 2]).toBe(1);
      }),
    );
  });

  test('gives up at a quote', () => {
    const { start, end } = put(`${'a,b\n'.repeat(30)}"c",d\n`);
    expect(kernels.csvIndex(start, end, CELLS, COMMA, QUOTE, REPORT)).toBe(-1);
  });
});

describe('csvRegular', () => {
  test('accepts lines of equal length only, and cuts white space off their ends', () => {
    const { start, end } = put('a,b \t\r\nc,d\n');
    const found = kernels.csvIndex(start, end, CELLS, COMMA, -1, REPORT);
    expect(kernels.csvRegular(CELLS, 2, 2, COMMA)).toBe(1);
    expect(cellTexts(found)).toEqual(['a', 'b', 'c', 'd']);
    const uneven = put('a,b,c\nd\n');
    kernels.csvIndex(uneven.start, uneven.end, CELLS, COMMA, -1, REPORT);
    expect(kernels.csvRegular(CELLS, 2, 2, COMMA)).toBe(0);
  });

  test('never cuts a delimiter off', () => {
    const { start, end } = put('a\tb\t \n');
    kernels.csvIndex(start, end, CELLS, 9, -1, REPORT);
    expect(kernels.csvRegular(CELLS, 1, 3, 9)).toBe(1);
    expect(cellTexts(3)).toEqual(['a', 'b', '']);
  });
});

describe('csvUtf8', () => {
  test('agrees with TextDecoder', () => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const bytes = fc.array(
      fc.oneof(
        fc.constantFrom(
          ...[0x41, 0x80, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4, 0xf5],
        ),
        fc.constantFrom(0x9f, 0xa0, 0x8f, 0x90),
      ),
      { maxLength: 24 },
    );
    const texts = fc
      .string({ unit: 'binary', maxLength: 30 })
      .map((text) => [...Buffer.from(text)]);
    fc.assert(
      fc.property(fc.oneof(bytes, texts), (content) => {
        const { start, end } = put(Uint8Array.from(content));
        let isValid = true;
        try {
          decoder.decode(Uint8Array.from(content));
        } catch {
          isValid = false;
        }
        expect(kernels.csvUtf8(start, end)).toBe(isValid ? 1 : 0);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('csvNumber', () => {
  const numeral = fc.oneof(
    fc.double().map(String),
    fc.integer().map(String),
    fc.stringMatching(/^[ \t]?[+-]?[0-9]{0,20}\.?[0-9]{0,20}([eE][+-]?[0-9]{1,3})?$/),
    fc.stringMatching(/^[+-]?(inf|nan|infinity|Inf|NaN|infinit)$/),
    fc.string({ maxLength: 8 }),
  );

  test('reads what the plain parser reads', () => {
    fc.assert(
      fc.property(numeral, (text) => {
        if (text === '') return;
        const { start, end } = put(text);
        const kind = kernels.csvNumber(start, end, OUT);
        const plain = parseNumber(text);
        if (plain === undefined) expect(kind).toBe(CSV_NUMBER.text);
        else if (kind !== CSV_NUMBER.hard) {
          expect(kind).not.toBe(CSV_NUMBER.text);
          expect(f64[OUT >> 3]).toBe(Number(plain) + 0);
          if (kind === CSV_NUMBER.integer) expect(Number.isSafeInteger(plain)).toBe(true);
        }
      }),
      { numRuns: 5000 },
    );
  });

  test('leaves only odd numbers to JavaScript', () => {
    for (const text of ['0.12345678901234567', '-179.99999999999997', '1e22', '6.02214076e23']) {
      const { start, end } = put(text);
      expect(kernels.csvNumber(start, end, OUT)).toBe(CSV_NUMBER.double);
      expect(f64[OUT >> 3]).toBe(Number(text));
    }
  });
});

describe('csvRecode', () => {
  test('changes width and codes', () => {
    const views = { 1: u8, 2: new Uint16Array(memory.buffer), 4: u32 } as const;
    const width = fc.constantFrom(1 as const, 2 as const, 4 as const);
    fc.assert(
      fc.property(width, width, fc.array(fc.nat(99)), fc.boolean(), (from, to, codes, mapped) => {
        const map = Uint32Array.from({ length: 100 }, (_, code) => (code * 37) % 256);
        const [source, target, table] = [200_000, 300_000, 500_000];
        u32.set(map, table >> 2);
        views[from].set(codes, source / from);
        kernels.csvRecode(source, from, codes.length, mapped ? table : 0, target, to);
        const start = target / to;
        expect([...views[to].slice(start, start + codes.length)]).toEqual(
          codes.map((code) => (mapped ? map[code] : code)),
        );
      }),
    );
  });
});
