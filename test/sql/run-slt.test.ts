// The runner itself, against a service whose answers are known.

import { describe, expect, test } from 'vitest';
import type { TestService } from '../support/rowan.ts';
import { parseSlt } from './parse-slt.ts';
import { complete, SltRun } from './run-slt.ts';

const requests: unknown[] = [];

/** Answers with the JSON that follows SELECT as rows r1, r2, ...; fails when there is none. */
const service: TestService = {
  async query(sql) {
    requests.push(sql);
    const rows: Record<string, unknown>[] = JSON.parse(sql.replace('SELECT ', ''));
    return rows.map((row, index) => ({
      rowName: `r${index + 1}`,
      columns: Object.entries(row).flatMap(([name, cell]) => {
        const values = Array.isArray(cell) ? cell : [cell];
        return values.map((value, seconds) => [name, value, `1970-01-01T00:00:0${seconds}Z`]);
      }),
    }));
  },
  async perform(verb, path, options) {
    requests.push([verb, path, options?.body]);
    return path === '/bad' ? { status: 400, text: 'bad path' } : { status: 200, text: '' };
  },
  async listen() {
    return '';
  },
  async close() {},
};

async function run(body: string, completes = false): Promise<string> {
  requests.length = 0;
  const text = `# description: a test\n\n${body}`;
  const { records } = parseSlt(text);
  const sltRun = new SltRun(service, { completes });
  for (const record of records) await sltRun.run(record);
  await sltRun.end();
  return complete(text, records, sltRun.completions);
}

describe('a table', () => {
  test('is recorded, committed and deleted in the end', async () => {
    await run(
      'table t\nr1  x=1 "a b"="c @ d"@2\n"r 2"  y=2015-01-01T00:00:00Z z={"num": "NaN"}@-1\n',
    );
    const epoch = '1970-01-01T00:00:00Z';
    const rows = [
      [
        'r1',
        [
          ['x', 1, epoch],
          ['a b', 'c @ d', 2],
        ],
      ],
      [
        'r 2',
        [
          ['y', { ts: '2015-01-01T00:00:00Z' }, epoch],
          ['z', { num: 'NaN' }, -1],
        ],
      ],
    ];
    expect(requests).toEqual([
      ['PUT', '/v1/datasets/t', { type: 'sparse.mutable' }],
      ['POST', '/v1/datasets/t/multirows', rows],
      ['POST', '/v1/datasets/t/commit', {}],
      ['DELETE', '/v1/datasets/t', undefined],
    ]);
  });

  test('with an unreadable cell names its line', () => {
    expect(() => parseSlt('# description: d\ntable t\nr1  x=ann')).toThrow(
      'line 3: expected JSON or a timestamp, got "ann"',
    );
  });
});

describe('a statement', () => {
  test('may be a request with a body, which is undone', async () => {
    await run('statement ok\nPUT /v1/functions/f\n{"type": "x"}\n');
    expect(requests).toEqual([
      ['PUT', '/v1/functions/f', { type: 'x' }],
      ['DELETE', '/v1/functions/f', undefined],
    ]);
  });

  test('is to succeed or to fail as it says', async () => {
    await run('statement ok\nSELECT [{"a":1}]\n');
    await expect(run('statement ok\nSELECT\n')).rejects.toThrow('expected success');
    await run('statement error answered 400\nPUT /bad\n');
    await expect(run('statement error 404\nPUT /bad\n')).rejects.toThrow('got: PUT /bad answered');
    await expect(run('statement error x\nSELECT [{"a":1}]\n')).rejects.toThrow('got none');
  });
});

describe('a query', () => {
  const rows = 'SELECT [{"a":1,"b":"x y"},{"a":2.5,"b":null}]';

  test('compares values whatever the spaces between them', async () => {
    await run(`query RT\n${rows}\n----\n1 "x y"\n2.5000000000001     NULL\n`);
    expect(requests).toEqual([rows]);
  });

  test.each([
    ['a value', 'RT', '1 "x y"\n2.6 NULL', 'row 2 differs from 2.6  NULL'],
    ['the order', 'RT', '2.5 NULL\n1 "x y"', 'row 1 differs'],
    ['too few rows', 'RT', '1 "x y"', 'expected 1 rows, got 2'],
    ['a type', 'IT', '1 "x y"\n2.5 NULL', 'column a is to be I, but has 2.5'],
    ['too many types', 'RTT', '1 "x y"\n2.5 NULL', 'expected 3 columns, got a, b'],
    ['a column name', 'RT header', 'a c\n1 "x y"\n2.5 NULL', 'expected the columns a c, got a b'],
    ['a row more than once', 'RT unordered', '1 "x y"\n1 "x y"', 'no row is 1  "x y"'],
  ])('notices %s', async (_, head, results, message) => {
    await expect(run(`query ${head}\n${rows}\n----\n${results}\n`)).rejects.toThrow(message);
  });

  test('takes rows in any order when told so', async () => {
    await run(`query RT unordered\n${rows}\n----\n2.5 NULL\n1 "x y"\n`);
  });

  test('shows row names and column names when asked', async () => {
    const named = 'SELECT [{"b c":9}]';
    await run(`query I names header\n${named}\n----\nname "b c"\n"r1" 9\n`);
  });

  test('shows the latest point, or all of them, and absent cells as a dot', async () => {
    const several = 'SELECT [{"a":[3,2]},{"b":1}]';
    await run(`query II\n${several}\n----\n2 .\n. 1\n`);
    const points = '3@1970-01-01T00:00:00Z|2@1970-01-01T00:00:01Z';
    await run(`query II points\n${several}\n----\n${points} .\n. 1@1970-01-01T00:00:00Z\n`);
  });

  test('is filled in, aligned, with the text around it kept', async () => {
    const before = `query RT\n${rows}\n\n# a comment\nquery *\n${rows}\n----\nold\n\nstatement ok\n${rows}\n`;
    const results = '1    "x y"\n2.5  NULL';
    const after = `query RT\n${rows}\n----\n${results}\n\n# a comment\nquery *\n${rows}\n----\n${results}\n\nstatement ok\n${rows}\n`;
    expect(await run(before, true)).toBe(`# description: a test\n\n${after}`);
  });
});

test.each([
  ['', 'line 1: expected "# description: ..." first'],
  ['# description: d\n\nselect 1', 'line 3: expected table, statement or query, got "select"'],
  ['# description: d\nquery XY\nSELECT 1', 'line 2: unknown types "XY"'],
  ['# description: d\nquery I sorted\nSELECT 1', 'line 2: unknown option "sorted"'],
  ['# description: d\nquery I', 'line 2: the query is missing'],
])('the file %j is refused', (text, message) => {
  expect(() => parseSlt(text)).toThrow(message);
});
