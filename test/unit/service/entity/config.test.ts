import { describe, expect, test } from 'vitest';
import { parseConfig } from '../../../../src/service/entity/config.ts';
import type { RowanError } from '../../../../src/util/error.ts';

function failureOf(work: () => unknown): RowanError {
  try {
    work();
  } catch (thrown) {
    return thrown as RowanError;
  }
  throw new Error('expected a failure');
}

describe('configurations', () => {
  test('are echoed as given, with parameters as params', () => {
    expect(parseConfig({ type: 't', parameters: { a: 1 }, persistent: 0 })).toEqual({
      type: 't',
      params: { a: 1 },
      persistent: false,
    });
  });

  test.each([
    [{ settings: {} }, 'unknown field settings'],
    [{ params: 5 }, "Object was expected; instead got '5'"],
    [{ params: {}, parameters: {} }, 'parameters is another name of params; give only one'],
    [{ id: 5 }, "String was expected; instead got '5'"],
    [[1], "Object was expected; instead got '[1]'"],
  ])('%j is refused', (json, message) => {
    expect(failureOf(() => parseConfig(json)).message).toContain(message);
  });
});
