// Probabilizers as model files, and what they make of scores.
import { type IsotonicModel, isotonicValue } from '../glz/isotonic.ts';
import { LINK_FUNCTIONS, LINKS, type Link } from '../glz/link.ts';
import {
  invalidMember,
  type JsonObject,
  makeContainer,
  openContainer,
  readChoice,
  readList,
  readNumber,
} from './container.ts';

export type ProbabilizerModel =
  | { readonly style: 'glz'; readonly link: Link; readonly params: readonly [number, number] }
  | ({ readonly style: 'isotonic' } & IsotonicModel);

const KIND = 'probabilizer';
const VERSION = 1;

/** What a run answers, and the file says at its top. */
export function probabilizerDocument(model: ProbabilizerModel): JsonObject {
  if (model.style === 'glz') {
    return { style: 'glz', link: model.link.toUpperCase(), params: model.params };
  }
  const { thresholds, values } = model;
  return { style: 'isotonic', thresholds: Array.from(thresholds), values: Array.from(values) };
}

export function probabilizerToJson(model: ProbabilizerModel): JsonObject {
  return makeContainer(KIND, VERSION, ['score'], probabilizerDocument(model));
}

/** @throws DATA_ERROR when it is not a probabilizer */
export function probabilizerFromJson(json: unknown): ProbabilizerModel {
  const file = openContainer(json, KIND, VERSION);
  const style = readChoice(file.style, 'style', ['glz', 'isotonic'] as const);
  if (style === 'glz') {
    const [slope, constant] = readList(file, 'params');
    const upper = readChoice(
      file.link,
      'link',
      LINKS.map((link) => link.toUpperCase()),
    );
    const params = [readNumber(slope, 'params'), readNumber(constant, 'params')] as const;
    return { style, link: upper.toLowerCase() as Link, params };
  }
  const numbers = (name: string) =>
    Float64Array.from(readList(file, name), (value) => readNumber(value, name));
  const thresholds = numbers('thresholds');
  const values = numbers('values');
  const isAscending = thresholds.every((t, i) => i === 0 || t > (thresholds[i - 1] as number));
  if (!isAscending || thresholds.length === 0 || thresholds.length !== values.length) {
    throw invalidMember('thresholds', 'ascending, with a value each');
  }
  return { style, thresholds, values };
}

/** The probability that belongs to a score. */
export function probabilityOf(model: ProbabilizerModel, score: number): number {
  if (model.style === 'isotonic') return isotonicValue(model, score);
  const [slope, constant] = model.params;
  return LINK_FUNCTIONS[model.link].inverse(slope * score + constant);
}
