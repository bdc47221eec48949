// Calls into the sandbox are made for many rows at once, and nobody can tell but by the time.
import { beforeEach, expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { DEFAULT_OUTPUT } from '../../../../src/exec/output/options.ts';
import { writeQuery } from '../../../../src/exec/write-query.ts';
import type { CallHost } from '../../../../src/plan/function.ts';
import { OPEN_ROW_TYPE } from '../../../../src/plan/type/type.ts';
import { failure } from '../../../../src/util/error.ts';
import { Row, Scalar, type Value } from '../../../../src/value/value.ts';
import { MemoryNamespace } from '../../../support/memory-namespace.ts';
import { collect, rowsOf } from '../../../support/query.ts';

const ROW_COUNT = 3000;
const namespace = new MemoryNamespace(builtinNamespace);
namespace.add(
  't',
  rowsOf(Object.fromEntries(Array.from({ length: ROW_COUNT }, (_, x) => [`r${x}`, { x }]))),
);

/** The numbers of calls of each batch. */
let batches: number[];
beforeEach(() => {
  batches = [];
});

/** `double`, and `positive`, which refuses what is not. */
const host: CallHost = {
  fetchUrl: () => ({ error: 'nothing to fetch' }),
  runScript: () => undefined,
  callScript(source, _parameters, calls) {
    batches.push(calls.length);
    return calls.map(([arg]) => new Scalar(apply(source, arg), 0));
  },
};

function apply(source: string, arg: Value | undefined): number {
  const x = arg instanceof Scalar ? Number(arg.atom) : 0;
  if (source === 'positive' && x <= 0) throw failure('SQL_EXECUTION', `${x} is not positive`);
  return source === 'positive' ? x : x * 2;
}

function run(sql: string): unknown[] {
  const scope = { checkCancelled() {}, host };
  const output = { ...DEFAULT_OUTPUT, headers: false, rowNames: false };
  const text = collect((emit) =>
    writeQuery(sql, { namespace, scope, format: 'table', output, emit }),
  );
  return JSON.parse(text) as unknown[];
}

test('a call of every row is made in few batches', () => {
  const rows = run(`SELECT jseval('double', 'x', x) + 1 AS y FROM t`) as number[][];
  const expected = Array.from({ length: ROW_COUNT }, (_, x) => 2 * x + 1);
  expect(rows.map(([y]) => y).sort((a, b) => Number(a) - Number(b))).toEqual(expected);
  expect(batches.reduce((sum, count) => sum + count, 0)).toBe(ROW_COUNT);
  expect(batches.length).toBeLessThan(20);
});

test('so are arguments of aggregates, conditions, and calls in calls', () => {
  expect(run(`SELECT sum(jseval('double', 'x', jseval('double', 'x', x))) AS s FROM t`)).toEqual([
    [2 * ROW_COUNT * (ROW_COUNT - 1)],
  ]);
  expect(run(`SELECT x FROM t WHERE jseval('double', 'x', x) = 8`)).toEqual([[4]]);
  expect(batches.length).toBeLessThan(60);
});

test('functions that take several inputs at once get those of many rows', () => {
  const applied: number[] = [];
  const triple = (input: Value) => {
    const { atom, ts } = (input as Row).values[0] as Scalar;
    if (atom === 2990) throw failure('SQL_EXECUTION', 'no more');
    return new Row(['y'], [new Scalar(Number(atom) * 3, ts)]);
  };
  namespace.functions.set('triple', {
    name: 'triple',
    deterministic: true,
    outputType: OPEN_ROW_TYPE,
    takesAnyValue: false,
    apply: triple,
    applyAll(inputs) {
      applied.push(inputs.length);
      return inputs.map(triple);
    },
  });
  const row = 'CASE WHEN x % 2 = 0 THEN {x} ELSE NULL END';
  const rows = run(`SELECT x, triple(${row})[y] AS y FROM t WHERE x < 2990`) as number[][];
  expect(rows.length).toBe(2990);
  for (const [x = 0, y] of rows) expect(y).toBe(x % 2 === 0 ? 3 * x : null);
  expect(applied.length).toBeLessThan(20);
  expect(() => run('SELECT triple({x})[y] AS y FROM t')).toThrow('no more');
});

test('a call that not every row makes is made only where it is', () => {
  const sql = `SELECT CASE WHEN x < 3 THEN jseval('double', 'x', x) END AS y FROM t`;
  expect((run(sql) as number[][]).filter(([y]) => y !== null)).toEqual([[0], [2], [4]]);
  expect(batches).toEqual([1, 1, 1]);
});

test('few calls are made for rows beyond a limit', () => {
  expect(run(`SELECT jseval('double', 'x', x) AS y FROM t ORDER BY rowPath() LIMIT 1`)).toEqual([
    [0],
  ]);
  expect(batches.reduce((sum, count) => sum + count, 0)).toBeLessThan(4);
});

test('an error is that of the first row that has it, and none before', () => {
  expect(() => run(`SELECT jseval('positive', 'x', 100 - x) AS y FROM t`)).toThrow(
    /^0 is not positive|: 0 is not positive/,
  );
  const caught = run(`SELECT try(jseval('positive', 'x', 2 - x), 'none') AS y FROM t LIMIT 4`);
  expect(caught).toEqual([[2], [1], ['none'], ['none']]);
});
