// Window functions over a pipeline: rows are put into a table, sorted once for all calls that agree
// on their partitions and order, and get the results as columns.
import type { BoundExpression, SortKey } from '../../../plan/expression.ts';
import type { WindowCall, WindowPlanNode } from '../../../plan/plan.ts';
import { textOfExpression } from '../../../plan/text-of-expression.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { withOutputNames } from '../join/join.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { HIDDEN, tableColumn, windowName } from '../outputs.ts';
import { type Output, Pipeline } from '../pipeline.ts';
import { withRowOrder } from '../row-order.ts';
import type { MadeColumn } from '../table/batch-table.ts';
import { encodeNumberColumn } from '../table/encode-column.ts';
import { ExtendedTable } from '../table/extended-table.ts';
import { RowGatherer } from '../table/gather.ts';
import { columnNumbers } from '../table/read-numbers.ts';
import { type Arrangement, arrange } from './arrangement.ts';
import { resultsByPartition } from './by-partition.ts';
import { isConstantValue } from './constant.ts';
import { mapCall } from './map-call.ts';
import { topOfPartitions } from './top-of-partitions.ts';
import {
  asksForPeers,
  type WindowArgument,
  type WindowResult,
  windowResult,
} from './window-call.ts';

const keyName = (index: number) => `${HIDDEN}window key ${index}`;

/** @throws NotSuited */
export function windowPipeline(
  node: WindowPlanNode,
  input: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { table: whole, calls } = tableOfCalls(node, input, context);
  const table = node.keep === undefined ? whole : topOfPartitions(whole, calls, node.keep, context);
  const makers = new Map<string, () => MadeColumn | undefined>();
  const meanings: BoundExpression[] = [];
  for (const arrangement of arrangementsOf(calls)) {
    const { partitionBy, orderBy } = arrangement.calls[0] as WindowCall;
    const keys = [
      ...partitionBy.map((expression): SortKey => ({ expression, descending: false })),
      ...orderBy,
    ];
    const arranged = withRowOrder(table, keys, context, (order, changesBy) => {
      const partitions = changesBy(partitionBy.length);
      if (!arrangement.calls.some(asksForPeers)) return arrange(order, partitions, undefined);
      const peers = orderBy.length === 0 ? partitions : changesBy(keys.length);
      return arrange(order, partitions, peers);
    });
    for (const [i, call] of arrangement.calls.entries()) {
      const index = arrangement.indexes[i] as number;
      const made = resultColumn(windowName(index), call, table, arranged, context);
      makers.set(windowName(index), () => made);
      meanings[index] = tableColumn([windowName(index)]);
    }
  }
  const extended = new ExtendedTable(table.base, makers);
  const { namer, outputs } = table;
  const pipeline = new Pipeline(extended, outputs, namer, context.tables);
  pipeline.outputs = {
    ...outputs,
    list: () => {
      const list = outputs.list();
      return list && [...list, ...meanings.map(hiddenOutput)];
    },
    windowResult: (index) => meanings[index],
  };
  return pipeline;
}

function hiddenOutput(expression: BoundExpression, index: number): Output {
  return { path: [windowName(index)], expression };
}

interface CallsOverTable {
  /** rows as they lie */
  readonly table: Pipeline;
  /** calls whose expressions read it */
  readonly calls: readonly WindowCall[];
}

/** Keys and arguments are put into the table where they are more than its columns. */
function tableOfCalls(
  { calls }: WindowPlanNode,
  input: Pipeline,
  context: OperatorContext,
): CallsOverTable {
  const resolve = (expression: BoundExpression) => suited(input.resolve(expression));
  const resolved = calls.map((call) => mapCall(call, resolve));
  const isColumn = ({ kind }: BoundExpression) => kind === 'column' || kind === 'constant';
  const isReady =
    input.isPlain &&
    input.filter === undefined &&
    resolved.every((call) => everyPart(call, isColumn));
  if (isReady) return { table: input, calls: resolved };
  const list = suited(input.outputs.list());
  const added: { readonly path: readonly string[]; readonly expression: BoundExpression }[] = [];
  const known = new Map<string, string>();
  const named = resolved.map((call) =>
    mapCall(call, (expression) => {
      if (expression.kind === 'constant') return expression;
      const text = textOfExpression(expression);
      let name = known.get(text);
      if (name === undefined) {
        name = keyName(known.size);
        known.set(text, name);
        added.push({ path: [name], expression });
      }
      return { ...tableColumn([name]), type: expression.type };
    }),
  );
  const table = materialize(input, [...list, ...added], context, { named: true });
  return { table: withOutputNames(input, table), calls: named };
}

