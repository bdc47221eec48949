// The inputs of functions as callers give them.
import { Row, type Value } from '../value/value.ts';

/** A member of the row of inputs; undefined when it is not given. */
export function memberOf(input: Value, name: string): Value | undefined {
  if (!(input instanceof Row)) return undefined;
  const index = input.indexOf(name);
  return index === -1 ? undefined : input.values[index];
}
