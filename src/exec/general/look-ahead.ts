// Calls that cost much each and little together, such as those into the script sandbox: an operator
// reads some rows ahead and makes the calls for all of them at once.
import { childrenOf, itemExpressions } from '../../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../../plan/expression.ts';
import { RowanError } from '../../util/error.ts';
import type { Value } from '../../value/value.ts';
import { latestVersions } from './call/lookup.ts';
import { type Evaluator, Frame } from './frame.ts';
import type { ExecRow } from './row.ts';

export type BatchEvaluation = (calls: readonly (readonly Value[])[]) => readonly Value[];

const BATCH_ROW_COUNT_MAX = 1024;

/** The calls of one operator that are made ahead of its rows. */
export class LookAhead {
  readonly #candidates = new Set<BoundExpression>();
  readonly #calls: BatchedCall[] = [];

  /** @param expressions what the operator evaluates for every row */
  constructor(expressions: readonly BoundExpression[]) {
    for (const expression of expressions) this.#collect(expression);
  }

  static ofItems(
    items: readonly ProjectItem[],
    others: readonly BoundExpression[] = [],
  ): LookAhead {
    return new LookAhead([...items.flatMap(itemExpressions), ...others]);
  }

  /** Only what is evaluated for every row may be evaluated before it is asked for. */
  #collect(expression: BoundExpression): void {
    switch (expression.kind) {
      case 'call':
      case 'user-call':
        this.#candidates.add(expression);
        break;
      case 'extract':
        this.#collect(expression.operand);
        return;
      case 'arithmetic':
      case 'comparison':
      case 'unary':
      case 'cast':
      case 'is':
      case 'like':
      case 'set-timestamp':
      case 'row':
      case 'embedding':
        break;
      default:
        return;
    }
    for (const child of childrenOf(expression)) this.#collect(child);
  }

  /**
   * Has a call made ahead, when it is one of every row. Calls in its arguments come first.
   * @returns the value for a frame; undefined where the call is to be made by itself
   */
  add(
    expression: BoundExpression,
    args: readonly Evaluator[],
    evaluate: BatchEvaluation,
  ): ((frame: Frame) => Value | undefined) | undefined {
    if (!this.#candidates.has(expression)) return undefined;
    const call = new BatchedCall(args, evaluate);
    this.#calls.push(call);
    return (frame) => call.valueAt(frame);
  }

  /** The rows, with the calls made for them. */
  over(input: () => Iterable<ExecRow>): () => Iterable<ExecRow> {
    if (this.#calls.length === 0) return input;
    const calls = this.#calls;
    return function* () {
      // Batches grow, so that a LIMIT above costs few calls too many.
      let size = 1;
      let batch: ExecRow[] = [];
      for (const row of input()) {
        batch.push(row);
        if (batch.length < size) continue;
        for (const call of calls) call.prepare(batch);
        yield* batch;
        batch = [];
        size = Math.min(size * 2, BATCH_ROW_COUNT_MAX);
      }
      for (const call of calls) call.prepare(batch);
      yield* batch;
    };
  }
}

class BatchedCall {
  readonly #args: readonly Evaluator[];
  readonly #evaluate: BatchEvaluation;
  #values = new Map<ExecRow, Value>();

  constructor(args: readonly Evaluator[], evaluate: BatchEvaluation) {
    this.#args = args;
    this.#evaluate = evaluate;
  }

  valueAt(frame: Frame): Value | undefined {
    return frame.row === frame.current.row ? this.#values.get(frame.current) : undefined;
  }

  /** Errors are left to the row that they belong to: without values each call is made by itself. */
  prepare(rows: readonly ExecRow[]): void {
    this.#values = new Map();
    if (rows.length < 2) return;
    const frame = new Frame();
    try {
      const calls = rows.map((row) => {
        frame.at(row);
        return this.#args.map((arg) => latestVersions(arg(frame)));
      });
      const values = this.#evaluate(calls);
      for (const [index, row] of rows.entries()) this.#values.set(row, values[index] as Value);
    } catch (thrown) {
      if (!(thrown instanceof RowanError) || thrown.code === 'CANCELLED') throw thrown;
    }
  }
}
