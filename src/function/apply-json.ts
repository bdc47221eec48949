// Calls of functions from JSON to JSON text.
import type { CallContext } from '../plan/function.ts';
import { Scalar } from '../value/value.ts';
import { plainValue, valueFromJson } from './function-json.ts';
import type { CompiledFunction } from './function-type.ts';

/**
 * The output for one input, passed whole, as plain JSON.
 * @param ts timestamp of all cells of the input, in seconds
 * @throws what the function throws
 */
export function applyJson(
  compiled: CompiledFunction,
  input: unknown,
  ts: number,
  scope: CallContext,
): string {
  scope.checkCancelled();
  const text = compiled.plainCalls?.plain?.(input);
  if (text !== undefined) return text;
  const output = compiled.apply(valueFromJson(input, ts), scope);
  return output instanceof Scalar && output.atom === null ? 'null' : plainValue(output);
}
