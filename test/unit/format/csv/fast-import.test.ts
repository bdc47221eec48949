// Goal: the fast way gives the same table as splitting line by line in plain TypeScript.
// Method: random texts of awkward bytes, cut into tiny units, read by several "threads".
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { CsvJob, CsvUnitResult } from '../../../../src/format/csv/csv-job.ts';
import { parseCsvUnit } from '../../../../src/format/csv/csv-unit.ts';
import type { CsvThreads, FastOptions } from '../../../../src/format/csv/fast-import.ts';
import { FastImport } from '../../../../src/format/csv/fast-import.ts';
import { recodeUnit } from '../../../../src/format/csv/recode.ts';
import type { LineFault } from '../../../../src/format/csv/text-format.ts';
import {
  decodeField,
  inferAtom,
  splitRow,
  trimLine,
} from '../../../../src/format/csv/text-format.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { ColumnView } from '../../../../src/value/column/column-view.ts';
import { rowNamesView } from '../../../../src/value/column/row-names.ts';
import type { ColumnarSnapshot } from '../../../../src/value/column/snapshot.ts';
import { freeChunk, freeSnapshot } from '../../../../src/value/column/snapshot-memory.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
const dir = mkdtempSync(join(tmpdir(), 'rowan-csv-'));
afterAll(() => rmSync(dir, { recursive: true }));

const scope = { checkCancelled() {} };
const threads: CsvThreads = {
  threadCount: 1,
  parse: (job, unitCount) =>
    Array.from({ length: unitCount }, (_, unit) => parseCsvUnit(job, unit, scope, arenas)),
  recode(job, unitCount) {
    for (let unit = 0; unit < unitCount; unit++) recodeUnit(job, unit, arenas);
  },
  checkCancelled() {},
  progress() {},
};

/** Small units, whatever the size of the text. */
const tinyUnits: CsvThreads = {
  ...threads,
  parse(job, _unitCount) {
    const small = { ...job, unitSize: 7, chunkRowCount: 8 };
    const unitCount = Math.ceil((job.end - job.start) / 7);
    Atomics.store(job.control, 0, unitCount);
    return threads.parse(small, unitCount);
  },
};

type Format = FastOptions['format'];
const FORMAT: Format = {
  delimiter: ',',
  quote: '"',
  encoding: 'utf-8',
  replacement: '',
  excelFormulas: true,
  ignoreExtraColumns: false,
};

interface Table {
  readonly names: readonly string[];
  readonly columns: readonly (readonly Atom[])[];
  readonly lineCount: number;
  readonly badLineCount: number;
}

interface ReadOptions {
  readonly format?: Partial<Format>;
  readonly ignoreBadLines?: boolean;
  readonly threads?: CsvThreads;
  readonly asStream?: boolean;
  readonly columnCount: number;
}

async function readFast(text: Uint8Array, options: ReadOptions): Promise<Table> {
  const { columnCount } = options;
  const columns = Array.from({ length: columnCount }, (_, index) => index);
  const used = arenas.usedBytes;
  const reading = new FastImport(
    {
      format: { ...FORMAT, ...options.format },
      ignoreBadLines: options.ignoreBadLines ?? false,
      lineBytesMax: 2 ** 20,
      paths: columns.map((index) => [`c${index}`]),
      hasManyFiles: false,
    },
    options.threads ?? threads,
    arenas,
  );
  const path = join(dir, 'x.csv');
  writeFileSync(path, text);
  try {
    await reading.read({
      url: `file://${path}`,
      fileIndex: 0,
      ts: 0,
      firstLine: 1,
      columnCount,
      columns,
      ...(options.asStream ? {} : { path }),
      start: 0,
      stream: streamOf(text),
    });
  } catch (error) {
    reading.release();
    expect(arenas.usedBytes).toBe(used);
    throw error;
  }
  const snapshot = reading.seal();
  const table = { ...tableOf(snapshot), ...countsOf(reading) };
  freeSnapshot(snapshot, arenas);
  expect(arenas.usedBytes).toBe(used);
  return table;
}

