// WITH RECURSIVE: each step sees the rows that the one before it added.
import type { RecursiveNode } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { type CanonicalKey, keyOfValue } from '../../../value/canonical-key.ts';
import { Path } from '../../../value/path.ts';
import { latestVersions } from '../call/lookup.ts';
import type { Runtime } from '../compiler.ts';
import { type ExecRow, TableRow } from '../row.ts';
import { type RowSource, withCancellation } from './source.ts';

export const ITERATION_COUNT_MAX = 1_000_000;
/** Rows that a recursion may hold: they are objects, whatever the budget for columns is. */
export const ROW_COUNT_MAX = 20_000_000;

export function compileRecursive(
  node: RecursiveNode,
  base: RowSource,
  step: RowSource,
  runtime: Runtime,
): RowSource {
  const { table, all } = node;
  return function* () {
    const met = new Set<CanonicalKey>();
    let count = 0;
    const added = (rows: Iterable<ExecRow>): ExecRow[] => {
      const fresh: ExecRow[] = [];
      for (const { row } of withCancellation(rows, runtime)) {
        if (!all) {
          const key = keyOfValue(latestVersions(row));
          if (met.has(key)) continue;
          met.add(key);
        }
        if (count >= ROW_COUNT_MAX) throw endlessRecursion(`more than ${ROW_COUNT_MAX} rows`);
        fresh.push(new TableRow(new Path([String(count++)]), row));
      }
      return fresh;
    };
    const outside = runtime.recursions[table] ?? [];
    let last = added(base());
    for (let iteration = 0; last.length > 0; iteration++) {
      yield* last;
      if (iteration >= ITERATION_COUNT_MAX)
        throw endlessRecursion(`${ITERATION_COUNT_MAX} iterations`);
      runtime.scope.checkCancelled();
      runtime.recursions[table] = last;
      try {
        last = added(step());
      } finally {
        runtime.recursions[table] = outside;
      }
    }
  };
}

export function endlessRecursion(limit: string): Error {
  return failure(
    'SQL_EXECUTION',
    `the recursion did not end within ${limit}: its condition must become false, or UNION without ALL must leave out rows that came before`,
  );
}
