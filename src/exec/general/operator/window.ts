// Window functions: rows are parted and sorted once for all calls that agree on it, and every call
// walks its partitions with the bounds of its frames.
import type { BoundExpression, SortKey } from '../../../plan/expression.ts';
import type { WindowCall, WindowPlanNode } from '../../../plan/plan.ts';
import { textOfExpression } from '../../../plan/text-of-expression.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { NULL_VALUE, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { compileKeyOrder, type KeyOrder } from '../key-order.ts';
import { type ExecRow, WindowRow } from '../row.ts';
import type { Partition } from '../window/partition.ts';
import { compileWindowCall, type PartitionCall } from '../window/window-call.ts';
import { comparingWithCancellation, type RowSource, withCancellation } from './source.ts';

/** Calls over the same partitions in the same order. */
interface Arrangement {
  readonly partitionBy: readonly BoundExpression[];
  readonly orderBy: readonly SortKey[];
  readonly calls: { readonly index: number; readonly run: PartitionCall }[];
}

export function compileWindow(
  node: WindowPlanNode,
  input: RowSource,
  compiler: Compiler,
): RowSource {
  const arrangements = arrange(node.calls, compiler);
  const callCount = node.calls.length;
  return function* () {
    const rows = [...withCancellation(input(), compiler.runtime)];
    const results = rows.map(() => new Array<Value>(callCount).fill(NULL_VALUE));
    for (const arrangement of arrangements) {
      for (const partition of partitionsOf(rows, arrangement, compiler)) {
        compiler.runtime.scope.checkCancelled();
        for (const { index, run } of arrangement.calls) {
          run(partition, (position, value) => {
            const row = partition.rowIndexes[position] as number;
            (results[row] as Value[])[index] = value;
          });
        }
      }
    }
    for (const [index, row] of rows.entries()) {
      yield new WindowRow(row, results[index] as Value[]);
    }
  };
}

function arrange(calls: readonly WindowCall[], compiler: Compiler): readonly Arrangement[] {
  const arrangements = new Map<string, Arrangement>();
  calls.forEach((call, index) => {
    const { partitionBy, orderBy } = call;
    const key = textOfExpression([partitionBy, orderBy]);
    let arrangement = arrangements.get(key);
    if (arrangement === undefined) {
      arrangement = { partitionBy, orderBy, calls: [] };
      arrangements.set(key, arrangement);
    }
    arrangement.calls.push({ index, run: compileWindowCall(call, compiler) });
  });
  return [...arrangements.values()];
}

/** The partitions in the order of their first rows, each sorted; equal rows keep their order. */
function* partitionsOf(
  rows: readonly ExecRow[],
  { partitionBy, orderBy }: Arrangement,
  compiler: Compiler,
): Iterable<Partition> {
  const frame = new Frame();
  const parts = new Map<CanonicalKey, number[]>();
  const partKeys = partitionBy.map((key) => compiler.evaluator(key));
  const sortKeys = orderBy.map((key) => compiler.evaluator(key.expression));
  const values = rows.map((row, index) => {
    frame.at(row);
    const key = keyOfTuple(partKeys.map((evaluate) => evaluate(frame)));
    const part = parts.get(key);
    if (part === undefined) parts.set(key, [index]);
    else part.push(index);
    return sortKeys.map((evaluate) => evaluate(frame));
  });
  const orders = orderBy.map(compileKeyOrder);
  const compare = (a: number, b: number) => compareKeys(values[a], values[b], orders);
  const sorting = comparingWithCancellation(
    (a: number, b: number) => compare(a, b) || a - b,
    compiler.runtime.scope,
  );
  for (const rowIndexes of parts.values()) {
    if (orders.length > 0) rowIndexes.sort(sorting);
    yield {
      rows: rowIndexes.map((index) => rows[index] as ExecRow),
      rowIndexes,
      keys: rowIndexes.map((index) => (values[index] as Value[])[0] ?? NULL_VALUE),
      ...peersOf(rowIndexes, compare),
    };
  }
}

function compareKeys(
  a: readonly Value[] = [],
  b: readonly Value[] = [],
  orders: readonly KeyOrder[],
): number {
  for (let i = 0; i < orders.length; i++) {
    const order = (orders[i] as KeyOrder)(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return 0;
}

/** Runs of rows that the order does not tell apart. */
function peersOf(
  rowIndexes: readonly number[],
  compare: (a: number, b: number) => number,
): Pick<Partition, 'groupOf' | 'groupStarts'> {
  const groupOf = new Array<number>(rowIndexes.length);
  const groupStarts: number[] = [];
  rowIndexes.forEach((row, position) => {
    const previous = rowIndexes[position - 1];
    if (previous === undefined || compare(previous, row) !== 0) groupStarts.push(position);
    groupOf[position] = groupStarts.length - 1;
  });
  groupStarts.push(rowIndexes.length);
  return { groupOf, groupStarts };
}
