// Training a classifier on rows of another system, of which only sums come here.
import { labelList, labelPositions } from '../../learn/label.ts';
import type { Iteration, LearnContext } from '../../learn/learner.ts';
import { innermost } from '../../learn/learners.ts';
import { modelEnsembles } from '../../learn/model/classifier.ts';
import { type Aggregate, type Group, SumsRefused, sumAt } from '../../learn/sums/sums.ts';
import { columnOf } from '../../learn/sums/term.ts';
import {
  describeBySums,
  type FeatureFacts,
  type SummedClasses,
  type TrainingStart,
  weighted,
} from '../../learn/sums/training.ts';
import { spansOf } from '../../learn/tree/ensemble.ts';
import type { InputQuery } from '../../schema/declare.ts';
import { type Atom, isTrue } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import type { ProcedureContext, Progress } from '../procedure-type.ts';
import type { FeatureSummary } from '../training/feature-summary.ts';
import { fitContext } from '../training/fit-context.ts';
import type { CardFacts } from '../training/model-card.ts';
import { type QuerySums, type SummedColumn, sumsOfQuery } from '../training/query-sums.ts';
import { labelTextOf, refuseLabelFeatures } from '../training/training-data.ts';
import { refuseManyClasses, requireTwoClasses } from '../training/two-classes.ts';
import { checkedCount, type TrainedClassifier, type TrainingOrder } from './train-classifier.ts';

/** The rows of a training query, where another system has them. */
export function summedClassifierRows(
  context: ProcedureContext,
  query: InputQuery,
): QuerySums | undefined {
  const options = { row: 'features', label: 'label', weight: 'weight' };
  return sumsOfQuery(context, query, options)?.sorted();
}

/** A classifier, and what the model card tells of what it was trained on. */
export interface TrainedOnRows {
  readonly trained: TrainedClassifier;
  readonly data: {
    readonly rowCount: number;
    readonly unlabelledCount: number;
    readonly features: CardFacts['features'];
  };
}

/** @throws SumsRefused when rows are needed, DATA_ERROR when labels cannot be learned */
export function trainBySums(
  context: ProcedureContext,
  sums: QuerySums,
  query: InputQuery,
  order: TrainingOrder,
  steps: Progress,
): TrainedOnRows {
  const { recipe } = order;
  const { learner } = recipe;
  const inner = innermost(recipe);
  if (learner.fitSums === undefined || order.mode === 'multilabel') {
    throw new SumsRefused(`${learner.type} reads rows`);
  }
  if (sums.label === undefined) throw new SumsRefused('the query has no plain label');
  const selected = rowCountOf(context, query);
  if (learner.prefersRows === true && selected <= sums.groupCountMax) {
    throw new SumsRefused(`${learner.type} reads rows that are no more than maxRows`);
  }
  const prepared = context.query(query);
  refuseLabelFeatures(prepared, context);
  const facts = factsOf(sums);
  const { labels, classes, targetMean } = labelsOf(sums, order, facts, labelTextOf(prepared));
  const iterations: Iteration[] = [];
  const learning: LearnContext = {
    ...fitContext(context, (share) => steps.update(share)),
    reportIteration: (iteration) => iterations.push(iteration),
  };
  const start: TrainingStart = {
    ...{ sums, mode: order.mode, classes, targetMean, facts: facts.features },
    rowCount: facts.rowCount,
    weightTotal: facts.weightTotal,
    hasWeights: sums.weight !== undefined,
  };
  const training = describeBySums(learning, start, {
    coding: inner.learner.coding,
    bucketCountMax: inner.learner.bucketCountMax?.(inner.options),
  });
  steps.next();
  const algorithm = learner.fitSums(learning, training, recipe, order.seed);
  return {
    trained: {
      model: { mode: order.mode, labels, features: training.features, algorithm },
      iterations,
      labelWeights: labelWeights(labels, classes),
      free: () => {
        for (const span of modelEnsembles(algorithm).flatMap(spansOf)) context.arenas.free(span);
      },
    },
    data: {
      rowCount: facts.rowCount,
      unlabelledCount: selected - facts.rowCount,
      features: facts.features.map((feature) => summaryOf(feature, facts.rowCount)),
    },
  };
}

/** Rows with and without a label. */
function rowCountOf(context: ProcedureContext, query: InputQuery): number {
  const all = sumsOfQuery(context, query, { row: 'features' });
  const [group] = all?.groups({ keys: [], values: [{ kind: 'rows' }] }) ?? [];
  return group === undefined ? 0 : sumAt(group, 0);
}

interface Facts {
  readonly rowCount: number;
  readonly weightTotal: number;
  readonly features: readonly FeatureFacts[];
}

