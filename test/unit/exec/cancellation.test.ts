// A cancelled query stops between chunks of work, also when it has read its last row: what comes
// after is counted, so that the test does not depend on the speed of the machine.
import { expect, test } from 'vitest';
import { prepareQuery } from '../../../src/exec/query.ts';
import type { CallScope } from '../../../src/plan/function.ts';
import { failure } from '../../../src/util/error.ts';
import { catalogOf, rowsOf } from '../../support/query.ts';

const ROW_COUNT = 20_000;

const rows = Object.fromEntries(
  Array.from({ length: ROW_COUNT }, (_, i) => [`r${i}`, { x: (i * 7919) % ROW_COUNT }]),
);
const catalog = catalogOf({ t: rowsOf(rows) });

/** Calls of `seen`, which answers its input. */
let seenCount = 0;
catalog.functions.set('seen', {
  name: 'seen',
  deterministic: false,
  outputType: { kind: 'any' },
  takesAnyValue: false,
  apply(input) {
    seenCount++;
    return input;
  },
});

/** Runs a query to its end. */
function runWith(sql: string, scope: CallScope): void {
  seenCount = 0;
  for (const _ of prepareQuery(sql, { catalog, scope }).run()) {
    // A reader that only counts.
  }
}

test.each([
  ['ORDER BY', 'SELECT x FROM t ORDER BY seen({x: x})[x]'],
  ['GROUP BY', 'SELECT count(*) FROM t GROUP BY seen({x: x})[x]'],
  ['a join', 'SELECT a.x FROM t AS a JOIN t AS b ON seen({x: a.x})[x] = b.x ORDER BY a.x'],
])('%s stops while it sorts what it has read', (_, sql) => {
  let checkCount = 0;
  const counting: CallScope = {
    host: undefined,
    checkCancelled() {
      if (seenCount >= ROW_COUNT) checkCount++;
    },
  };
  runWith(sql, counting);
  // A sort compares each row more than ten times, and looks every few thousand times.
  expect(checkCount).toBeGreaterThan((10 * ROW_COUNT) / 8192);

  let cancelledAt = 0;
  const cancelled: CallScope = {
    host: undefined,
    checkCancelled() {
      if (seenCount < ROW_COUNT) return;
      cancelledAt++;
      throw failure('CANCELLED', 'the task was cancelled');
    },
  };
  expect(() => runWith(sql, cancelled)).toThrow('cancelled');
  expect(cancelledAt, 'nothing goes on after it').toBe(1);
});