function countsOf({ lineCount, badLineCount }: FastImport) {
  return { lineCount, badLineCount };
}

async function* streamOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  for (let i = 0; i < bytes.length; i += 11) yield bytes.subarray(i, i + 11);
}

function tableOf(snapshot: ColumnarSnapshot): Pick<Table, 'names' | 'columns'> {
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
  expect(snapshot.chunkRowCounts.reduce((a, b) => a + b, 0)).toBe(snapshot.rowCount);
  return {
    names: Array.from({ length: snapshot.rowCount }, (_, row) => names.textAt(row)),
    columns: snapshot.columns.map((column) => {
      expect(column.chunks.map((chunk) => chunk.rowCount)).toEqual(snapshot.chunkRowCounts);
      const atoms = [...new ColumnView(column, arenas).atoms()];
      expect(column.nullCount).toBe(atoms.filter((atom) => atom === null).length);
      expect(column.type).toBe(typeOf(atoms));
      return atoms;
    }),
  };
}

function typeOf(atoms: readonly Atom[]): string {
  const kinds = new Set(
    atoms
      .filter((atom) => atom !== null)
      .map((atom) => {
        if (typeof atom === 'string') return 'string';
        if (typeof atom === 'bigint' || Math.abs(atom as number) < 2 ** 63) {
          return typeof atom === 'bigint' || Number.isInteger(atom) ? 'integer' : 'number';
        }
        return 'number';
      }),
  );
  if (kinds.size === 0) return 'null';
  if (kinds.has('string')) return kinds.size === 1 ? 'string' : 'mixed';
  return kinds.has('number') ? 'number' : 'integer';
}

/** The rules once more, line by line. @returns the table, or the first fault and its line */
function readPlain(text: Uint8Array, options: ReadOptions): Table | [number, LineFault] {
  const format = { ...FORMAT, ...options.format };
  const lines = Buffer.from(text).toString('latin1').split('\n');
  while (lines.length > 0 && /^\r?$/.test(lines.at(-1) as string)) {
    lines.pop();
  }
  const names: string[] = [];
  const columns: Atom[][] = Array.from({ length: options.columnCount }, () => []);
  const fields: string[] = [];
  let badLineCount = 0;
  for (const [index, raw] of lines.entries()) {
    const line = raw.endsWith('\r') ? raw.slice(0, -1) : raw;
    let fault: LineFault | undefined;
    if (line === '') fault = { reason: 'empty line', column: 1 };
    else fault = splitRow(trimLine(line, format.delimiter), options.columnCount, format, fields);
    const texts = fault ? [] : fields.map((field) => decodeField(field, format));
    fault ??= texts.find((field) => typeof field !== 'string') as LineFault | undefined;
    if (fault === undefined) {
      names.push(String(index + 1));
      texts.forEach((field, column) => {
        columns[column]?.push(inferAtom(field as string));
      });
    } else if (options.ignoreBadLines) badLineCount++;
    else return [index + 1, fault];
  }
  return { names, columns, lineCount: lines.length, badLineCount };
}

async function expectSame(text: Uint8Array, options: ReadOptions): Promise<void> {
  const plain = readPlain(text, options);
  if (Array.isArray(plain)) {
    const [lineNumber, { reason }] = plain;
    await expect(readFast(text, options)).rejects.toMatchObject({
      message: expect.stringContaining(`Error parsing CSV row: ${reason}`),
      details: { lineNumber, context: { error: reason } },
    });
  } else {
    const table = await readFast(text, options);
    expect({ ...table, columns: table.columns.map(exact) }).toEqual({
      ...plain,
      columns: plain.columns.map(exact),
    });
  }
}

/** Doubles that are large integers come out of dictionaries as such; they are equal. */
function exact(atoms: readonly Atom[]): Atom[] {
  return atoms.map((atom) =>
    Number.isInteger(atom) && !Number.isSafeInteger(atom) ? BigInt(atom as number) : atom,
  );
}

