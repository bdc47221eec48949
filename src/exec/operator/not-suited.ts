// What operators over batches do not take is left to the reference: rows, one after the other.
import { RowanError } from '../../util/error.ts';
import type { VectorEngine } from '../vector/engine.ts';

/** Thrown by an operator before it has given anything away, and caught where the reference stands by. */
export class NotSuited extends Error {}

/** A failure that the reference would end in too, later. */
export class CertainFailure extends Error {
  readonly failure: Error;

  constructor(failure: Error) {
    super(failure.message);
    this.failure = failure;
  }
}

export function suited<T>(value: T | undefined): T {
  if (value === undefined) throw new NotSuited();
  return value;
}

/** Undefined where something does not suit. */
export function orUnsuited<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch (thrown) {
    if (thrown instanceof NotSuited) return undefined;
    throw thrown;
  }
}

/** Whether rows are made one by one instead: they fail in their own words, or not at all. */
export function isLeftToReference(thrown: unknown, { isFrugal = true }: VectorEngine): boolean {
  if (thrown instanceof NotSuited) return true;
  if (thrown instanceof CertainFailure) throw thrown.failure;
  if (!(thrown instanceof RowanError) || thrown.code === 'CANCELLED') return false;
  return thrown.code !== 'OUT_OF_MEMORY' || isFrugal;
}
