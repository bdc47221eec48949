// The bytes of every format.
import { tableFromIPC } from 'apache-arrow';
import { beforeAll, describe, expect, it } from 'vitest';
import { formatNamed, loadFormat, writeRows } from '../../../../src/exec/output/format.ts';
import { DEFAULT_OUTPUT } from '../../../../src/exec/output/options.ts';
import { ChunkSink } from '../../../../src/exec/output/sink.ts';
import { queryRows } from '../../../../src/exec/query.ts';
import { Path } from '../../../../src/value/path.ts';
import { hashPathHex } from '../../../../src/value/path-hash.ts';
import { constant, Row } from '../../../../src/value/value.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';
import { collect, EMPTY_CATALOG, namespaceOf, write } from '../../../support/query.ts';

beforeAll(() => loadFormat('arrow'));

const ATOMS =
  "SELECT 1 AS a, 2.5 AS b, 'x' AS c, TIMESTAMP 0 AS d, INTERVAL '1 month 2 day 3s' AS e, CAST('hi' AS blob) AS f, CAST('p.q' AS path) AS g, null AS h, nan AS i";

const namespace = namespaceOf({
  d: [
    ['r1', [['b', 1, 0]]],
    [
      ['r"2'],
      [
        ['a', 'say "x", y', 0],
        ['b', 2, 0],
        ['b', 3, 0],
        ['b', 1, 5],
      ],
    ],
    [
      'r3',
      [
        ['c', '', 0],
        ['a', ' lead', 0],
      ],
    ],
  ],
});

describe('timestamps', () => {
  const sql = "SELECT TIMESTAMP '2024-01-01T00:00:00.25Z' AS t, {INTERVAL '1 day' AS i} AS r";
  it('are objects unless text is asked for', () => {
    const options = { rowNames: false } as const;
    const iso = { ...options, timestamps: 'iso' } as const;
    const object = '{"t":{"ts":"2024-01-01T00:00:00.25Z"},"r.i":{"interval":"1D"}}';
    const text = '{"t":"2024-01-01T00:00:00.25Z","r.i":{"interval":"1D"}}';
    expect(write(sql, EMPTY_CATALOG, 'ndjson', options)).toBe(`${object}\n`);
    expect(write(sql, EMPTY_CATALOG, 'ndjson', iso)).toBe(`${text}\n`);
    expect(write(sql, EMPTY_CATALOG, 'aos', iso)).toBe(`[${text}]`);
    expect(JSON.parse(write(sql, EMPTY_CATALOG, 'soa', iso))).toEqual({
      'r.i': [{ interval: '1D' }],
      t: ['2024-01-01T00:00:00.25Z'],
    });
  });
});

describe('csv', () => {
  it('quotes a name of a column once', () => {
    const sql = `SELECT 1 AS "petal ""length"" (cm)", 2 AS "a,b", 3 AS "c.d", 4 AS e.f`;
    expect(write(sql, EMPTY_CATALOG, 'csv', { rowNames: false })).toBe(
      '"petal ""length"" (cm)","a,b","""c.d""",e.f\n1,2,3,4\n',
    );
  });

  it('quotes what needs it', () => {
    expect(write('SELECT * FROM d', namespace, 'csv')).toBe(
      '_rowName,a,b,c\nr1,,1,\n"""r""""2""","say ""x"", y",1,\nr3," lead",,""\n',
    );
  });

  it('writes every kind of atom', () => {
    expect(write(ATOMS, EMPTY_CATALOG, 'csv', { rowNames: false })).toBe(
      'a,b,c,d,e,f,g,h,i\n1,2.5,x,1970-01-01T00:00:00Z,1 MONTH 2D 3S,aGk=,"""p.q""",,NaN\n',
    );
  });

  it('may have hashes, sorted columns and no header', () => {
    const options = { headers: false, rowHashes: true, sortColumns: true };
    expect(write('SELECT * FROM d LIMIT 2', namespace, 'csv', options).split('\n')).toEqual([
      `r1,${hashPathHex(Path.of('r1'))},,1`,
      `"""r""""2""",${hashPathHex(Path.of('r"2'))},"say ""x"", y",1`,
      '',
    ]);
  });
});

describe('ndjson', () => {
  it('is one object a line', () => {
    expect(write('SELECT b, c FROM d', namespace, 'ndjson', { rowNames: false })).toBe(
      '{"b":1,"c":null}\n{"b":1,"c":null}\n{"b":null,"c":""}\n',
    );
  });
});

