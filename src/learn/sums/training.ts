// Training rows that are known by their sums: labels, weights and features as learners need them.
import type { Atom } from '../../value/atom.ts';
import { describeFeature } from '../feature/describe.ts';
import type { Feature } from '../feature/feature.ts';
import type { SourceColumn } from '../feature/source.ts';
import type { Mode } from '../label.ts';
import type { FitContext } from '../workspace.ts';
import { type Aggregate, type Group, type Sums, SumsRefused, sumAt } from './sums.ts';
import { call, columnOf, compare, constant, minus, type Term, type Test, times } from './term.ts';

/** Distinct values that come one by one; more are added up in cells of about the same value. */
export const VALUE_COUNT_MAX = 65_536;
const CELL_COUNT = 65_536;
/** Cells with more than this share of the rows are divided again. */
const HEAVY_SHARE = 1 / 64;
const DIVISION_COUNT_MAX = 4;

/** What is known of a feature before its values are. */
export interface FeatureFacts {
  readonly name: string;
  readonly kind: 'number' | 'text';
  /** rows with a value */
  readonly count: number;
  readonly distinct: number;
  /** of numbers; both finite */
  readonly low: number;
  readonly high: number;
  readonly mean: number;
}

/** Labels of classes. Rows weigh their own weight times the factor of their class, in sum 1. */
export interface SummedClasses {
  readonly labelCount: number;
  readonly factors: Float64Array;
  /** weights of the classes, as rows were given */
  readonly weights: Float64Array;
  readonly rowCounts: Float64Array;
  /** all labels, in no order */
  readonly atoms: readonly Atom[];
  classOf(label: Atom): number;
}

/** The values of one feature, each once for each class that has it. */
export interface FeatureGroups {
  readonly source: SourceColumn;
  /** absent over numbers to predict */
  readonly labels: Uint16Array;
  readonly rowCounts: Float64Array;
  /** of sum 1 */
  readonly weights: Float64Array;
  /** what rows teach, on the average of each group; of texts whose order it decides */
  readonly targets: Float64Array | undefined;
}

export interface SummedTraining {
  readonly sums: Sums;
  readonly mode: Mode;
  readonly rowCount: number;
  /** what the weights of rows add up to */
  readonly weightTotal: number;
  readonly hasWeights: boolean;
  /** of numbers to predict, weighted; NaN of classes */
  readonly targetMean: number;
  /** absent: the label is a number to predict */
  readonly classes: SummedClasses | undefined;
  readonly facts: readonly FeatureFacts[];
  readonly features: readonly Feature[];
  /** absent: a number that the learner has no buckets for */
  readonly groups: readonly (FeatureGroups | undefined)[];
}

/** The sum of weights, or of weights times a term. */
export function weighted(training: Pick<SummedTraining, 'hasWeights'>, of?: Term): Aggregate {
  if (!training.hasWeights) return of === undefined ? { kind: 'rows' } : { kind: 'sum', of };
  const weight = columnOf('weight');
  return { kind: 'sum', of: of === undefined ? weight : times(weight, of) };
}

/** Keys that part the classes, where there are any. */
export function classKeys({ classes }: Pick<SummedTraining, 'classes'>): readonly Term[] {
  return classes === undefined ? [] : [columnOf('label')];
}

export type TrainingStart = Omit<SummedTraining, 'features' | 'groups'>;

/** How features get codes. */
export interface CodingOptions {
  readonly coding: 'rank' | 'each' | 'none';
  /** buckets of a number at most */
  readonly bucketCountMax?: number | undefined;
}

/**
 * Asks for the values of all features, one pass each.
 * @throws SumsRefused when a feature has more categories than come one by one
 */
export function describeBySums(
  context: FitContext,
  start: TrainingStart,
  { coding, bucketCountMax }: CodingOptions,
): SummedTraining {
  const groups = start.facts.map((facts, index) => {
    context.checkCancelled();
    const needsValues = coding !== 'none' || facts.kind === 'text';
    return needsValues ? featureGroups(start, index, coding === 'rank') : undefined;
  });
  const features = groups.map((found, index): Feature => {
    if (found === undefined) return unbucketed(start.facts[index] as FeatureFacts, start.rowCount);
    const { source, targets, weights } = found;
    const rows = {
      ...{ rowCount: weights.length, weights, standsFor: start.rowCount },
      ...(targets === undefined ? {} : { targets }),
    };
    const options = {
      coding: coding === 'rank' ? coding : 'each',
      arena: 0,
      ...(bucketCountMax === undefined ? {} : { bucketCountMax }),
    } as const;
    return describeFeature(context.workspace, source, rows, options, context);
  });
  return { ...start, features, groups };
}

function unbucketed({ name, count }: FeatureFacts, rowCount: number): Feature {
  if (count === 0) return { kind: 'unused', name };
  return { kind: 'numeric', name, boundaries: new Float64Array(0), hasMissing: count < rowCount };
}

/** What is needed to ask for the values of features. */
export type ValuesStart = Pick<
  TrainingStart,
  'classes' | 'facts' | 'hasWeights' | 'rowCount' | 'sums' | 'weightTotal'
>;

