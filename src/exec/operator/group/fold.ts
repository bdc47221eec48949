// Aggregates that no kernel accumulates: rows are sorted by the keys of their groups, and the function
// itself takes the values of each group in their order.

import type { BoundExpression } from '../../../plan/expression.ts';
import type { AggregateFunction } from '../../../plan/function.ts';
import type { AggregateCall } from '../../../plan/plan.ts';
import { textOfExpression } from '../../../plan/text-of-expression.ts';
import { every } from '../../../util/every.ts';
import { isTrue } from '../../../value/atom.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import type { Scalar, Value } from '../../../value/value.ts';
import { aggregateNamed, inOrder } from '../../general/aggregator.ts';
import type { ValueColumn } from '../../vector/group/group-column.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { withRowOrder } from '../row-order.ts';
import { ColumnReaders, type ReadValue } from '../table/column-readers.ts';

/** Rows by group: those of a group stand together, groups in the order of their keys. */
interface GroupedRows {
  readonly order: Uint32Array;
  /** where each group begins, and the number of rows */
  readonly starts: Uint32Array;
}

/** Rows that a call takes between two looks whether the query was cancelled. */
const ROWS_PER_LOOK = 4096;

/**
 * The results of calls for each group, in the order of the keys.
 * @param table holds the values of keys and calls as columns: no filter, no built tables
 * @throws NotSuited for other groups than `groupCount`, and what functions throw
 */
export function foldCalls(
  keys: readonly BoundExpression[],
  calls: readonly AggregateCall[],
  table: Pipeline,
  groupCount: number,
  context: OperatorContext,
): readonly ValueColumn[] {
  const orders = new Map<string, GroupedRows>();
  const columns = new ColumnReaders(table, context);
  return calls.map((call) => {
    const sortKeys = call.modifiers?.orderBy ?? [];
    const text = textOfExpression(sortKeys);
    let rows = orders.get(text);
    if (rows === undefined) {
      const groupKeys = keys.map((expression) => ({ expression, descending: false }));
      rows = sortRows([...groupKeys, ...sortKeys], keys.length, table, context);
      orders.set(text, rows);
    }
    return { kind: 'values', values: foldCall(call, rows, groupCount, columns, context) };
  });
}

function sortRows(
  keys: Parameters<typeof withRowOrder>[1],
  groupKeyCount: number,
  table: Pipeline,
  context: OperatorContext,
): GroupedRows {
  const { rowCount } = table.base;
  if (keys.length === 0) {
    return {
      order: Uint32Array.from({ length: rowCount }, (_, row) => row),
      starts: whole(rowCount),
    };
  }
  return withRowOrder(table, keys, context, (order, changesBy) => ({
    order: order.slice(),
    starts: groupKeyCount === 0 ? whole(rowCount) : startsOf(changesBy(groupKeyCount)),
  }));
}

function whole(rowCount: number): Uint32Array {
  return rowCount === 0 ? Uint32Array.of(0) : Uint32Array.of(0, rowCount);
}

function startsOf(marks: Uint8Array): Uint32Array {
  const starts: number[] = [];
  for (let i = 0; i < marks.length; i++) if (marks[i] === 1) starts.push(i);
  return Uint32Array.of(...starts, marks.length);
}

/** Takes the rows at some positions of an order into a state. */
type TakeRows = (state: unknown, order: Uint32Array, from: number, to: number) => void;

function foldCall(
  call: AggregateCall,
  { order, starts }: GroupedRows,
  groupCount: number,
  columns: ColumnReaders,
  { compiler, exactTimestamps }: OperatorContext,
): readonly Value[] {
  const declaration = aggregateNamed(call.name, compiler);
  const { distinct = false, orderBy = [], filter } = call.modifiers ?? {};
  const finish = orderBy.length > 0 ? inOrder(declaration) : declaration.finish;
  const { scope } = compiler.runtime;
  const look = every(ROWS_PER_LOOK, () => scope.checkCancelled());
  const isOfAtoms = !exactTimestamps && !distinct && filter === undefined;
  const take =
    (isOfAtoms ? takeAtoms(declaration, call.args, columns, look) : undefined) ??
    takeValues(declaration, call, columns, look);
  const results: Value[] = [];
  for (let group = 0; group + 1 < starts.length; group++) {
    const state = declaration.init();
    take(state, order, starts[group] as number, starts[group + 1] as number);
    results.push(finish(state));
  }
  // A group of no rows, where an aggregate counts nothing too.
  if (results.length === 0 && groupCount === 1) results.push(finish(declaration.init()));
  if (results.length !== groupCount) throw new NotSuited();
  return results;
}

/** Undefined when the function does not take atoms. */
function takeAtoms(
  { addAtoms }: AggregateFunction,
  args: readonly BoundExpression[],
  columns: ColumnReaders,
  look: () => void,
): TakeRows | undefined {
  if (addAtoms === undefined || args.length < 1 || args.length > 2) return undefined;
  const [first, second] = args.map((arg) => columns.atoms(arg));
  if (first === undefined) return undefined;
  if (args.length === 1) {
    return (state, order, from, to) => {
      for (let position = from; position < to; position++) {
        look();
        const atom = first(order[position] as number);
        if (atom !== null) addAtoms(state, atom);
      }
    };
  }
  if (second === undefined) return undefined;
  return (state, order, from, to) => {
    for (let position = from; position < to; position++) {
      look();
      const row = order[position] as number;
      const a = first(row);
      const b = second(row);
      if (a !== null && b !== null) addAtoms(state, a, b);
    }
  };
}

function takeValues(
  declaration: AggregateFunction,
  { args, modifiers }: AggregateCall,
  columns: ColumnReaders,
  look: () => void,
): TakeRows {
  const readers = args.map((arg) => columns.values(arg));
  const test = modifiers?.filter && columns.values(modifiers.filter);
  return (state, order, from, to) => {
    const met = modifiers?.distinct === true ? new Set<CanonicalKey>() : undefined;
    for (let position = from; position < to; position++) {
      look();
      const row = order[position] as number;
      if (test !== undefined && !isTrue((test(row) as Scalar).atom)) continue;
      const values = new Array<Value>(readers.length);
      for (let i = 0; i < readers.length; i++) values[i] = (readers[i] as ReadValue)(row);
      if (met !== undefined) {
        const key = keyOfTuple(values);
        if (met.has(key)) continue;
        met.add(key);
      }
      declaration.update(state, values);
    }
  };
}
