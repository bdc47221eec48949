// Design columns: features as numbers that linear models and networks read.
import type { Atom } from '../../value/atom.ts';
import { notNumeric } from '../feature/describe.ts';
import type { Feature } from '../feature/feature.ts';
import { categoryPositions } from '../feature/matrix.ts';
import { categoryOf, numberOf } from '../feature/source.ts';
import { checkFinite, type FeatureValues, MISSING_CATEGORY } from '../feature/values.ts';

/** How a design column follows from its feature. */
export const EXTRACTS = ['VALUE', 'VALUE IF PRESENT', 'PRESENCE', 'VALUE_EQUALS'] as const;
export const EXTRACT_VALUE = 0;
export const EXTRACT_VALUE_IF_PRESENT = 1;
export const EXTRACT_PRESENCE = 2;
export const EXTRACT_EQUALS = 3;

/** One element a design column; plain data that is stored with a model. */
export interface DesignColumns {
  readonly features: Int32Array;
  /** positions in EXTRACTS */
  readonly extracts: Uint8Array;
  /** VALUE_EQUALS: position in the feature's categories; otherwise -1 */
  readonly categories: Int32Array;
}

/**
 * Columns by feature: a number that varies is its value, one that is sometimes missing also says
 * whether it is there, and every seen category is a column.
 */
export function designColumns(
  features: readonly Feature[],
  values: readonly FeatureValues[],
  rowCount: number,
  isKept: (feature: number) => boolean = () => true,
): DesignColumns {
  const list: { feature: number; extract: number; category: number }[] = [];
  for (const [feature, described] of features.entries()) {
    if (!isKept(feature)) continue;
    const own = values[feature] as FeatureValues;
    const add = (extract: number, category = -1) => list.push({ feature, extract, category });
    if (own.kind === 'categories' && described.kind === 'categorical') {
      for (const category of seenCategories(own.indexes, described.categories.length)) {
        add(EXTRACT_EQUALS, category);
      }
      continue;
    }
    if (own.kind !== 'numbers' && own.kind !== 'sparse') continue;
    const { isConstant, presentCount } = summaryOf(own.values);
    if (presentCount === 0) continue;
    const isComplete = presentCount === rowCount;
    if (!isConstant) add(isComplete ? EXTRACT_VALUE : EXTRACT_VALUE_IF_PRESENT);
    if (!isComplete) add(EXTRACT_PRESENCE);
  }
  return {
    features: Int32Array.from(list, ({ feature }) => feature),
    extracts: Uint8Array.from(list, ({ extract }) => extract),
    categories: Int32Array.from(list, ({ category }) => category),
  };
}

function seenCategories(indexes: Int32Array, count: number): number[] {
  const seen = new Uint8Array(count);
  for (let row = 0; row < indexes.length; row++) {
    const index = indexes[row] as number;
    if (index >= 0) seen[index] = 1;
  }
  return [...seen.keys()].filter((index) => seen[index] === 1);
}

function summaryOf(values: Float64Array) {
  let presentCount = 0;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let row = 0; row < values.length; row++) {
    const value = values[row] as number;
    if (Number.isNaN(value)) continue;
    presentCount++;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return { presentCount, isConstant: !(low < high) };
}

/** Calls `visit` with every column that is not 0 in a row of values. */
export type DesignReader = (
  values: ArrayLike<Atom | undefined>,
  visit: (column: number, value: number) => void,
) => void;

/**
 * Reads rows of values as columns, without making any.
 * @param values one for each feature of the model; null or undefined is missing
 */
export function compileDesign(features: readonly Feature[], columns: DesignColumns): DesignReader {
  const readers: ((
    values: ArrayLike<Atom | undefined>,
    visit: (column: number, value: number) => void,
  ) => void)[] = [];
  const byFeature = new Map<number, number[]>();
  for (const [column, feature] of columns.features.entries()) {
    const own = byFeature.get(feature);
    if (own === undefined) byFeature.set(feature, [column]);
    else own.push(column);
  }
  for (const [index, own] of byFeature) {
    const feature = features[index] as Feature;
    if (feature.kind === 'categorical') {
      const columnOf = new Int32Array(feature.categories.length).fill(-1);
      for (const column of own) columnOf[columns.categories[column] as number] = column;
      const positions = categoryPositions(feature);
      readers.push((values, visit) => {
        const value = values[index];
        if (value === null || value === undefined) return;
        const position = positions.get(categoryOf(value)) ?? MISSING_CATEGORY;
        const column = position < 0 ? -1 : (columnOf[position] as number);
        if (column >= 0) visit(column, 1);
      });
      continue;
    }
    const presence = own.find((column) => columns.extracts[column] === EXTRACT_PRESENCE) ?? -1;
    const number = own.find((column) => columns.extracts[column] !== EXTRACT_PRESENCE) ?? -1;
    readers.push((values, visit) => {
      const value = values[index];
      if (value === null || value === undefined) return;
      const read = typeof value === 'number' ? value : numberOf(value);
      if (read === undefined) throw notNumeric(feature.name, value);
      if (Number.isNaN(read)) return;
      checkFinite(feature.name, read);
      if (number >= 0) visit(number, read);
      if (presence >= 0) visit(presence, 1);
    });
  }
  return (values, visit) => {
    for (let i = 0; i < readers.length; i++) (readers[i] as DesignReader)(values, visit);
  };
}