describe('json formats', () => {
  it('full shows all points in order of value', () => {
    const rows = JSON.parse(write('SELECT b FROM d LIMIT 1 OFFSET 1', namespace, 'full'));
    expect(rows[0].columns).toEqual([
      ['b', 1, '1970-01-01T00:00:05Z'],
      ['b', 2, '1970-01-01T00:00:00Z'],
      ['b', 3, '1970-01-01T00:00:00Z'],
    ]);
  });

  it('one value a cell is the latest, the greatest of equally late ones', () => {
    const own = namespaceOf({
      d: [
        [
          'r',
          [
            ['v', 1, 7],
            ['v', 2, 7],
            ['v', 9, 1],
          ],
        ],
      ],
    });
    expect(write('SELECT v FROM d', own, 'table')).toBe('[["_rowName","v"],["r",2]]');
    expect(write('SELECT v FROM d', own, 'sparse')).toBe(
      '[[["_rowName","r"],["v",1],["v",2],["v",9]]]',
    );
  });

  it.each([
    ['table', '[["_rowName","_rowHash","a"]]'],
    ['full', '[]'],
    ['aos', '[]'],
    ['soa', '{"_rowName":[],"_rowHash":[],"a":[]}'],
    ['sparse', '[]'],
  ] as const)('%s of no rows', (name, text) => {
    expect(write('SELECT 1 AS a WHERE false', EMPTY_CATALOG, name, { rowHashes: true })).toBe(text);
  });

  it.each([
    [{ headers: true, rowNames: false }, '[["a"]]'],
    [{ headers: false }, '[]'],
  ])('table of no rows with %j', (options, text) => {
    expect(write('SELECT 1 AS a WHERE false', EMPTY_CATALOG, 'table', options)).toBe(text);
  });

  it('keep all digits of integers', () => {
    expect(
      write('SELECT 18446744073709551615 AS n', EMPTY_CATALOG, 'aos', { rowNames: false }),
    ).toBe('[{"n":18446744073709551615}]');
  });
});

describe('arrow', () => {
  function tableOf(sql: string, own = EMPTY_CATALOG) {
    const chunks: Uint8Array[] = [];
    const rows = queryRows(sql, { namespace: own, scope: NO_CONTEXT });
    writeRows(rows, 'arrow', DEFAULT_OUTPUT, (bytes) => chunks.push(bytes));
    return tableFromIPC(Buffer.concat(chunks));
  }

  it('gives each kind of atom its type', () => {
    const table = tableOf(ATOMS);
    const types = Object.fromEntries(table.schema.fields.map((f) => [f.name, String(f.type)]));
    expect(types).toEqual({
      _rowName: 'Utf8',
      a: 'Int64',
      b: 'Float64',
      c: 'Utf8',
      d: 'Timestamp<MICROSECOND, UTC>',
      e: 'Interval<MONTH_DAY_NANO>',
      f: 'Binary',
      g: 'Utf8',
      h: 'Utf8',
      i: 'Float64',
    });
    const row = table.get(0)?.toJSON() ?? {};
    expect([row.a, row.b, row.c, row.g, row.h, row.i]).toEqual([1n, 2.5, 'x', '"p.q"', null, NaN]);
    expect(Buffer.from(row.f).toString()).toBe('hi');
    expect(Number(row.d)).toBe(0);
    expect([...row.e]).toEqual([1, 2, -1294967296, 0]);
  });

  it('writes cells of mixed kinds as JSON', () => {
    const table = tableOf('SELECT a, b FROM d', namespace);
    expect(table.toArray().map((row) => row.toJSON().a)).toEqual([null, 'say "x", y', ' lead']);
    const mixed = tableOf("SELECT value FROM row_dataset({a: 1, b: 'x', c: null})");
    expect(mixed.schema.fields[1]?.metadata.get('rowan.mixed')).toBe('true');
    expect(mixed.toArray().map((row) => row.toJSON().value)).toEqual(['1', '"x"', null]);
  });

  it('keeps unsigned integers and batches', () => {
    expect(tableOf('SELECT 18446744073709551615 AS n').get(0)?.toJSON().n).toBe(2n ** 64n - 1n);
    const rows = Array.from({ length: 70_000 }, (_, i) => ({
      name: Path.of(`r${i}`),
      row: new Row(['i'], [constant(i)]),
    }));
    const chunks: Uint8Array[] = [];
    writeRows(rows, 'arrow', DEFAULT_OUTPUT, (bytes) => chunks.push(bytes));
    const table = tableFromIPC(Buffer.concat(chunks));
    expect(table.batches.map((batch) => batch.numRows)).toEqual([...Array(8).fill(8192), 4464]);
    expect(table.get(69_999)?.toJSON()).toEqual({ _rowName: 'r69999', i: 69_999n });
  });
});

describe('formats', () => {
  it('have names', () => {
    expect(formatNamed('')).toBe('full');
    expect(() => formatNamed('yaml')).toThrow(/^Unknown output format 'yaml'/);
  });

  it('leave in chunks', () => {
    const sizes: number[] = [];
    const sink = new ChunkSink((bytes) => sizes.push(bytes.length));
    for (let i = 0; i < 3000; i++) sink.write('x'.repeat(100));
    sink.writeBytes(new Uint8Array(100_000));
    sink.end();
    expect(sizes.reduce((a, b) => a + b)).toBe(400_000);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144);
    expect(sizes.length).toBeLessThan(10);
  });

  it('write rows that are made as they are read', () => {
    const text = collect((emit) => writeRows([], 'full', DEFAULT_OUTPUT, emit));
    expect(text).toBe('[]');
  });
});