function everyPart(call: WindowCall, test: (expression: BoundExpression) => boolean): boolean {
  let isTrue = true;
  mapCall(call, (expression) => {
    isTrue &&= test(expression);
    return expression;
  });
  return isTrue;
}

interface CallsOfArrangement {
  readonly calls: WindowCall[];
  /** their numbers */
  readonly indexes: number[];
}

function arrangementsOf(calls: readonly WindowCall[]): readonly CallsOfArrangement[] {
  const found = new Map<string, CallsOfArrangement>();
  calls.forEach((call, index) => {
    const key = textOfExpression([call.partitionBy, call.orderBy]);
    let arrangement = found.get(key);
    if (arrangement === undefined) {
      arrangement = { calls: [], indexes: [] };
      found.set(key, arrangement);
    }
    arrangement.calls.push(call);
    arrangement.indexes.push(index);
  });
  return [...found.values()];
}

function resultColumn(
  name: string,
  call: WindowCall,
  table: Pipeline,
  arrangement: Arrangement,
  context: OperatorContext,
): MadeColumn {
  const { modifiers, ignoreNulls } = call;
  const [arg] = call.args;
  if (modifiers === undefined && !ignoreNulls) {
    try {
      const read = arg === undefined ? undefined : argumentOf(arg, table, context);
      return encodeResult(name, windowResult(call, read, arrangement), read, table, context);
    } catch (thrown) {
      if (!(thrown instanceof NotSuited)) throw thrown;
    }
  }
  return resultsByPartition(name, call, table, arrangement, context);
}

interface ReadArgument extends WindowArgument {
  readonly column: number | undefined;
}

function argumentOf(
  arg: BoundExpression,
  { scope, base }: Pipeline,
  context: OperatorContext,
): ReadArgument {
  if (arg.kind === 'constant') {
    return {
      column: undefined,
      isConstant: isConstantValue(arg),
      isTimestamp: false,
      numbers: () => undefined,
      valid: () => {
        throw new NotSuited();
      },
    };
  }
  const column = arg.kind === 'column' ? scope.find(arg.path) : undefined;
  if (typeof column !== 'number') throw new NotSuited();
  const snapshot = scope.columns[column] as ColumnSnapshot;
  const read = () => columnNumbers(snapshot, base, context);
  return {
    column,
    isConstant: false,
    isTimestamp: snapshot.type === 'timestamp',
    numbers: () => (snapshot.dictionary === undefined ? read() : undefined),
    valid: () => read().valid,
  };
}

function encodeResult(
  name: string,
  result: WindowResult,
  arg: ReadArgument | undefined,
  { scope, base }: Pipeline,
  context: OperatorContext,
): MadeColumn {
  const { chunkRowCounts } = base;
  const { memory, exactTimestamps } = context;
  const column = arg?.column;
  const timedColumn = column === undefined ? true : scope.timedOf(column);
  if (result.kind === 'rows') {
    const gatherer = new RowGatherer(base, result.rows, chunkRowCounts, context);
    const picked = (number: number) => ({
      ...gatherer.column(scope.columns[number] as ColumnSnapshot),
      path: [name],
    });
    const number = suited(column);
    return {
      snapshot: picked(number),
      ts: scope.tsOf(number),
      timed: timedColumn === true ? undefined : picked(timedColumn),
    };
  }
  const { values, nulls, timed } = result;
  const snapshot = encodeNumberColumn([name], { values, nulls }, 'number', chunkRowCounts, memory);
  const ts = timed === undefined || column === undefined ? MINUS_INFINITY : scope.tsOf(column);
  if (ts === MINUS_INFINITY || timed === undefined) return { snapshot, ts };
  if (!exactTimestamps) return { snapshot, ts };
  if (timedColumn !== true) throw new NotSuited();
  const marks = { values: new Float64Array(timed.length), nulls: timed.map((one) => 1 - one) };
  return {
    ...{ snapshot, ts },
    timed: encodeNumberColumn([name], marks, 'number', chunkRowCounts, memory),
  };
}
