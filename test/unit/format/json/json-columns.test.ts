import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { ArrayMode } from '../../../../src/format/json/json-columns.ts';
import { visitJson } from '../../../../src/format/json/json-columns.ts';
import type { JsonUnit } from '../../../../src/format/json/json-unit.ts';
import { JSON_CONTROL, readJsonUnit } from '../../../../src/format/json/json-unit.ts';
import { parseJson } from '../../../../src/util/exact-json.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { ColumnView } from '../../../../src/value/column/column-view.ts';
import { concatenateColumns, freeParts } from '../../../../src/value/column/concatenate.ts';
import { Draw } from '../../kernel/support.ts';

const arenas = ArenaSet.create({ budgetBytes: 100e6, arenaPageCount: 2048 });

afterEach(() => expect(arenas.usedBytes).toBe(0));

type Cells = Record<string, Atom>;

/** Reads lines in units of a size, and gives each row as its cells. */
function read(lines: readonly string[], unitSize: number, arrays: ArrayMode): Cells[] {
  const text = Buffer.from(lines.join('\n'));
  const bytes = new Uint8Array(new SharedArrayBuffer(text.length));
  bytes.set(text);
  const unitCount = Math.ceil(bytes.length / unitSize);
  const control = new Int32Array(new SharedArrayBuffer(JSON_CONTROL.count * 4));
  control[JSON_CONTROL.lastUnit] = unitCount;
  const source = { kind: 'memory', bytes } as const;
  const end = bytes.length;
  const job = {
    source,
    start: 0,
    end,
    unitSize,
    arrays,
    ignoreBadLines: true,
    lineBytesMax: 2 ** 20,
    control,
  };
  const units = Array.from(
    { length: unitCount },
    (_, unit) => readJsonUnit(job, unit, arenas, () => {}) as JsonUnit,
  );
  expect(units.reduce((sum, { lineCount }) => sum + lineCount, 0)).toBe(lines.length);
  const parts = units.map(({ part }) => part);
  const rowCount = parts.flatMap((part) => part.chunkRowCounts).reduce((a, b) => a + b, 0);
  const columns = concatenateColumns(parts, arenas);
  const rows = Array.from({ length: rowCount }, (): Cells => ({}));
  for (const column of columns) {
    const view = new ColumnView(column, arenas);
    expect(view.rowCount).toBe(rowCount);
    rows.forEach((row, index) => {
      const atom = view.atomAt(index);
      if (atom !== null) row[JSON.stringify(column.path)] = atom;
    });
  }
  freeParts([{ chunkRowCounts: [], columns }], arenas);
  return rows;
}

/** The same by the exact parser alone. */
function readPlainly(lines: readonly string[], arrays: ArrayMode): Cells[] {
  return lines.flatMap((line) => {
    let document: unknown;
    try {
      document = parseJson(line);
    } catch {
      return [];
    }
    if (typeof document !== 'object' || document === null) return [];
    const row: Cells = {};
    visitJson(document, arrays, (path, atom) => {
      if (atom !== null) row[JSON.stringify(path)] = atom;
    });
    return [row];
  });
}

/** Shows the first row that differs: all of them would take minutes to print. */
function expectSameRows(actual: readonly Cells[], expected: readonly Cells[]): void {
  expect(actual.length).toBe(expected.length);
  const row = actual.findIndex((cells, i) => !isDeepStrictEqual(cells, expected[i]));
  expect(actual[row]).toEqual(expected[row]);
}

const names = fc.constantFrom('a', 'b', 'é', '0', '1', 'x y', '"', '__proto__', '');
const atoms = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(
    true,
    false,
    null,
    '',
    'text',
    'a"b\\c\n',
    'ü€😀',
    0.1,
    1e300,
    -0,
    123456789012345,
  ),
);
const { document } = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, atoms, tie('array'), tie('document')),
  array: fc.array(tie('value'), { maxLength: 3 }),
  document: fc.dictionary(names, tie('value'), { maxKeys: 4 }),
}));
const bad = fc.constantFrom('{', '{"a":}', '{"a":01}', '{"a":1} x', '7', '"t"', '{"a":.5}', '[1,]');
const hard = fc.constantFrom(
  '{"a":18446744073709551615,"b":9007199254740993}',
  '{"a":1,"a":2}',
  '{"a":{"b":1},"a":{"c":2}}',
  ' { "a" : [ 1 , { "b" : null } ] } ',
  '{"\\u0061":"\\ud83d\\ude00"}',
  '[1,"x",[2]]',
  '{"a":1e400,"b":-1e-400,"c":1E5}',
);

describe('documents as columns', () => {
  test.each(['parse', 'encode'] as const)('are what the exact parser reads (%s)', (arrays) => {
    const line = fc.oneof(
      { weight: 4, arbitrary: document.map((d) => JSON.stringify(d)) },
      bad,
      hard,
    );
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 200 }),
        (lines, unitSize) => {
          expect(read(lines, unitSize, arrays)).toEqual(readPlainly(lines, arrays));
        },
      ),
      { numRuns: 200 },
    );
  });

  test('are the same where thousands of lines have a few forms', () => {
    const draw = new Draw(7);
    const atom = () =>
      draw.pick([
        () => draw.integer(-5, 2 ** 40),
        () => draw.uniform(),
        () => draw.pick([null, true, 'x', '', 'a\n"é"😀', `t${draw.integer(0, 3000)}`]),
        () => draw.pick([2 ** 53 + 2, -0, 1e300, 'number']),
      ])();
    const usual = () => {
      const text: Record<string, unknown> = { id: draw.integer(0, 1e9), name: `n${atom()}` };
      if (draw.chance(0.9)) text.price = draw.integer(0, 1e6) / 100;
      if (draw.chance(0.5)) text.any = atom();
      text.tags = draw.list(draw.integer(0, 3), atom);
      return JSON.stringify({ ...text, in: { a: atom(), b: { c: atom() } } });
    };
    const odd = () =>
      draw.pick(['', '[]', '{}', '{"id":1} x', '{"id":01}', ' {"id": 7}\r', '{"id":1,"id":2}']);
    const shuffled = () => {
      const names = draw.list(6, () => `k${draw.integer(0, 40)}`);
      return JSON.stringify(Object.fromEntries(names.map((name) => [name, atom()])));
    };
    const lines = [
      ...Array.from({ length: 2500 }, () => (draw.chance(0.02) ? odd() : usual())),
      // Too many forms: they are read one by one for a while.
      ...Array.from({ length: 150 }, shuffled),
      ...Array.from({ length: 1200 }, usual),
      usual(),
    ];
    for (const [unitSize, arrays] of [
      [1e6, 'parse'],
      [100_001, 'encode'],
    ] as const) {
      expectSameRows(read(lines, unitSize, arrays), readPlainly(lines, arrays));
    }
  });

  test('keep numbers and texts apart in one column', () => {
    const lines = ['{"a":1}', '{"a":"1"}', '{"a":2.5}', '{"a":null}', '{"b":true}'];
    expect(read(lines, 9, 'parse')).toEqual([
      { '["a"]': 1 },
      { '["a"]': '1' },
      { '["a"]': 2.5 },
      {},
      { '["b"]': 1 },
    ]);
  });
});
