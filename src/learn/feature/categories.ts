// Which bucket each category gets.
import { compareText } from '../../value/natural-order.ts';
import { BUCKET_COUNT_MAX, CATEGORIES_PER_COLUMN, type CategoricalFeature } from './feature.ts';

/** A category, the weight of its rows, and the weighted sum of their targets. */
export interface CategoryTotal {
  readonly category: string;
  readonly weight: number;
  readonly targetSum: number;
}

/** Rows of average weight that pull the mean of a small category towards that of all. */
const PRIOR_ROW_COUNT = 10;

/** Past 255 categories, as many of the heaviest keep a bucket of their own; the rest share 64. */
const SHARED_BUCKET_COUNT = 64;
const OWN_BUCKET_COUNT = BUCKET_COUNT_MAX - SHARED_BUCKET_COUNT;

/**
 * Codes that follow the mean of the target, so that a test of a range of codes parts categories
 * that behave alike. For two classes the best subset of categories is such a range.
 * @param look called for every comparison and every category
 * @see Fisher, "On grouping for maximum homogeneity", JASA 1958
 */
export function rankCategories(
  name: string,
  totals: readonly CategoryTotal[],
  rowCount: number,
  hasMissing: boolean,
  look: () => void = () => undefined,
): CategoricalFeature {
  let weight = 0;
  let targetSum = 0;
  for (const total of totals) {
    weight += total.weight;
    targetSum += total.targetSum;
  }
  const priorWeight = rowCount > 0 ? (PRIOR_ROW_COUNT * weight) / rowCount : 0;
  const prior = weight > 0 ? targetSum / weight : 0;
  const mean = (total: { weight: number; targetSum: number }) =>
    (total.targetSum + prior * priorWeight) / (total.weight + priorWeight);

  const groups = groupCategories(totals, mean, look);
  const ranked = groups
    .map((members) => {
      const sum = (pick: (total: CategoryTotal) => number) =>
        members.reduce((all, member) => {
          look();
          return all + pick(member);
        }, 0);
      return {
        members,
        mean: mean({ weight: sum((m) => m.weight), targetSum: sum((m) => m.targetSum) }),
      };
    })
    .sort((a, b) => a.mean - b.mean || compareCategories(a.members[0], b.members[0]));
  const codes = new Map<string, number>();
  for (const [rank, { members }] of ranked.entries()) {
    for (const member of members) {
      look();
      codes.set(member.category, rank + 1);
    }
  }
  const categories = totals.map((total) => total.category).sort(watched(look, compareText));
  const buckets = new Uint8Array(categories.length);
  for (const [index, category] of categories.entries()) {
    look();
    buckets[index] = codes.get(category) as number;
  }
  return {
    kind: 'categorical',
    name,
    coding: 'rank',
    categories,
    buckets,
    columnCount: 1,
    hasMissing,
  };
}

/** One group a bucket: heavy categories alone, light ones beside those of about the same mean. */
function groupCategories(
  totals: readonly CategoryTotal[],
  mean: (total: CategoryTotal) => number,
  look: () => void,
): CategoryTotal[][] {
  if (totals.length <= BUCKET_COUNT_MAX) return totals.map((total) => [total]);
  const byWeight = [...totals].sort(
    watched(look, (a, b) => b.weight - a.weight || compareCategories(a, b)),
  );
  const groups = byWeight.slice(0, OWN_BUCKET_COUNT).map((total) => [total]);
  const light = byWeight
    .slice(OWN_BUCKET_COUNT)
    .sort(watched(look, (a, b) => mean(a) - mean(b) || compareCategories(a, b)));
  const lightWeight = light.reduce((sum, total) => sum + total.weight, 0);
  let filled = 0;
  let group: CategoryTotal[] = [];
  let bucket = 1;
  for (const total of light) {
    look();
    group.push(total);
    filled += total.weight;
    if (bucket < SHARED_BUCKET_COUNT && filled >= (lightWeight * bucket) / SHARED_BUCKET_COUNT) {
      groups.push(group);
      group = [];
      bucket++;
    }
  }
  if (group.length > 0) groups.push(group);
  return groups;
}

function compareCategories(a: CategoryTotal | undefined, b: CategoryTotal | undefined): number {
  return compareText(a?.category ?? '', b?.category ?? '');
}

function watched<Item>(
  look: () => void,
  compare: (a: Item, b: Item) => number,
): (a: Item, b: Item) => number {
  return (a, b) => {
    look();
    return compare(a, b);
  };
}

/** Columns past this many are not made: their categories are the lightest, and never tested. */
const COLUMN_COUNT_MAX = 64;

/**
 * A code for each category, for tests of single categories. Up to 254 categories are in the order
 * of their text; past that, heavier ones come first, and of more than 16,256 the lightest share
 * the code of categories that were never seen.
 * @param look called for every comparison
 */
export function listCategories(
  name: string,
  totals: readonly CategoryTotal[],
  hasMissing: boolean,
  look: () => void = () => undefined,
): CategoricalFeature {
  const isLong = totals.length > CATEGORIES_PER_COLUMN;
  const ordered = [...totals]
    .sort(watched(look, (a, b) => (isLong ? b.weight - a.weight : 0) || compareCategories(a, b)))
    .slice(0, CATEGORIES_PER_COLUMN * COLUMN_COUNT_MAX);
  return {
    kind: 'categorical',
    name,
    coding: 'each',
    categories: ordered.map((total) => total.category),
    buckets: new Uint8Array(0),
    columnCount: Math.max(1, Math.ceil(ordered.length / CATEGORIES_PER_COLUMN)),
    hasMissing,
  };
}
