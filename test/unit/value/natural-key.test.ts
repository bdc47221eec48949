import fc from 'fast-check';
import { expect, test } from 'vitest';
import { naturalKeys, sortKeys } from '../../../src/value/natural-key.ts';
import { comparePaths, Path } from '../../../src/value/path.ts';
import { arbitraryPath } from '../../support/atoms.ts';

function sorted(paths: readonly Path[]): string[] {
  const texts = paths.map(String);
  return Array.from(
    sortKeys(naturalKeys(texts.length, (i) => texts[i] as string)),
    (i) => texts[i] as string,
  );
}

const digits = fc
  .array(
    fc.constantFrom(
      '',
      '0',
      '00',
      '1',
      '01',
      '10',
      '9',
      'a',
      'x',
      '/',
      ':',
      'é',
      '😀',
      '\uffee',
      '\u0001',
    ),
    {
      maxLength: 5,
    },
  )
  .map((parts) => parts.join(''));
const numbered = fc
  .array(digits, { minLength: 1, maxLength: 3 })
  .map((elements) => new Path(elements));

test('the order of keys is the natural order of paths', () => {
  const paths = fc.uniqueArray(fc.oneof(numbered, arbitraryPath), {
    selector: String,
    minLength: 1,
    maxLength: 120,
  });
  fc.assert(
    fc.property(paths, (paths) => {
      expect(sorted(paths)).toEqual([...paths].sort(comparePaths).map(String));
    }),
    { numRuns: 300 },
  );
});

test('long runs of digits and of zeros keep their order', () => {
  const texts = ['1'.repeat(254), '1'.repeat(255), '1'.repeat(256), '1'.repeat(600)];
  const zeros = [254, 255, 256, 300, 0, 1].map((count) => `${'0'.repeat(count)}7`);
  const paths = [...texts, ...zeros].map((text) => Path.of(text));
  expect(sorted(paths)).toEqual([...paths].sort(comparePaths).map(String));
});

test('many keys with long common prefixes are sorted', () => {
  const paths = Array.from({ length: 5000 }, (_, i) =>
    Path.of(`some.feature ${(i * 7919) % 5000}`),
  );
  expect(sorted(paths)).toEqual([...paths].sort(comparePaths).map(String));
});