/**
 * The values of one feature, or of many numbers cells of about the same value.
 * @param isRanked the order of texts is decided by what their rows teach
 */
export function featureGroups(start: ValuesStart, index: number, isRanked: boolean): FeatureGroups {
  const { classes, facts, sums } = start;
  const { kind, distinct, name } = facts[index] as FeatureFacts;
  const x = columnOf(index);
  const needsTargets = isRanked && kind === 'text';
  const values: readonly Aggregate[] = [
    ...[{ kind: 'rows' } as const, weighted(start)],
    ...(needsTargets && classes === undefined ? [weighted(start, columnOf('label'))] : []),
  ];
  let found: readonly ValueGroup[];
  if (distinct <= VALUE_COUNT_MAX) {
    const groups = sums.groups({ keys: [x, ...classKeys(start)], values });
    found = groups.map((group) => valueGroup(group, group.keys[0] ?? null, 0));
  } else if (kind === 'text') {
    throw new SumsRefused(`feature ${name} has ${distinct} categories`);
  } else {
    const { low, high } = facts[index] as FeatureFacts;
    const missing = sums.groups({
      keys: classKeys(start),
      values,
      where: { kind: 'missing', term: x },
    });
    found = [
      ...missing.map((group) => ({ ...valueGroup(group, null, -1), value: null })),
      ...cells(start, index, { low, high }, 0),
    ];
  }
  const factorOf = (label: number) =>
    classes === undefined ? 1 / start.weightTotal : (classes.factors[label] as number);
  const labels = Uint16Array.from(found, ({ label }) => classes?.classOf(label) ?? 0);
  const targetOf = ({ sum, weight }: ValueGroup, i: number) =>
    classes === undefined ? sum / weight : (labels[i] as number);
  return {
    source: sourceOf(name, kind, found),
    targets: needsTargets ? Float64Array.from(found, targetOf) : undefined,
    labels,
    rowCounts: Float64Array.from(found, ({ rows }) => rows),
    weights: Float64Array.from(found, ({ weight }, i) => weight * factorOf(labels[i] as number)),
  };
}

interface ValueGroup {
  readonly value: Atom;
  readonly label: Atom;
  readonly rows: number;
  readonly weight: number;
  /** of the targets, weighted, where they were asked for */
  readonly sum: number;
}

/** @param valueKey the position of the key before that of the class */
function valueGroup(group: Group, value: Atom, valueKey: number): ValueGroup {
  const label = group.keys[valueKey + 1] ?? null;
  return { value, label, rows: sumAt(group, 0), weight: sumAt(group, 1), sum: sumAt(group, 2) };
}

/** Values of about the same size as the least of them; heavy cells are divided again. */
function cells(
  start: ValuesStart,
  index: number,
  { low, high }: { readonly low: number; readonly high: number },
  division: number,
): ValueGroup[] {
  const x = columnOf(index);
  const where: Test = {
    kind: 'all',
    tests: [compare('>=', x, constant(low)), compare('<=', x, constant(high))],
  };
  const scale = CELL_COUNT / (high - low);
  const cell = call('floor', times(minus(x, constant(low)), constant(scale)));
  const isWhole = !(Number.isFinite(scale) && scale > 0) || division === DIVISION_COUNT_MAX;
  const groups = start.sums.groups({
    keys: [isWhole ? constant(0) : cell, ...classKeys(start)],
    values: [{ kind: 'rows' }, weighted(start), { kind: 'min', of: x }, { kind: 'max', of: x }],
    where,
  });
  const byCell = new Map<number, { low: number; high: number; rows: number; groups: Group[] }>();
  for (const group of groups) {
    const key = Number(group.keys[0]);
    const [rows, least, most] = [sumAt(group, 0), sumAt(group, 2), sumAt(group, 3)];
    const known = byCell.get(key);
    if (known === undefined) byCell.set(key, { low: least, high: most, rows, groups: [group] });
    else {
      known.low = Math.min(known.low, least);
      known.high = Math.max(known.high, most);
      known.rows += rows;
      known.groups.push(group);
    }
  }
  return [...byCell.values()].flatMap((found) => {
    const isHeavy = found.rows > HEAVY_SHARE * start.rowCount && found.low < found.high;
    if (isHeavy && !isWhole) return cells(start, index, found, division + 1);
    return found.groups.map((group) => valueGroup(group, found.low, 0));
  });
}

function sourceOf(
  name: string,
  kind: 'number' | 'text',
  found: readonly ValueGroup[],
): SourceColumn {
  if (found.every(({ value }) => value === null)) return { kind: 'nulls', name };
  if (kind === 'number') {
    const values = Float64Array.from(found, ({ value }) =>
      value === null ? Number.NaN : Number(value),
    );
    return { kind: 'numbers', name, pieces: [{ values }] };
  }
  const entries = [...new Set(found.flatMap(({ value }) => (value === null ? [] : [value])))];
  const codeOf = new Map<Atom, number>(entries.map((entry, i) => [entry, i + 1]));
  const codes = Uint32Array.from(found, ({ value }) => codeOf.get(value) ?? 0);
  return { kind: 'codes', name, pieces: [codes], entries };
}
