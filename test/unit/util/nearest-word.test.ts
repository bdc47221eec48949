import { expect, test } from 'vitest';
import { findNearestWord } from '../../../src/util/nearest-word.ts';

test.each([
  ['SELCT', 'SELECT'],
  ['SLEECT', 'SELECT'],
  ['WHER', 'WHERE'],
  ['WEHRE', 'WHERE'],
  ['FORM', 'FROM'],
  ['LIM', 'LIMIT'],
  ['XYZ', undefined],
  ['ABCDEFGH', undefined],
  ['FROM', undefined],
])('%s is nearest to %s', (word, nearest) => {
  expect(
    findNearestWord(
      word,
      ['SELECT', 'FROM', 'WHERE', 'WHEN', 'LIMIT'].filter((c) => c !== word),
    ),
  ).toBe(nearest);
});
