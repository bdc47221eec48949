// One aggregate of a query: over values, or over each column when its argument is a row.

import type { AggregateFunction } from '../../plan/function.ts';
import type { AggregateCall, AggregateModifiers } from '../../plan/plan.ts';
import { isStructuredType } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { type CanonicalKey, keyOfTuple } from '../../value/canonical-key.ts';
import { EMPTY_ROW, type Row, Scalar, sortedRow, type Value } from '../../value/value.ts';
import { asRow, latestVersions } from './call/lookup.ts';
import type { Compiler } from './compiler.ts';
import { placeErrors } from './error-place.ts';
import type { Evaluator, Frame } from './frame.ts';
import { compileKeyOrder, type KeyOrder } from './key-order.ts';

export interface AggregateState {
  update(frame: Frame): void;
  finish(): Value;
}

export interface Aggregator {
  readonly countsEmpty: boolean;
  init(): AggregateState;
  /** Those of a state, with errors that name the place of the call. */
  update(state: AggregateState, frame: Frame): void;
  finish(state: AggregateState): Value;
}

export function compileAggregate(call: AggregateCall, compiler: Compiler): Aggregator {
  const { text } = compiler.runtime;
  return {
    ...compileStates(call, compiler),
    update: placeErrors((state: AggregateState, frame: Frame) => state.update(frame), call, text),
    finish: placeErrors((state: AggregateState) => state.finish(), call, text),
  };
}

type StateMaker = Pick<Aggregator, 'countsEmpty' | 'init'>;

function compileStates(call: AggregateCall, compiler: Compiler): StateMaker {
  const { modifiers } = call;
  if (modifiers === undefined) return compilePlainStates(call, compiler);
  const { filter, distinct, orderBy } = modifiers;
  const chosen =
    distinct || orderBy.length > 0
      ? compileChosenStates(call, modifiers, compiler)
      : compilePlainStates(call, compiler);
  if (filter === undefined) return chosen;
  const test = compiler.predicate(filter);
  return {
    countsEmpty: chosen.countsEmpty,
    init() {
      const state = chosen.init();
      return {
        update(frame) {
          if (test(frame)) state.update(frame);
        },
        finish: () => state.finish(),
      };
    },
  };
}

/** DISTINCT and ORDER BY: the arguments of all rows are kept until the group is complete. */
function compileChosenStates(
  call: AggregateCall,
  modifiers: AggregateModifiers,
  compiler: Compiler,
): StateMaker {
  const declaration = aggregateNamed(call.name, compiler);
  const args = call.args.map((arg) => compiler.evaluator(arg));
  const keys = modifiers.orderBy.map((key) => compiler.evaluator(key.expression));
  const orders = modifiers.orderBy.map(compileKeyOrder);
  const compare = (a: ChosenRow, b: ChosenRow) => {
    for (let i = 0; i < orders.length; i++) {
      const order = (orders[i] as KeyOrder)(a.keys[i] as Value, b.keys[i] as Value);
      if (order !== 0) return order;
    }
    return 0;
  };
  const { distinct } = modifiers;
  const finish = orders.length > 0 ? inOrder(declaration) : declaration.finish;
  return {
    countsEmpty: declaration.countsEmpty,
    init() {
      const rows: ChosenRow[] = [];
      const met = new Set<CanonicalKey>();
      return {
        update(frame) {
          const values = args.map((arg) => latestVersions(arg(frame)));
          if (distinct) {
            const key = keyOfTuple(values);
            if (met.has(key)) return;
            met.add(key);
          }
          rows.push({ values, keys: keys.map((key) => key(frame)) });
        },
        finish() {
          if (orders.length > 0) rows.sort(compare);
          const state = declaration.init();
          for (const { values } of rows) declaration.update(state, values);
          return finish(state);
        },
      };
    },
  };
}

/** How an aggregate ends whose values came in the order that was asked for. */
export function inOrder(declaration: AggregateFunction): AggregateFunction['finish'] {
  return declaration.finishInOrder ?? declaration.finish;
}

interface ChosenRow {
  readonly values: readonly Value[];
  readonly keys: readonly Value[];
}

export function aggregateNamed(name: string, compiler: Compiler): AggregateFunction {
  const declaration = compiler.runtime.namespace.builtins.findFunction(name);
  if (declaration?.kind === 'aggregate') return declaration;
  throw failure('SQL_BINDING', `Unable to find function '${name}'`);
}

function compilePlainStates(call: AggregateCall, compiler: Compiler): StateMaker {
  const declaration = aggregateNamed(call.name, compiler);
  const args = call.args.map((arg) => compiler.evaluator(arg));
  const { countsEmpty } = declaration;
  const [only] = args;
  if (declaration.overRows && args.length === 1 && only !== undefined) {
    const overRow = isStructuredType(call.args[0]?.type ?? { kind: 'any' });
    return { countsEmpty, init: () => new ColumnwiseState(declaration, only, overRow) };
  }
  return { countsEmpty, init: () => new ValueState(declaration, args) };
}

class ValueState implements AggregateState {
  readonly #declaration: AggregateFunction;
  readonly #args: readonly Evaluator[];
  readonly #state: unknown;

  constructor(declaration: AggregateFunction, args: readonly Evaluator[]) {
    this.#declaration = declaration;
    this.#args = args;
    this.#state = declaration.init();
  }

  update(frame: Frame): void {
    const values = this.#args.map((arg) => latestVersions(arg(frame)));
    this.#declaration.update(this.#state, values);
  }

  finish(): Value {
    return this.#declaration.finish(this.#state);
  }
}

/** Aggregates atoms into one state, and the top-level columns of rows into a state each. */
class ColumnwiseState implements AggregateState {
  readonly #declaration: AggregateFunction;
  readonly #arg: Evaluator;
  /** the argument is a row even when no row had a column */
  readonly #overRow: boolean;
  #scalar: unknown;
  #columns: Map<string, unknown> | undefined;

  constructor(declaration: AggregateFunction, arg: Evaluator, overRow: boolean) {
    this.#declaration = declaration;
    this.#arg = arg;
    this.#overRow = overRow;
    this.#scalar = undefined;
    this.#columns = overRow ? new Map() : undefined;
  }

  update(frame: Frame): void {
    const value = this.#arg(frame);
    if (!(value instanceof Scalar)) {
      this.#updateColumns(asRow(latestVersions(value)) ?? EMPTY_ROW);
    } else if (!this.#overRow || value.atom !== null) {
      this.#scalar ??= this.#declaration.init();
      this.#declaration.update(this.#scalar, [value]);
    }
  }

  finish(): Value {
    const declaration = this.#declaration;
    if (this.#columns === undefined) return declaration.finish(this.#scalar ?? declaration.init());
    const states = [...this.#columns.values()];
    return sortedRow(
      [...this.#columns.keys()],
      states.map((state) => declaration.finish(state)),
    );
  }

  /** Rows without columns contribute nothing, whether they are the row or one of its columns. */
  #updateColumns(row: Row): void {
    for (let i = 0; i < row.length; i++) {
      const value = row.values[i] as Value;
      if (isEmptyRow(value)) continue;
      this.#columns ??= new Map();
      const name = row.names[i] as string;
      let state = this.#columns.get(name);
      if (state === undefined) {
        state = this.#declaration.init();
        this.#columns.set(name, state);
      }
      this.#declaration.update(state, [value]);
    }
  }
}

function isEmptyRow(value: Value): boolean {
  return !(value instanceof Scalar) && value.length === 0;
}
