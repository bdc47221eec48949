// A cancelled query stops between chunks of work, also when it has read its last row: what comes
// after is counted, so that the test does not depend on the speed of the machine.
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../src/exec/operator/executor.ts';
import { type Parallel, serialParallel } from '../../../src/exec/parallel.ts';
import { prepareQuery } from '../../../src/exec/query.ts';
import { useArenas } from '../../../src/exec/thread-memory.ts';
import type { CallContext } from '../../../src/plan/function.ts';
import { failure } from '../../../src/util/error.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import { TableBuilder } from '../../../src/value/column/table-builder.ts';
import { Path } from '../../../src/value/path.ts';
import { NO_CONTEXT } from '../../support/memory-namespace.ts';
import { namespaceOf, rowsOf } from '../../support/query.ts';

const ROW_COUNT = 20_000;

const rows = Object.fromEntries(
  Array.from({ length: ROW_COUNT }, (_, i) => [`r${i}`, { x: (i * 7919) % ROW_COUNT }]),
);
const namespace = namespaceOf({ t: rowsOf(rows) });

/** Calls of `seen`, which answers its input. */
let seenCount = 0;
namespace.functions.set('seen', {
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
function runWith(sql: string, scope: CallContext): void {
  seenCount = 0;
  for (const _ of prepareQuery(sql, { namespace, scope }).run()) {
    // A reader that only counts.
  }
}

test.each([
  ['ORDER BY', 'SELECT x FROM t ORDER BY seen({x: x})[x]'],
  ['GROUP BY', 'SELECT count(*) FROM t GROUP BY seen({x: x})[x]'],
  ['a join', 'SELECT a.x FROM t AS a JOIN t AS b ON seen({x: a.x})[x] = b.x ORDER BY a.x'],
])('%s stops while it sorts what it has read', (_, sql) => {
  let checkCount = 0;
  const counting: CallContext = {
    host: undefined,
    checkCancelled() {
      if (seenCount >= ROW_COUNT) checkCount++;
    },
  };
  runWith(sql, counting);
  // A sort compares each row more than ten times, and looks every few thousand times.
  expect(checkCount).toBeGreaterThan((10 * ROW_COUNT) / 8192);

  let cancelledAt = 0;
  const cancelled: CallContext = {
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

test('groups by code look once for each chunk, in the unit that has it', () => {
  const arenas = ArenaSet.create({ budgetBytes: 1 << 28, arenaPageCount: 4096 });
  useArenas(arenas);
  const chunkCount = 8;
  const builder = new TableBuilder(arenas, 1000);
  for (let row = 0; row < chunkCount * 1000; row++) {
    builder.addRow(Path.of(String(row)), [
      [Path.of('k'), `k${row % 5}`, 0],
      [Path.of('x'), row, 0],
    ]);
  }
  const table = snapshotRelation(builder.seal(), arenas);
  let lookCount = 0;
  const serial = serialParallel({ checkCancelled: () => lookCount++ });
  const ranJobs = new Set<string>();
  const parallel: Parallel = {
    threadCount: 1,
    run(job, args, unitCount) {
      ranJobs.add(job.name);
      return serial.run(job, args, unitCount);
    },
  };
  const executor = batchExecutor({ arenas, parallel, rowCountMin: 0 });
  const query = prepareQuery('SELECT k, sum(x) AS s FROM t GROUP BY k', {
    namespace: {
      dataset: () => table,
      findUserFunction: () => undefined,
      builtins: builtinNamespace,
    },
    scope: NO_CONTEXT,
    executor,
  });
  expect([...query.run()]).toHaveLength(5);
  expect([...ranJobs]).toContain('vector.group');
  expect(lookCount).toBeGreaterThanOrEqual(chunkCount);
});
