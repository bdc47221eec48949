import { Type } from 'typebox';
import { choice } from '../../schema/declare.ts';
import { hashElement } from '../../value/path-hash.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, Row, Scalar, sortedRow } from '../../value/value.ts';
import { functionType } from '../function-type.ts';
import { outputRowType } from './point-input.ts';

const HASH_BITS = 64;
/** Rows of more columns are not made: beyond it only buckets that are not 0 are answered. */
const DENSE_BITS_MAX = 16;

/** Columns of any names as a fixed number of columns. */
export const featureHasher = functionType({
  name: 'feature_hasher',
  aliases: ['experimental.featureGenerator.hashedColumn'],
  summary: 'Maps columns of any names to a fixed number of columns by their hashes.',
  parameters: Type.Object({
    numBits: Type.Integer({
      description:
        'there are 2^numBits columns; with more than 16 bits those that are 0 are left out',
      minimum: 1,
      maximum: 30,
      default: 8,
    }),
    mode: choice(['columns', 'columnsAndValues'], {
      description: 'what is hashed: the names of columns, or names and values',
      default: 'columns',
    }),
  }),
  binding: () => 'creation',
  compile({ numBits, mode }) {
    const size = 2 ** numBits;
    const isDense = numBits <= DENSE_BITS_MAX;
    const row = { kind: 'row', members: [], open: true } as const;
    const denseNames = isDense
      ? Array.from({ length: size }, (_, bucket) => `hashColumn${bucket}`)
      : [];
    return {
      input: [{ kind: 'row', members: [{ name: 'columns', type: row }], open: false }],
      output: outputRowType('hash', row),
      takesAnyValue: false,
      isLight: isDense,
      apply(input) {
        const columns = input instanceof Row ? input.values[input.indexOf('columns')] : undefined;
        const hashes = new Set<bigint>();
        let ts = MINUS_INFINITY;
        if (columns !== undefined) {
          flatten(columns, [], (path, atom, cellTs) => {
            const text =
              mode === 'columns'
                ? path.toText()
                : `${path.toText()}::${atom === null ? '' : atomText(atom)}`;
            hashes.add(hashElement(text));
            ts = laterOf(ts, cellTs);
          });
        }
        const buckets = sumBuckets(hashes, numBits);
        const names = isDense
          ? denseNames
          : Array.from(buckets.keys(), (bucket) => `hashColumn${bucket}`);
        const values = isDense
          ? names.map((_, bucket) => new Scalar(buckets.get(bucket) ?? 0, ts))
          : Array.from(buckets.values(), (value) => new Scalar(value, ts));
        return new Row(['hash'], [sortedRow(names, values)]);
      },
    };
  },
});

/** The sum of the signs of each bucket; every group of `numBits` bits of a hash names one. */
function sumBuckets(hashes: Iterable<bigint>, numBits: number): Map<number, number> {
  const buckets = new Map<number, number>();
  const mask = (1n << BigInt(numBits)) - 1n;
  for (const hash of hashes) {
    let sign = 1;
    for (let shift = 0; shift < HASH_BITS; shift += numBits) {
      const bucket = Number((hash >> BigInt(shift)) & mask);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + sign);
      sign = -sign;
    }
  }
  return buckets;
}
