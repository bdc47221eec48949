import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodePathElement, encodePathElement } from '../../../src/util/path-element.ts';

const name = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('.', '..', ';.', ';..', '%2E%2E', 'a/b', 'a;b', '...'),
);

test('every name is one element that clients leave as it is', () => {
  fc.assert(
    fc.property(name, (id) => {
      const element = encodePathElement(id);
      expect(decodePathElement(element)).toBe(id);
      expect(new URL(`http://h/v1/datasets/${element}/rows`).pathname).toBe(
        `/v1/datasets/${element}/rows`,
      );
    }),
  );
});

test('a semicolon has no other meaning', () => {
  expect(decodePathElement(';a')).toBe(';a');
  expect(decodePathElement('..;')).toBe('..;');
});
