import { failure } from '../../util/error.ts';

/** DATA_ERROR for a file that cannot be read. */
export function damaged(reason: string): Error {
  return failure('DATA_ERROR', `not a Parquet file that can be read: ${reason}`);
}
