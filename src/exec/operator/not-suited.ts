// What operators over batches do not take is left to the reference: rows, one after the other.

/** Thrown by an operator before it has given anything away, and caught where the reference stands by. */
export class NotSuited extends Error {}

export function suited<T>(value: T | undefined): T {
  if (value === undefined) throw new NotSuited();
  return value;
}
