// OFFSET and LIMIT.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { LimitByNode, LimitNode } from '../../../plan/plan.ts';
import { failure } from '../../../util/error.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import { isSliceable, type RowSource } from './source.ts';

export function compileLimit(node: LimitNode, input: RowSource): RowSource {
  const { offset, limit = Number.POSITIVE_INFINITY } = node;
  return () => {
    if (limit === 0) return [];
    const rows = input();
    if (!isSliceable(rows)) return takeRows(rows, offset, limit);
    const from = Math.min(offset, rows.rowCount);
    return rows.slice(from, Math.min(from + limit, rows.rowCount));
  };
}

function* takeRows(rows: Iterable<ExecRow>, offset: number, limit: number): Iterable<ExecRow> {
  let skip = offset;
  let remaining = limit;
  for (const row of rows) {
    if (skip > 0) {
      skip--;
      continue;
    }
    yield row;
    if (--remaining === 0) return;
  }
}

/** Counts that are parameters are read anew in each run. */
export function compileLimitBy(node: LimitByNode, input: RowSource, compiler: Compiler): RowSource {
  const read = (expression: BoundExpression | undefined, clause: string, none: number) => {
    if (expression === undefined) return () => none;
    const evaluate = compiler.evaluator(expression);
    return placeErrors(
      (frame: Frame) => countOf(evaluate(frame), clause),
      expression,
      compiler.runtime.text,
    );
  };
  const offset = read(node.offset, 'OFFSET', 0);
  const limit = read(node.limit, 'LIMIT', Number.POSITIVE_INFINITY);
  return () => {
    const frame = new Frame();
    const [skip, count] = [offset(frame), limit(frame)];
    return count === 0 ? [] : takeRows(input(), skip, count);
  };
}

function countOf(value: Value, clause: string): number {
  const atom = value instanceof Scalar ? value.atom : undefined;
  const count = typeof atom === 'bigint' ? Number(atom) : atom;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0) return count;
  throw failure('SQL_EXECUTION', `${clause} takes an unsigned integer`);
}
