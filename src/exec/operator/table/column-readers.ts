// The values of columns and constants, for code that takes them row by row.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { Atom } from '../../../value/atom.ts';
import { dictionaryView } from '../../../value/column/dictionary.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { MINUS_INFINITY, Timestamp } from '../../../value/timestamp.ts';
import { NULL_VALUE, Scalar, type Value } from '../../../value/value.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { columnNumbers } from './read-numbers.ts';

export type ReadValue = (row: number) => Value;

/** A column of the table, read into memory of this thread. */
interface ReadColumn {
  readonly values: Float64Array;
  /** 0 where it is null; absent: nowhere */
  readonly valid: Uint8Array | undefined;
  /** what a number stands for */
  atomOf(value: number): Atom;
  readonly ts: number;
  /** 0: the value has the timestamp -Inf; absent: all have `ts` */
  readonly timed: Uint8Array | undefined;
}

/** Reads columns of a table, and constants, each once. */
export class ColumnReaders {
  readonly #table: Pipeline;
  readonly #context: OperatorContext;
  readonly #known = new Map<number, ReadColumn>();

  constructor(table: Pipeline, context: OperatorContext) {
    this.#table = table;
    this.#context = context;
  }

  /** Undefined for a constant that is no atom. */
  atoms(expression: BoundExpression): ((row: number) => Atom) | undefined {
    if (expression.kind === 'constant') {
      const { value } = expression;
      return value instanceof Scalar ? () => value.atom : undefined;
    }
    const { values, valid, atomOf } = this.#column(expression);
    return (row) =>
      valid !== undefined && valid[row] === 0 ? null : atomOf(values[row] as number);
  }

  values(expression: BoundExpression): ReadValue {
    if (expression.kind === 'constant') return () => expression.value;
    const { values, valid, atomOf, ts, timed } = this.#column(expression);
    return (row) => {
      if (valid !== undefined && valid[row] === 0) return NULL_VALUE;
      const time = timed === undefined || timed[row] === 1 ? ts : MINUS_INFINITY;
      return new Scalar(atomOf(values[row] as number), time);
    };
  }

  #column(expression: BoundExpression): ReadColumn {
    const { scope, base } = this.#table;
    const number = expression.kind === 'column' ? scope.find(expression.path) : undefined;
    if (typeof number !== 'number') throw new NotSuited();
    let column = this.#known.get(number);
    if (column === undefined) {
      const snapshot = suited(scope.columns[number]);
      const timed = scope.timedOf(number);
      const timedColumn = timed === true ? undefined : suited(scope.columns[timed]);
      column = {
        ...columnNumbers(snapshot, base, this.#context),
        atomOf: atomReader(snapshot, this.#context),
        ts: scope.tsOf(number),
        timed: timedColumn && columnNumbers(timedColumn, base, this.#context).valid,
      };
      this.#known.set(number, column);
    }
    return column;
  }
}

function atomReader(
  { dictionary, type }: ColumnSnapshot,
  { engine }: OperatorContext,
): (value: number) => Atom {
  if (dictionary !== undefined) {
    const view = dictionaryView(dictionary, engine.arenas);
    return (code) => view.atom(code);
  }
  if (type === 'timestamp') return (seconds) => new Timestamp(seconds);
  return (value) => value;
}
