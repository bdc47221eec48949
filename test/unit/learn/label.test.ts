import { expect, test } from 'vitest';
import {
  duplicatedColumn,
  labelAmongFeatures,
  labelList,
  noRows,
  regressionTarget,
} from '../../../src/learn/label.ts';

test('labels are ordered by their JSON text', () => {
  expect(labelList([9, 'dog', 10, null, 'cat', 10, 2.5])).toEqual([
    '"cat"',
    '"dog"',
    '10',
    '2.5',
    '9',
  ]);
});

test('a label of a regression must be a finite number', () => {
  expect(regressionTarget(2)).toBe(2);
  expect(() => regressionTarget('a')).toThrow('Regression labels must not be infinite or NaN.');
  expect(() => regressionTarget(Number.NaN)).toThrow('must not be infinite or NaN.');
});

test('refusals say what was wrong with the training set', () => {
  expect(noRows(true).message).toBe(
    'Error training classifier: No feature vectors were produced as dataset was empty',
  );
  expect(noRows(false).message).toBe(
    "Error training classifier: No feature vectors were produced as all rows were filtered by WHEN, WHERE, OFFSET or LIMIT, or all labels were NULL (or label column doesn't exist)",
  );
  expect(labelAmongFeatures('y').message).toBe(
    "Dataset column 'y' cannot be used in both label and feature",
  );
  expect(labelAmongFeatures('y.a', 'y.').message).toBe(
    "Dataset column 'y.a' cannot be used in both label and feature because of label wildcard 'y.'",
  );
  expect(duplicatedColumn('x', 'r1').message).toBe(
    "Training dataset cannot have duplicated column 'x' for row 'r1'",
  );
});
