// What every test of a classifier refuses.
import { failure } from '../../util/error.ts';

/** @throws DATA_ERROR without rows or with a NaN score */
export function checkTestSet(rowCount: number, scores: Float64Array): void {
  if (rowCount === 0) throw emptyTestSet();
  if (scores.includes(Number.NaN)) throw failure('DATA_ERROR', 'Classifier returned a NaN score');
}

/** @param procedure the type that was to run */
export function emptyTestSet(procedure = 'classifier.test'): Error {
  return failure('DATA_ERROR', `Cannot run ${procedure} procedure on empty test set`);
}
