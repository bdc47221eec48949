// Weights of terms by how rare they are among documents.
import { failure } from '../util/error.ts';
import {
  type JsonObject,
  makeContainer,
  openContainer,
  readList,
  readNumber,
  readText,
} from './model/container.ts';

export const TF_TYPES = ['raw', 'log', 'augmented'] as const;
export const IDF_TYPES = [
  'inverseSmooth',
  'unary',
  'inverse',
  'inverseMax',
  'probabilisticInverse',
] as const;
export type TfType = (typeof TF_TYPES)[number];
export type IdfType = (typeof IDF_TYPES)[number];

/** In how many of the documents each term occurs. */
export interface DocumentFrequencies {
  readonly documentCount: number;
  readonly counts: ReadonlyMap<string, number>;
}

const VERSION = 1;

export function frequenciesToJson({ documentCount, counts }: DocumentFrequencies): JsonObject {
  const terms = [...counts.keys()].sort();
  return makeContainer('tfidf', VERSION, [], {
    documentCount,
    terms,
    counts: terms.map((term) => counts.get(term)),
  });
}

/** @throws DATA_ERROR when it is not what frequenciesToJson writes */
export function frequenciesFromJson(json: unknown): DocumentFrequencies {
  const file = openContainer(json, 'tfidf', VERSION);
  const counts = readList(file, 'counts').map((count) => readNumber(count, 'counts', 0));
  const terms = readList(file, 'terms').map((term) => readText(term, 'terms'));
  if (terms.length !== counts.length) {
    throw failure('DATA_ERROR', 'model file: counts are not one for each of the terms');
  }
  return {
    documentCount: readNumber(file.documentCount, 'documentCount', 0),
    counts: new Map(terms.map((term, index) => [term, counts[index] as number])),
  };
}

/**
 * Weights of the terms of one document, in their order; natural logarithms.
 * @see Manning, Raghavan & Schütze, "Introduction to information retrieval", 2008, chapter 6
 */
export function weighTerms(
  { documentCount, counts }: DocumentFrequencies,
  terms: readonly string[],
  frequencies: ArrayLike<number>,
  tfType: TfType,
  idfType: IdfType,
): Float64Array {
  const documents = terms.map((term) => counts.get(term) ?? 0);
  let mostFrequent = 0;
  let mostDocuments = 0;
  for (const [index, having] of documents.entries()) {
    mostFrequent = Math.max(mostFrequent, frequencies[index] as number);
    mostDocuments = Math.max(mostDocuments, having);
  }
  return Float64Array.from(documents, (having, index) => {
    const tf = termWeight(tfType, frequencies[index] as number, mostFrequent);
    return tf * rarity(idfType, having, documentCount, mostDocuments);
  });
}

function termWeight(type: TfType, frequency: number, mostFrequent: number): number {
  switch (type) {
    case 'raw':
      return frequency;
    case 'log':
      return Math.log(1 + frequency);
    case 'augmented':
      return 0.5 + (0.5 * frequency) / mostFrequent;
  }
}

function rarity(type: IdfType, having: number, documentCount: number, most: number): number {
  switch (type) {
    case 'unary':
      return 1;
    case 'inverse':
      return Math.log(documentCount / (1 + having));
    case 'inverseSmooth':
      return Math.log(1 + documentCount / (1 + having));
    case 'inverseMax':
      return Math.log(1 + most / (1 + having));
    case 'probabilisticInverse':
      return Math.log((documentCount - having) / (1 + having));
  }
}
