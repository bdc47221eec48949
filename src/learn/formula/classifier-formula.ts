// Classifiers as formulas.

import { TEST_LESS, TEST_PRESENT } from '../decision-tree/tree.ts';
import type { DesignColumns } from '../design/columns.ts';
import { EXTRACT_EQUALS, EXTRACT_PRESENCE } from '../design/columns.ts';
import { boundariesOf, categoryCode, type Feature, MISSING_CODE } from '../feature/feature.ts';
import { readTree, type TreeNodes } from '../gbt/nodes.ts';
import type { GlzModel } from '../glz/model.ts';
import { type ClassifierModel, hasUsableFeature } from '../model/classifier.ts';
import type { OutputLink, Prepared, PreparedModel } from '../model/prepare.ts';
import { type ScoreShape, shapeOf } from '../model/score.ts';
import type { BayesTest, NaiveBayesModel } from '../naive-bayes/model.ts';
import type { TreeEnsemble } from '../tree/ensemble.ts';
import type { Workspace } from '../workspace.ts';
import type { Formula, FormulaFunction, ModelFormula } from './formula.ts';

/** Models of more nodes, or coefficients, over all of their outputs are not written as formulas. */
const TERM_COUNT_MAX = 20_000;

/** @returns undefined: the model is of another kind, or too large */
export function classifierFormula(
  workspace: Workspace,
  { model, prepared }: { readonly model: ClassifierModel; readonly prepared: Prepared },
): ModelFormula | undefined {
  if (!hasUsableFeature(model)) return undefined;
  const { features, labels } = model;
  const scores = scoresOf({ workspace, features }, prepared, shapeOf(model));
  if (scores === undefined) return undefined;
  const isSingle = model.mode === 'boolean' || model.mode === 'regression';
  return {
    member: 'features',
    features: features.map(({ name, kind }) => ({
      name,
      kind: kind === 'numeric' ? 'number' : kind === 'categorical' ? 'category' : 'unused',
    })),
    outputs: scores.map((formula, index) => ({
      path: isSingle ? ['score'] : ['scores', labels[index] as string],
      formula,
    })),
  };
}

interface Surroundings {
  readonly workspace: Workspace;
  readonly features: PreparedModel['model']['features'];
}

const BINARY: ScoreShape = { width: 1, isBoolean: true, isRegression: false };

function scoresOf(
  around: Surroundings,
  prepared: Prepared,
  shape: ScoreShape,
): readonly Formula[] | undefined {
  switch (prepared.kind) {
    case 'trees':
      return treeScores(around, prepared, shape);
    case 'values':
      switch (prepared.algorithm.type) {
        case 'glz':
          return glzScores(around.features, prepared.algorithm, shape);
        case 'naive_bayes':
          return bayesScores(around.features, prepared.algorithm, shape);
        case 'null':
          return Array.from({ length: shape.width }, (_, k) =>
            numberOf(k === 0 && !shape.isBoolean ? 1 : 0),
          );
        default:
          return undefined;
      }
    case 'sum': {
      const members = prepared.members.map((member) => scoresOf(around, member, shape));
      if (!members.every((member) => member !== undefined)) return undefined;
      const sums = Array.from(
        { length: shape.width },
        (_, k): Formula => ({
          kind: 'sum',
          terms: members.map((scores, index) =>
            times(prepared.weights[index] as number, scores[k] as Formula),
          ),
        }),
      );
      return linked(prepared.link, sums);
    }
    case 'each': {
      const members = prepared.members.map((member) => scoresOf(around, member, BINARY));
      if (!members.every((member) => member !== undefined)) return undefined;
      return members.map(([score], label) => {
        const [slope, constant] = prepared.calibrations?.[label] ?? [];
        const own = score as Formula;
        if (slope === undefined || constant === undefined) return own;
        return applied('logistic', plus(constant, times(slope, own)));
      });
    }
  }
}

const LINK_OF: Readonly<Record<OutputLink, FormulaFunction | undefined>> = {
  none: undefined,
  softmax: undefined,
  exp: 'exp',
  logistic: 'logistic',
  logit: 'logistic',
  logit_norm: 'logistic',
};