/** Pieces of which awkward texts are made. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(',', ',', '\n', '\n', '\r\n') },
  { weight: 3, arbitrary: fc.constantFrom('"', '""', '="', ' ', '\t', '\r', '\0', 'é', '日本') },
  { weight: 4, arbitrary: fc.constantFrom('a', 'bc', 'carrier name', 'x'.repeat(9), '12', '-7') },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '1.5',
      '007',
      '+5',
      '.5',
      '5.',
      '1e3',
      '-',
      'nan',
      'inf',
      '123456789',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '4294967296',
      '9007199254740993',
      '1e400',
      '0.1234567890123456789',
      '-0',
    ),
  },
);
const textOf = fc.array(piece, { maxLength: 80 }).map((parts) => Buffer.from(parts.join('')));
const withBadBytes = fc
  .array(
    fc.oneof(
      piece.map(Buffer.from),
      fc.constantFrom(0x80, 0xff, 0xc3, 0xed).map((b) => Buffer.of(b)),
    ),
    {
      maxLength: 60,
    },
  )
  .map((parts) => Buffer.concat(parts));

/** A job of another import. */
const OTHER_JOB: CsvJob = {
  id: -1,
  source: { kind: 'memory', bytes: new Uint8Array(0) },
  start: 0,
  end: 120,
  unitSize: 120,
  delimiter: 44,
  quote: 34,
  encoding: 'utf-8',
  excelFormulas: true,
  ignoreExtraColumns: false,
  ignoreBadLines: false,
  lineBytesMax: 2 ** 20,
  columnCount: 1,
  columns: [0],
  chunkRowCount: 1024,
  control: new Int32Array(new SharedArrayBuffer(8)),
};

function freeUnit(result: CsvUnitResult): void {
  if (!('chunks' in result)) throw new Error('a unit was not read');
  for (const { chunk } of result.chunks.flat()) freeChunk(chunk, arenas);
  for (const { bytes, offsets } of result.deltas) {
    arenas.free(bytes);
    arenas.free(offsets);
  }
}