function factsOf(sums: QuerySums): Facts {
  const kinds = sums.columns.map(kindOf);
  const weight = columnOf('weight');
  const hasWeights = sums.weight !== undefined;
  const values: Aggregate[] = [{ kind: 'rows' }];
  if (hasWeights) {
    values.push({ kind: 'count', of: weight }, { kind: 'sum', of: weight });
    values.push({ kind: 'min', of: weight }, { kind: 'max', of: weight });
  }
  const first = values.length;
  for (const [index, kind] of kinds.entries()) {
    const of = columnOf(index);
    values.push({ kind: 'count', of }, { kind: 'distinct', of });
    if (kind === 'number') {
      values.push({ kind: 'min', of }, { kind: 'max', of }, { kind: 'sum', of });
    }
  }
  const [group] = sums.groups({ keys: [], values });
  const rowCount = group === undefined ? 0 : sumAt(group, 0);
  if (group === undefined || rowCount === 0) throw new SumsRefused('no row has a label');
  if (
    hasWeights &&
    (sumAt(group, 1) < rowCount || !(sumAt(group, 3) > 0 && Number.isFinite(sumAt(group, 4))))
  ) {
    // Rows of weight 0 are left out by some learners, and others are refused by name.
    throw new SumsRefused('not all weights are positive numbers');
  }
  let at = first;
  const features = kinds.map((kind, index): FeatureFacts => {
    const { path } = sums.columns[index] as SummedColumn;
    const [count, distinct] = [sumAt(group, at), sumAt(group, at + 1)];
    at += 2;
    const name = path.toString();
    if (kind === 'text') return { name, kind, count, distinct, low: 0, high: 0, mean: 0 };
    const [low, high, sum] = [sumAt(group, at), sumAt(group, at + 1), sumAt(group, at + 2)];
    at += 3;
    if (!Number.isFinite(low) || !Number.isFinite(high)) {
      throw new SumsRefused(`feature ${name} has values that are no finite numbers`);
    }
    return { name, kind, count, distinct, low, high, mean: sum / count };
  });
  return { rowCount, weightTotal: hasWeights ? sumAt(group, 2) : rowCount, features };
}

function kindOf({ atom, path }: SummedColumn): FeatureFacts['kind'] {
  if (atom === 'integer' || atom === 'number') return 'number';
  if (atom === 'string') return 'text';
  throw new SumsRefused(`feature ${path} is no column of numbers or texts`);
}

interface SummedLabels {
  /** as the model names them; none for two classes and for numbers */
  readonly labels: readonly string[];
  readonly classes: SummedClasses | undefined;
  /** of numbers to predict, weighted */
  readonly targetMean: number;
}

function labelsOf(
  sums: QuerySums,
  { mode, equalizationFactor }: TrainingOrder,
  { rowCount, weightTotal }: Facts,
  labelText: string,
): SummedLabels {
  const label = columnOf('label');
  if (mode === 'regression') {
    const weights = { hasWeights: sums.weight !== undefined };
    const [range] = sums.groups({
      keys: [],
      values: [{ kind: 'min', of: label }, { kind: 'max', of: label }, weighted(weights, label)],
    });
    const isNumber = sums.label?.atom === 'integer' || sums.label?.atom === 'number';
    const areFinite = [0, 1].every((i) => Number.isFinite(sumAt(range as Group, i)));
    if (isNumber && areFinite) {
      const targetMean = sumAt(range as Group, 2) / weightTotal;
      return { labels: [], classes: undefined, targetMean };
    }
    throw new SumsRefused('not all labels are finite numbers');
  }
  const groups = sums.groups({
    keys: [label],
    values: [{ kind: 'rows' }, weighted({ hasWeights: sums.weight !== undefined })],
  });
  const atoms = groups.map(({ keys }) => keys[0] as Exclude<Atom, null>);
  if (mode === 'boolean') {
    refuseManyClasses(atoms, labelText);
    const classes = classesOf(groups, 2, equalizationFactor, (atom) => (isTrue(atom) ? 1 : 0));
    requireTwoClasses(classes.rowCounts[1] as number, rowCount);
    return { labels: [], classes, targetMean: Number.NaN };
  }
  const labels = labelList(atoms);
  const positions = labelPositions(checkedCount(labels, mode));
  const classOf = (atom: Atom) => positions.get(atomToJsonText(atom)) as number;
  const classes = classesOf(groups, labels.length, equalizationFactor, classOf);
  return { labels, classes, targetMean: Number.NaN };
}

/** @see equalizedWeights */
function classesOf(
  groups: readonly Group[],
  labelCount: number,
  equalizationFactor: number,
  classOf: (label: Atom) => number,
): SummedClasses {
  const rowCounts = new Float64Array(labelCount);
  const weights = new Float64Array(labelCount);
  for (const group of groups) {
    const label = classOf(group.keys[0] ?? null);
    rowCounts[label] = (rowCounts[label] as number) + sumAt(group, 0);
    weights[label] = (weights[label] as number) + sumAt(group, 1);
  }
  const factors = weights.map((weight) => (weight > 0 ? weight ** -equalizationFactor : 0));
  const total = factors.reduce(
    (sum, factor, label) => sum + factor * (weights[label] as number),
    0,
  );
  return {
    ...{ labelCount, weights, rowCounts, classOf },
    atoms: groups.map(({ keys }) => keys[0] ?? null),
    factors: factors.map((factor) => factor / total),
  };
}

function labelWeights(
  labels: readonly string[],
  classes: SummedClasses | undefined,
): (readonly [unknown, number])[] {
  if (classes === undefined) return [];
  const names = labels.length === 0 ? [0, 1] : labels.map((label): unknown => JSON.parse(label));
  return names.map((name, index) => [name, classes.weights[index] as number] as const);
}

function summaryOf(
  { name, kind, count, distinct, low, high, mean }: FeatureFacts,
  rowCount: number,
): FeatureSummary {
  const type = kind === 'text' ? 'category' : 'number';
  const shared = { name, missing: 1 - count / rowCount, distinct };
  if (count === 0) return { ...shared, type: 'unused', min: null, max: null, mean: null };
  const isNumber = kind === 'number';
  return {
    ...{ ...shared, type },
    ...(isNumber ? { min: low, max: high, mean } : { min: null, max: null, mean: null }),
  };
}
