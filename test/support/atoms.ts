// Random atoms for property tests.
import fc from 'fast-check';
import type { Atom } from '../../src/value/atom.ts';
import { normalizeInteger } from '../../src/value/atom.ts';
import { Interval } from '../../src/value/interval.ts';
import { Path } from '../../src/value/path.ts';
import { Timestamp } from '../../src/value/timestamp.ts';

/** -0 is no value of its own, see the kinds of atoms. */
const number = fc
  .oneof(fc.integer(), fc.double(), fc.integer({ min: -100, max: 100 }))
  .map((value) => (value === 0 ? 0 : value));

/** Text without lone surrogates; NUL where it is allowed. */
export const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', 'a', 'b', 'ä', '€', '😀', '10', '9', 'x'.repeat(300)),
);

export const arbitraryPath: fc.Arbitrary<Path> = fc
  .array(
    arbitraryText.map((text) => text.replaceAll('\u0000', '')),
    { minLength: 1, maxLength: 3 },
  )
  .map((elements) => new Path(elements));

export const arbitraryNumberAtom: fc.Arbitrary<Atom> = number;
export const arbitraryTimestamp: fc.Arbitrary<Atom> = number.map(
  (seconds) => new Timestamp(seconds as number),
);

export const arbitraryAtom: fc.Arbitrary<Atom> = fc.oneof(
  fc.constant(null),
  number,
  arbitraryText,
  arbitraryTimestamp,
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map(normalizeInteger),
  fc
    .tuple(fc.nat(65_535), fc.nat(65_535), fc.double({ min: 0, noNaN: true }), fc.boolean())
    .map(([months, days, seconds, negative]) => new Interval(months, days, seconds + 0, negative)),
  fc.uint8Array({ maxLength: 20 }),
  fc.oneof(arbitraryPath, fc.constant(new Path([]))),
);
