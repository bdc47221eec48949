import { expect, test } from 'vitest';
import { errorBody } from '../../../src/util/error.ts';

test('a text that cannot be is a limit, not a defect', () => {
  const tooLong = () => 'x'.repeat(2 ** 29).concat('x');
  let thrown: unknown;
  try {
    tooLong();
  } catch (error) {
    thrown = error;
  }
  expect(errorBody(thrown)).toEqual({
    error:
      'Out of memory. A text would be longer than the 536870888 characters that a text can have',
    httpCode: 400,
    code: 'OUT_OF_MEMORY',
  });
});