function linked(link: OutputLink, sums: readonly Formula[]): readonly Formula[] {
  const apply = LINK_OF[link];
  const all = apply === undefined ? sums : sums.map((sum) => applied(apply, sum));
  if (link === 'softmax') return shares(all, true);
  return link === 'logit_norm' && all.length > 1 ? shares(all, false) : all;
}

function shares(of: readonly Formula[], ofExponentials: boolean): readonly Formula[] {
  return of.map((_, index) => ({ kind: 'share', of, index, ofExponentials }));
}

function treeScores(
  around: Surroundings,
  { ensemble, base, link, mirror }: Extract<Prepared, { kind: 'trees' }>,
  { width }: ScoreShape,
): readonly Formula[] | undefined {
  const { slots, trees } = ensemble;
  const rawWidth = ensemble.width;
  const nodeCount = trees.reduce((sum, tree) => sum + tree.nodeCount, 0);
  if (nodeCount * (slots === undefined ? rawWidth : 1) > TERM_COUNT_MAX) return undefined;
  const raw = (output: number, place: number): Formula => {
    const terms = trees.flatMap((_, tree) =>
      slots === undefined || slots[tree] === output
        ? [treeFormula(around, ensemble, tree, output)]
        : [],
    );
    return plus(base?.[place] ?? 0, { kind: 'sum', terms });
  };
  if (rawWidth === 1 && width === 2) {
    const [second] = linked(link === 'softmax' ? 'none' : link, [raw(0, 0)]);
    return [plus(mirror ?? 0, times(-1, second as Formula)), second as Formula];
  }
  const skip = rawWidth === 2 && width === 1 ? 1 : 0;
  return linked(
    link,
    Array.from({ length: width }, (_, k) => raw(skip + k, k)),
  );
}

function treeFormula(
  { workspace, features }: Surroundings,
  ensemble: TreeEnsemble,
  tree: number,
  output: number,
): Formula {
  const nodes = readTree(workspace, ensemble, tree);
  const scale = (ensemble.weights[tree] as number) / ensemble.divisor;
  const place = ensemble.slots === undefined ? output : 0;
  const leaf = (node: number) => numberOf(scale * nodes.value(node, place));
  const visit = (node: number): Formula =>
    nodes.left(node) === node ? leaf(node) : splitFormula(features, nodes, node, visit, leaf);
  return visit(0);
}

function splitFormula(
  features: readonly Feature[],
  nodes: TreeNodes,
  node: number,
  visit: (node: number) => Formula,
  leaf: (node: number) => Formula,
): Formula {
  const index = nodes.feature(node);
  const feature = features[index] as Feature;
  const part = nodes.part(node);
  const goesLeft = nodes.codesLeft(node);
  const left = visit(nodes.left(node));
  const right = visit(nodes.left(node) + 1);
  const sideOf = (code: number) => (goesLeft(code) ? left : right);
  const missing = nodes.stopsMissing(node) ? leaf(node) : sideOf(MISSING_CODE);
  if (feature.kind === 'numeric') {
    const boundaries = boundariesOf(feature, part);
    let count = 0;
    while (count <= boundaries.length && goesLeft(count + 1) === goesLeft(1)) count++;
    const boundary =
      count > boundaries.length ? Number.POSITIVE_INFINITY : (boundaries[count - 1] as number);
    const no = goesLeft(1) ? right : left;
    return { kind: 'below', feature: index, boundary, yes: sideOf(1), no, missing };
  }
  // A feature that is not used is missing in every row.
  if (feature.kind === 'unused') return missing;
  const lists = { left: [] as string[], right: [] as string[] };
  for (const [position, category] of feature.categories.entries()) {
    const code = categoryCode(feature, position, part);
    lists[goesLeft(code) ? 'left' : 'right'].push(category);
  }
  const newCode = categoryCode(feature, -1, part);
  const other = newCode === MISSING_CODE ? missing : sideOf(newCode);
  return { kind: 'among', feature: index, ...lists, yes: left, no: right, other, missing };
}

