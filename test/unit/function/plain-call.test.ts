// The short way of a function gives what the general way gives, or leaves the input to it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { builtinNamespace } from '../../../src/builtin/index.ts';
import { compileSelect } from '../../../src/exec/prepared-row.ts';
import { plainValue, valueFromJson } from '../../../src/function/function-json.ts';
import { plainCallsOf } from '../../../src/function/plain-call.ts';
import type { Namespace } from '../../../src/plan/namespace.ts';
import { atomToJsonText } from '../../../src/value/json.ts';
import { Row } from '../../../src/value/value.ts';

const namespace: Namespace = {
  dataset(name) {
    throw new Error(`no dataset ${name}`);
  },
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};
const scope = { checkCancelled() {}, host: undefined };

function compile(expression: string, kind: { raw?: boolean; autoInput?: boolean } = {}) {
  const { raw = false, autoInput = false } = kind;
  const select = compileSelect(expression, { namespace, scope });
  const [variable] = select.variables as [string];
  return {
    ...plainCallsOf(select, { raw, autoInput, builtins: builtinNamespace }),
    general(input: unknown): string {
      try {
        const value = valueFromJson(input, 7);
        const row = autoInput ? new Row([variable], [value]) : (value as Row);
        return plainValue(raw ? select.applyValue(row, { scope }) : select.apply(row, { scope }));
      } catch {
        return 'failure';
      }
    },
  };
}

const atom = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.double(),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 62n }),
  fc.constantFrom('', 'a', '12', '2015-01-01'),
  fc.boolean(),
  fc.constant(null),
);
const input = fc.record(
  {
    x: fc.oneof(atom, fc.array(atom, { maxLength: 3 })),
    y: atom,
    r: fc.oneof(atom, fc.record({ a: atom }, { requiredKeys: [] })),
  },
  { requiredKeys: [] },
);

describe('inputs by name', () => {
  test.each([
    'x * 2 + 1 AS y',
    'x, y, x = y AS same, x < 3 AS less',
    "CASE WHEN x > 1 THEN 'many' WHEN x IS NULL THEN 'none' ELSE y END AS c",
    'abs(x) AS a, sqrt(y) AS s, length(x) AS l, upper(x) AS u',
    'r.a + 1 AS a, y AS b',
    "x LIKE '1%' AS l, y IN (1, 2, 'a') AS i, CAST (x AS string) AS t",
    'horizontal_sum(x) AS s, horizontal_max(x) + y AS m',
    "constructor AS c, length AS l, __proto__ AS p, '1' AS one",
  ])('%s', (expression) => {
    const { plain, general } = compile(expression);
    let taken = 0;
    fc.assert(
      fc.property(input, (json) => {
        const text = plain?.(json);
        if (text === undefined) return;
        taken++;
        expect(text).toBe(general(json));
      }),
      { numRuns: 300 },
    );
    expect(taken).toBeGreaterThan(0);
  });

  test('that are no object are left to the general way', () => {
    const { plain } = compile('x AS y');
    expect([plain?.([1]), plain?.(1), plain?.(null)]).toEqual([undefined, undefined, undefined]);
  });

  test.each(['*', 'x AS *', '{x} AS r', 'latest_timestamp(x) AS t', 'x AS a.b', 'x AS y, 1 AS y'])(
    '%s has no short way',
    (expression) => {
      expect(compile(expression)).not.toHaveProperty('plain');
    },
  );
});

describe('one input of any kind', () => {
  const any = fc.oneof(atom, fc.array(fc.oneof(atom, fc.double()), { maxLength: 4 }));

  test.each([
    'horizontal_sum(input)',
    'horizontal_avg(input) * 2 + input."1"',
    'horizontal_min(input) = horizontal_max(input)',
    'horizontal_count(input) + 1',
    'input + 1',
    "input + 'x'",
  ])('%s', (expression) => {
    const { plain, general } = compile(expression, { raw: true, autoInput: true });
    fc.assert(
      fc.property(any, (json) => {
        const text = plain?.(json);
        if (text !== undefined) expect(text).toBe(general(json));
      }),
      { numRuns: 300 },
    );
    expect(plain?.([1, 2, 4]) ?? plain?.(1)).toBe(
      general(plain?.([1, 2, 4]) === undefined ? 1 : [1, 2, 4]),
    );
  });

  test.each([
    'horizontal_sum(input)',
    'horizontal_avg(input) * 2 + input."1"',
    'horizontal_max(input) - horizontal_min(input) / horizontal_count(input)',
  ])('%s of rows of numbers', (expression) => {
    const { numberRow, general } = compile(expression, { raw: true, autoInput: true });
    const numbers = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { maxLength: 6 });
    fc.assert(
      fc.property(numbers, (row) => {
        const found = numberRow?.(
          Float64Array.from([9, ...row], (n) => n + 0),
          1,
          row.length + 1,
        );
        if (found !== undefined) expect(atomToJsonText(found)).toBe(general(row));
      }),
    );
    expect(numberRow?.(Float64Array.of(1, 2), 0, 2)).toBeTypeOf('number');
  });
});
