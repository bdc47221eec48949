// What an expression gave for the values of a dictionary is kept only where it would be the same.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { evaluateConstant } from '../../../../src/exec/general/constant.ts';
import { memoKey, ValueMemo } from '../../../../src/exec/vector/value-memo.ts';
import { bindQuery } from '../../../../src/plan/bind/bind.ts';
import type { BoundExpression } from '../../../../src/plan/expression.ts';
import type { Namespace } from '../../../../src/plan/namespace.ts';
import { WarningCollector } from '../../../../src/plan/warning.ts';
import { parseQuery } from '../../../../src/sql/parser/parser.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';
import { namespaceOf, rowsOf } from '../../../support/query.ts';

const tables = namespaceOf({ t: rowsOf({ r1: { c: 'a' } }) });
const namespace: Namespace = {
  dataset: (name) => tables.dataset(name),
  findUserFunction: () => undefined,
  builtins: builtinNamespace,
};

function bound(text: string): BoundExpression {
  const { root } = bindQuery(parseQuery(`SELECT ${text} AS v FROM t`), {
    namespace,
    warnings: new WarningCollector(false),
    evaluate: (expression) => evaluateConstant(expression, namespace, NO_CONTEXT),
  });
  const [item] = root.kind === 'project' ? root.items : [];
  if (item?.kind !== 'named') throw new Error('a select list of one expression');
  return item.expression;
}

const keyOf = (text: string, id = 1) => memoKey(bound(text), id, builtinNamespace);

test('equal expressions about one dictionary have one key, others have others', () => {
  expect(keyOf("lower(c) = 'a'")).toBeDefined();
  expect(keyOf("lower(c)  =  'a'")).toBe(keyOf("lower(c) = 'a'"));
  const others = ["lower(c) = 'b'", "upper(c) = 'a'", "lower(c) <> 'a'", "c LIKE 'a%'", 'c = 1'];
  const keys = new Set([...others.map((text) => keyOf(text)), keyOf("lower(c) = 'a'", 2)]);
  expect(keys.size).toBe(others.length + 1);
  expect(keys.has(keyOf("lower(c) = 'a'"))).toBe(false);
});

test.each(["c = TIMESTAMP '2024-01-01'", 'c = random()', 'c = rowName()', 'c = uuid()'])(
  'what may differ the next time has no key: %s',
  (text) => {
    expect(keyOf(text)).toBeUndefined();
  },
);

test('values are evaluated once, and given up when there are many', () => {
  const memo = new ValueMemo();
  let runCount = 0;
  const ask = (key: string | undefined, count: number) =>
    memo.atoms(key, () => {
      runCount++;
      return new Array(count).fill('x');
    });
  ask('a', 5000);
  ask('a', 5000);
  expect(runCount).toBe(1);
  // Few values are not kept, nor are those without a key.
  ask('few', 10);
  ask('few', 10);
  ask(undefined, 5000);
  ask(undefined, 5000);
  expect(runCount).toBe(5);
  // More than a thread keeps: what was used last stays.
  for (let i = 0; i < 60; i++) {
    ask(`more ${i}`, 5000);
    ask('a', 5000);
  }
  expect(runCount).toBe(65);
  ask('more 0', 5000);
  expect(runCount).toBe(66);
});

test('long texts count by their bytes', () => {
  const memo = new ValueMemo();
  let runCount = 0;
  const ask = () =>
    memo.atoms('long', () => {
      runCount++;
      return new Array(2000).fill('x'.repeat(10_000));
    });
  ask();
  ask();
  expect(runCount).toBe(2);
});
