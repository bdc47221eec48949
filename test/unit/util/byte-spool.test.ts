// Bytes come back as they went in, from memory and from the file, in any pieces.
import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteSpool } from '../../../src/util/byte-spool.ts';

const pattern = (size: number, seed: number) =>
  Uint8Array.from({ length: size }, (_, i) => (i * 31 + seed) & 255);

test('what was appended is read', () => {
  const sizes = fc.array(fc.constantFrom(0, 1, 1000, 700_000, 1_500_000), { maxLength: 6 });
  fc.assert(
    fc.property(sizes, fc.nat({ max: 3_000_000 }), (parts, position) => {
      const spool = new ByteSpool();
      try {
        parts.forEach((size, i) => {
          spool.append(pattern(size, i));
        });
        const all = Buffer.concat(parts.map((size, i) => pattern(size, i)));
        expect(spool.sizeBytes).toBe(all.length);
        const target = new Uint8Array(1_200_000);
        const count = spool.read(position, target);
        const expected = all.subarray(position, position + target.length);
        expect(count).toBe(expected.length);
        expect(Buffer.compare(target.subarray(0, count), expected)).toBe(0);
      } finally {
        spool.close();
      }
    }),
    { numRuns: 25 },
  );
});

test('no file is left in the folder of temporary files', () => {
  const own = () => readdirSync(tmpdir()).filter((name) => name.startsWith('rowan-rows-'));
  expect(existsSync(tmpdir())).toBe(true);
  const before = own();
  const spool = new ByteSpool();
  spool.append(new Uint8Array(3_000_000));
  spool.close();
  expect(own()).toEqual(before);
});