describe('FastImport', () => {
  test('reads what line by line parsing reads, bad lines left out', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(textOf, withBadBytes),
        fc.integer({ min: 1, max: 4 }),
        fc.record({
          excelFormulas: fc.boolean(),
          ignoreExtraColumns: fc.boolean(),
          quote: fc.constantFrom('"', ''),
          delimiter: fc.constantFrom(',', '\t'),
          encoding: fc.constantFrom('utf-8' as const, 'ascii' as const),
        }),
        fc.boolean(),
        fc.boolean(),
        async (text, columnCount, format, tiny, asStream) => {
          await expectSame(text, {
            columnCount,
            format,
            ignoreBadLines: true,
            asStream,
            threads: tiny ? tinyUnits : threads,
          });
        },
      ),
      { numRuns: 600 },
    );
  });

  test('stops at the first bad line and says where and why', async () => {
    await fc.assert(
      fc.asyncProperty(textOf, fc.integer({ min: 1, max: 3 }), async (text, columnCount) => {
        await expectSame(text, { columnCount, threads: tinyUnits });
      }),
      { numRuns: 300 },
    );
  });

  test('reads regular tables of each type', async () => {
    const field = fc.oneof(
      fc.integer().map(String),
      fc.double().map(String),
      fc.double({ noNaN: true, min: -1e6, max: 1e6 }).map((value) => value.toFixed(3)),
      fc.string({ maxLength: 12 }).map((text) => text.replace(/[",\n\r]/g, '')),
      fc.constant(''),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(field, field, field), { minLength: 1, maxLength: 40 }),
        fc.boolean(),
        async (rows, tiny) => {
          const text = Buffer.from(rows.map((row) => `${row.join(',')}\n`).join(''));
          await expectSame(text, {
            columnCount: 3,
            ignoreBadLines: true,
            threads: tiny ? tinyUnits : threads,
          });
        },
      ),
      { numRuns: 200 },
    );
  });

  test('parses doubles to the last bit', async () => {
    const values = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), 3000);
    // Integers beyond 2^53 are another matter.
    const doubles = values.filter((value) => Math.abs(value) < 2 ** 53 || Math.abs(value) > 1e21);
    const texts = doubles.flatMap((value) => [
      String(value),
      value.toPrecision(17),
      value.toExponential(5),
    ]);
    const table = await readFast(Buffer.from(`${texts.join('\n')}\n`), { columnCount: 1 });
    expect(table.columns[0]).toEqual(texts.map((text) => Number(text) + 0));
  });

  test('keeps integers of any size', async () => {
    const texts = [
      '1',
      '-9223372036854775808',
      '18446744073709551615',
      '18446744073709551616',
      '9007199254740991',
    ];
    const table = await readFast(Buffer.from(texts.join('\n')), { columnCount: 1 });
    expect(table.columns[0]).toEqual([
      1,
      -9223372036854775808n,
      18446744073709551615n,
      2 ** 64,
      9007199254740991,
    ]);
  });

  test('makes one value of several spellings in a mixed column', async () => {
    const text = Buffer.from('a\n1\n1.0\n01\nb\n2.50\n2.5\n');
    const table = await readFast(text, { columnCount: 1, threads: tinyUnits });
    expect(table.columns[0]).toEqual(['a', 1, 1, 1, 'b', 2.5, 2.5]);
  });

  test('reads many distinct long texts', async () => {
    const texts = Array.from({ length: 100_000 }, (_, i) => `text number ${i % 70_000} of many`);
    const table = await readFast(Buffer.from(`${texts.join('\n')}\n`), { columnCount: 1 });
    expect(table.columns[0]).toEqual(texts);
  });

  test('keeps the units of two imports apart on one thread', async () => {
    const other = Buffer.from('z\ny\nx\n'.repeat(20));
    const text = Buffer.from(Array.from({ length: 60 }, (_, i) => `t${i % 9}\n`).join(''));
    const second = { ...OTHER_JOB, source: { kind: 'memory', bytes: other } } as const;
    const between: CsvThreads = {
      ...threads,
      parse(job) {
        const unitCount = Math.ceil((job.end - job.start) / 7);
        Atomics.store(job.control, 0, unitCount);
        return Array.from({ length: unitCount }, (_, unit) => {
          const result = parseCsvUnit({ ...job, unitSize: 7 }, unit, scope, arenas);
          if (unit % 3 === 0) freeUnit(parseCsvUnit(second, 0, scope, arenas));
          return result;
        });
      },
    };
    const table = await readFast(text, { columnCount: 1, threads: between });
    expect(table.columns[0]).toEqual(text.toString().trim().split('\n'));
  });

  test('reads lines longer than a unit', async () => {
    const long = 'y'.repeat(700_000);
    const text = Buffer.from(`a,1\n${long},2\nb,3\n`);
    const table = await readFast(text, { columnCount: 2, threads: tinyUnits });
    expect(table.columns).toEqual([
      ['a', long, 'b'],
      [1, 2, 3],
    ]);
  });
});

test('a unit looks at the cancel flag after each quarter of a megabyte', async () => {
  const text = Buffer.from('1,some text\n'.repeat(150_000));
  let lookCount = 0;
  const parseWith = (checkCancelled: () => void): CsvThreads => ({
    ...threads,
    parse: (job, unitCount) =>
      Array.from({ length: unitCount }, (_, unit) =>
        parseCsvUnit(job, unit, { checkCancelled }, arenas),
      ),
  });
  await readFast(text, { columnCount: 2, threads: parseWith(() => lookCount++) });
  expect(lookCount).toBeGreaterThanOrEqual(Math.floor(text.length / 2 ** 18));
  let looksLeft = 3;
  const cancelled = parseWith(() => {
    if (--looksLeft === 0) throw new Error('cancelled');
  });
  // Memory is compared by readFast.
  await expect(readFast(text, { columnCount: 2, threads: cancelled })).rejects.toThrow('cancelled');
});
