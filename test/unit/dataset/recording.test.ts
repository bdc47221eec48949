import { Bool, Field, Int64, Schema, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeBatch, encodeBatch } from '../../../src/dataset/recorded-batch.ts';
import type { RecordedRow } from '../../../src/dataset/recorded-row.ts';
import { rowsFromArrow } from '../../../src/dataset/recording-arrow.ts';
import { type JsonForm, rowFromNdjson, rowsFromJson } from '../../../src/dataset/recording-json.ts';
import { makeQuantiser } from '../../../src/dataset/time-quantum.ts';
import { Path } from '../../../src/value/path.ts';

function plain(rows: Iterable<RecordedRow>) {
  return [...rows].map(({ name, cells }) => [
    name.toString(),
    cells.map(([column, atom, ts]) => [column.toString(), atom, ts]),
  ]);
}

function rowsOf(form: JsonForm, json: unknown): RecordedRow[] {
  return [...rowsFromJson(form, json)];
}

describe('bodies', () => {
  test('names are printed paths, integers or elements', () => {
    const rows = rowsOf('multirows', [
      ['a.b', [['x.y', 1, 0]]],
      [7, [['"x.y"', 1, 0]]],
      [['a.b', 'c'], [[['x', 2], 1, 0]]],
    ]);
    expect(rows.map(({ name }) => name.elements)).toEqual([['a', 'b'], ['7'], ['a.b', 'c']]);
    expect(rows.map(({ cells }) => cells[0]?.[0].elements)).toEqual([
      ['x', 'y'],
      ['x.y'],
      ['x', '2'],
    ]);
  });

  test('columns become rows in the order of first appearance', () => {
    const rows = rowsOf('multicolumns', [
      [
        'x',
        [
          ['b', 1, 0],
          ['a', 2, 0],
        ],
      ],
      ['y', [['a', 3, 5]]],
    ]);
    expect(plain(rows)).toEqual([
      ['b', [['x', 1, 0]]],
      [
        'a',
        [
          ['x', 2, 0],
          ['y', 3, 5],
        ],
      ],
    ]);
  });

  test.each<[JsonForm, unknown, object]>([
    [
      'rows',
      {
        rowName: 'r',
        columns: [
          ['x', 1, 0],
          ['y', {}, 0],
        ],
      },
      { cell: 1 },
    ],
    [
      'multirows',
      [
        ['r', []],
        ['s', [['y', 1]]],
      ],
      { row: 1, cell: 0 },
    ],
    ['multirows', [['r', []], ['s']], { row: 1 }],
    ['columns', { columnName: 'c', rows: [['r', 1, 'junk']] }, { column: 0, cell: 0 }],
    [
      'multicolumns',
      [
        ['c', []],
        [[], []],
      ],
      { column: 1 },
    ],
    [
      'multicolumns',
      [
        ['c', []],
        [
          'd',
          [
            ['r', 1, 0],
            [[], 1, 0],
          ],
        ],
      ],
      { column: 1, cell: 1 },
    ],
  ])('of the form %s say where they are wrong: %j', (form, json, details) => {
    expect(() => rowsOf(form, json)).toThrow(expect.objectContaining({ details }));
  });

  test('that are empty or lack a name say so', () => {
    expect(() => rowsOf('rows', undefined)).toThrow(
      'request body is empty; expected is {"rowName"',
    );
    expect(() => rowsOf('rows', { columns: [] })).toThrow('Path value: rowName is missing');
    expect(() => rowsOf('columns', { rows: [] })).toThrow('Path value: columnName is missing');
  });

  test('a line holds a pair or an object', () => {
    const expected = [['r', [['x', 1, 0]]]];
    expect(plain([rowFromNdjson('["r",[["x",1,0]]]')])).toEqual(expected);
    expect(plain([rowFromNdjson('{"rowName":"r","columns":[["x",1,0]]}')])).toEqual(expected);
  });

  test('an Arrow stream gives one row a row, nulls are no cells', () => {
    const table = new Table(
      new Schema([
        new Field('_rowName', new Utf8()),
        new Field('n', new Int64(), true),
        new Field('flag', new Bool(), true),
        new Field('mixed', new Utf8(), true, new Map([['rowan.mixed', 'true']])),
      ]),
      {
        _rowName: vectorFromArray(['a', 'b.c'], new Utf8()),
        n: vectorFromArray([5n, null], new Int64()),
        flag: vectorFromArray([true, false], new Bool()),
        mixed: vectorFromArray(['{"num":"Inf"}', '"text"'], new Utf8()),
      },
    );
    expect(plain([...rowsFromArrow(tableToIPC(table, 'stream'), 9)])).toEqual([
      [
        'a',
        [
          ['n', 5, 9],
          ['flag', 1, 9],
          ['mixed', Number.POSITIVE_INFINITY, 9],
        ],
      ],
      [
        'b.c',
        [
          ['flag', 0, 9],
          ['mixed', 'text', 9],
        ],
      ],
    ]);
    expect(() => [...rowsFromArrow(new Uint8Array([1, 2, 3]), 0)]).toThrow(/Arrow/);
  });
});

test('a batch keeps rows as they are', () => {
  const atom = fc.oneof(
    fc.constant(null),
    fc.double({ min: -1e15, max: 1e15 }),
    fc.string(),
    fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
    fc.uint8Array(),
  );
  const path = fc.array(fc.string(), { minLength: 1, maxLength: 3 }).map((it) => new Path(it));
  const row = fc.record({
    name: path,
    cells: fc.array(fc.tuple(path, atom, fc.double()), { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(row, { maxLength: 10 }), (rows) => {
      const zero = (value: unknown) => (Object.is(value, -0) ? 0 : value);
      const wanted = rows.map(({ name, cells }) => [
        name.elements,
        cells.map(([column, value, ts]) => [column.elements, zero(value), ts]),
      ]);
      const got = [...decodeBatch(encodeBatch(rows))].map(({ name, cells }) => [
        name.elements,
        cells.map(([column, value, ts]) => [column.elements, value, ts]),
      ]);
      expect(got).toEqual(wanted);
    }),
  );
});

describe('time quantum', () => {
  test.each([
    [1, 20.956, 21],
    [1, -0.5, -1],
    [0.01, 20.956, 20.96],
    [0.001, 20.956, 20.956],
    [60, 3599.9, 3540],
    [60, -1, -60],
    [1, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  ])('%d: %d becomes %d', (quantum, ts, expected) => {
    expect(makeQuantiser(quantum)(ts)).toBeCloseTo(expected, 9);
  });

  test('not-a-date stays', () => {
    expect(makeQuantiser(60)(Number.NaN)).toBeNaN();
  });
});
