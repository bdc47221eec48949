// Tells a cancellation from a failure.
import { RowanError } from '../../util/error.ts';

export function isCancellation(thrown: unknown): boolean {
  if (thrown instanceof RowanError) return thrown.code === 'CANCELLED';
  return thrown instanceof Error && thrown.name === 'AbortError';
}
