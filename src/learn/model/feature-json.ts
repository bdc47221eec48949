// Features in model files.
import type { Feature } from '../feature/feature.ts';
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
    if (!isAscending(boundaries)) {
      throw invalidMember(`boundaries of '${name}'`, 'a list of ascending numbers');
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

function isAscending(numbers: Float64Array): boolean {
  return numbers.every((number, index) => index === 0 || number >= (numbers[index - 1] as number));
}