function glzScores(
  features: readonly Feature[],
  { columns, decode, jointly, link, weights }: GlzModel,
  { isBoolean }: ScoreShape,
): readonly Formula[] | undefined {
  const rows = isBoolean ? weights.slice(-1) : weights;
  const count = columns.features.length;
  if (count * rows.length > TERM_COUNT_MAX) return undefined;
  const sums = rows.map((row) =>
    plus(row[count] as number, { kind: 'sum', terms: designTerms(features, columns, row) }),
  );
  if (!decode) return sums;
  const apply = GLZ_FUNCTIONS[link];
  const scores = apply === undefined ? sums : sums.map((sum) => applied(apply, sum));
  return jointly === undefined ? scores : shares(scores, jointly === 'softmax');
}

const GLZ_FUNCTIONS: Readonly<Record<GlzModel['link'], FormulaFunction | undefined>> = {
  logit: 'logistic',
  probit: 'normal-cdf',
  comp_log_log: 'comp-log-log',
  linear: undefined,
  log: 'exp',
};

/** A term for each feature. */
function designTerms(
  features: readonly Feature[],
  columns: DesignColumns,
  weights: Float64Array,
): Formula[] {
  const byFeature = new Map<number, number[]>();
  for (const [column, feature] of columns.features.entries()) {
    byFeature.set(feature, [...(byFeature.get(feature) ?? []), column]);
  }
  return Array.from(byFeature, ([index, own]): Formula => {
    const feature = features[index] as Feature;
    const weightOf = (column: number) => weights[column] as number;
    if (feature.kind === 'categorical') {
      const listed = own.filter((column) => columns.extracts[column] === EXTRACT_EQUALS);
      return {
        kind: 'category',
        feature: index,
        categories: listed.map(
          (column) => feature.categories[columns.categories[column] as number] as string,
        ),
        values: listed.map(weightOf),
        otherwise: 0,
        missing: 0,
      };
    }
    const sumOf = (isPresence: boolean) =>
      own
        .filter((column) => (columns.extracts[column] === EXTRACT_PRESENCE) === isPresence)
        .reduce((sum, column) => sum + weightOf(column), 0);
    return {
      kind: 'feature',
      feature: index,
      weight: sumOf(false),
      present: sumOf(true),
      missing: 0,
    };
  });
}

function bayesScores(
  features: readonly Feature[],
  { priors, tests }: NaiveBayesModel,
  { isBoolean }: ScoreShape,
): readonly Formula[] | undefined {
  const labelCount = priors.length;
  if (tests.length * labelCount > TERM_COUNT_MAX) return undefined;
  const sums = Array.from(priors, (prior, label) =>
    plus(prior, {
      kind: 'sum',
      terms: tests.map((test) => bayesTerm(features, test, label, labelCount)),
    }),
  );
  const all = shares(sums, true);
  return isBoolean ? [all[1] as Formula] : all;
}

function bayesTerm(
  features: readonly Feature[],
  { countsMissing, feature: index, logs, operand, test }: BayesTest,
  label: number,
  labelCount: number,
): Formula {
  const feature = features[index] as Feature;
  const outcome = (number: number) => numberOf(logs[number * labelCount + label] as number);
  const [yes, no] = [outcome(0), outcome(1)];
  const isPresence = test === TEST_PRESENT;
  const missing = isPresence ? no : countsMissing ? outcome(2) : numberOf(0);
  if (feature.kind === 'numeric') {
    const boundary =
      test === TEST_LESS ? (feature.boundaries[operand] as number) : Number.POSITIVE_INFINITY;
    return { kind: 'below', feature: index, boundary, yes, no, missing };
  }
  if (feature.kind === 'unused') return missing;
  const left = isPresence ? [] : [feature.categories[operand] as string];
  const other = isPresence ? yes : no;
  return { kind: 'among', feature: index, left, right: [], yes, no, other, missing };
}

function numberOf(value: number): Formula {
  return { kind: 'number', value };
}

function times(by: number, of: Formula): Formula {
  return by === 1 ? of : { kind: 'product', by, of };
}

function plus(constant: number, formula: Formula): Formula {
  return constant === 0 ? formula : { kind: 'sum', terms: [numberOf(constant), formula] };
}

function applied(name: FormulaFunction, of: Formula): Formula {
  return { kind: 'apply', function: name, of };
}
