// Bounds on how deep an expression may be: deeper ones would exhaust the stack.
import { failure } from '../util/error.ts';

/** Operators of one chain `a + b + …`, which nests to the left. */
export const CHAIN_LENGTH_MAX = 4000;

/** Runs a walk over a query; a stack that it exhausts is the query's fault. */
export function guardDepth<Result>(walk: () => Result): Result {
  try {
    return walk();
  } catch (error) {
    if (error instanceof RangeError && /call stack/.test(error.message)) {
      throw failure('SQL_BINDING', 'the query is nested too deeply');
    }
    throw error;
  }
}
