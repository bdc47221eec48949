// Features in model files.
import { BUCKET_COUNT_MAX, type Feature } from '../feature/feature.ts';
import { decodeArray, encodeArray } from './base64.ts';
import {
  invalidMember,
  type JsonObject,
  readChoice,
  readList,
  readNumber,
  readObject,
  readText,
} from './container.ts';

/** Everything but the name, which stands in the container's columnNames. */
export function featureToJson(feature: Feature): JsonObject {
  const { kind } = feature;
  if (kind === 'unused') return { kind };
  const { hasMissing } = feature;
  if (kind === 'numeric') return { kind, hasMissing, boundaries: encodeArray(feature.boundaries) };
  const { coding, categories, columnCount, buckets } = feature;
  return { kind, hasMissing, coding, categories, columnCount, buckets: encodeArray(buckets) };
}

/** @throws DATA_ERROR when it is not what featureToJson writes */
export function featureFromJson(name: string, value: unknown): Feature {
  const json = readObject(value, `feature '${name}'`);
  const kind = readChoice(json.kind, `kind of '${name}'`, [
    'numeric',
    'categorical',
    'unused',
  ] as const);
  if (kind === 'unused') return { kind, name };
  const hasMissing = readChoice(json.hasMissing, `hasMissing of '${name}'`, [true, false]);
  if (kind === 'numeric') {
    const boundaries = decodeArray(json.boundaries, 'f64', `boundaries of '${name}'`);
    if (boundaries.length >= BUCKET_COUNT_MAX) {
      throw invalidMember(`boundaries of '${name}'`, `at most ${BUCKET_COUNT_MAX - 1} numbers`);
    }
    return { kind, name, boundaries, hasMissing };
  }
  const categories = readList(json, 'categories').map((text) => readText(text, 'categories'));
  const buckets = decodeArray(json.buckets, 'u8', `buckets of '${name}'`);
  const coding = readChoice(json.coding, `coding of '${name}'`, ['rank', 'each'] as const);
  if (coding === 'rank' && buckets.length !== categories.length) {
    throw invalidMember(`buckets of '${name}'`, `a list of ${categories.length} codes`);
  }
  const columnCount = readNumber(json.columnCount, `columnCount of '${name}'`, 1);
  return { kind, name, coding, categories, buckets, columnCount, hasMissing };
}
