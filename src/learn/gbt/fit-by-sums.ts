// Gradient boosting over rows that are known by their sums. Scores and gradients are computed where the
// rows are, from the trees so far; a request finds the histograms of a level.
import type { LearnContext, Target } from '../learner.ts';
import { type Branch, openBranch, pathOf, pathTo } from '../sums/branch.ts';
import { CodedRows } from '../sums/coded-rows.ts';
import { SumsRefused, sumAt } from '../sums/sums.ts';
import { constant, plus, type Term } from '../sums/term.ts';
import type { SummedTraining } from '../sums/training.ts';
import { monotoneOf } from './constraints.ts';
import { type GradientTerms, gradientTerms, pairOf } from './gradient-terms.ts';
import {
  type Family,
  type GrownTree,
  type NodeCells,
  type RowsOfNodes,
  type SplitRows,
  TreeGrower,
} from './grow.ts';
import type { GbtModel } from './model.ts';
import { firstScores, objectiveOf } from './objective.ts';
import type { GbtOptions } from './options.ts';
import { packTrees } from './pack.ts';

/** Tests of all trees at most: each request computes those so far for each row. */
const TEST_COUNT_MAX = 1000;

/**
 * The model that fitGbt makes of the rows. Gradients are rounded as those of rows are, so that
 * histograms agree up to the rounding of sums.
 * The model's spans are the caller's to free.
 * @throws SumsRefused when the options need rows, or the trees would be too many
 */
export function fitGbtBySums(
  context: LearnContext,
  training: SummedTraining,
  options: GbtOptions,
  seed: number,
): GbtModel {
  const { features, mode, rowCount } = training;
  const objective = objectiveOf(options, mode);
  refuseRows(options, objective);
  const coded = new CodedRows(features);
  const shape = { features, columns: coded.columns };
  const monotone = monotoneOf(shape, options);
  const { target, weights } = totalsOf(training);
  const base = firstScores(objective, target, weights, options);
  const width = base.length;
  refuseManyTests(options, width);
  const minChildSamples = Math.min(options.minChildSamples, Math.max(1, Math.floor(rowCount / 10)));
  const scores = base.map(constant);
  const trees: GrownTree<NodeRows>[] = [];
  for (let round = 0; round < options.roundCount; round++) {
    context.checkCancelled();
    const began = performance.now();
    const gradients = gradientTerms(training, objective, options, scores, coded.restFrom);
    const grown = base.map((_, output) => {
      const pair = pairOf(gradients, output);
      const source = new SummedNodes(training, coded, pair, context);
      const number = round * width + output;
      const settings = { options, minChildSamples, monotone, seed, number };
      const tree = new TreeGrower(shape, settings, source).grow(source.total());
      trees.push(tree);
      return source.scoreOf(tree);
    });
    for (const [output, score] of grown.entries()) {
      scores[output] = plus(scores[output] as Term, score);
    }
    const seconds = (performance.now() - began) / 1000;
    context.reportIteration?.({ iteration: round, seconds });
    context.progress?.(round + 1, options.roundCount);
  }
  const shapeOfAll = { width, takesTurns: true };
  return {
    type: 'gbt',
    objective,
    baseScore: base,
    learningRate: options.learningRate,
    output: options.output,
    ensemble: packTrees(context.workspace, shape, trees, shapeOfAll, 0),
    gains: trees.map(({ gains }) => Float32Array.from(gains)),
    bestIteration: options.roundCount - 1,
  };
}

function refuseRows(options: GbtOptions, objective: GbtModel['objective']): void {
  if (objective === 'absolute' || objective === 'quantile') {
    throw new SumsRefused(`gbt with objective ${objective} reads rows`);
  }
  if (options.earlyStoppingRounds > 0) {
    throw new SumsRefused('gbt with early_stopping_rounds reads rows');
  }
  if (options.subsample < 1 && options.subsampleInterval > 0) {
    throw new SumsRefused('gbt with a subsample reads rows');
  }
}

function refuseManyTests({ leafCountMax, maxDepth, roundCount }: GbtOptions, width: number): void {
  const leafCount = maxDepth >= 0 && maxDepth < 30 ? 2 ** maxDepth : leafCountMax;
  const testCount = roundCount * width * (Math.min(leafCount, leafCountMax) - 1);
  if (testCount <= TEST_COUNT_MAX) return;
  throw new SumsRefused(
    `gbt reads rows where its trees may have more than ${TEST_COUNT_MAX} tests, here ${testCount}`,
  );
}

/** Rows that stand for all where only their weights count: one a class, or one of the mean. */
function totalsOf(training: SummedTraining): { target: Target; weights: Float64Array } {
  const { classes, weightTotal } = training;
  if (classes === undefined) {
    const values = Float64Array.of(training.targetMean);
    return { target: { kind: 'regression', values }, weights: Float64Array.of(weightTotal) };
  }
  const { factors, labelCount, weights } = classes;
  const labels = Uint16Array.from({ length: labelCount }, (_, label) => label);
  const own = weights.map((weight, label) => weight * (factors[label] as number) * weightTotal);
  return { target: { kind: 'classes', labels, labelCount }, weights: own };
}

/** The rows of a node, wherever they are. */
interface NodeRows {
  readonly branch: Branch;
  /** by position of the column */
  cells: Map<number, NodeCells> | undefined;
  children: readonly [NodeRows, NodeRows] | undefined;
}

/** Histograms of nodes in one request for as many as are known to be wanted. */
class SummedNodes implements RowsOfNodes<NodeRows> {
  readonly batchSize = Number.POSITIVE_INFINITY;
  readonly #training: SummedTraining;
  readonly #coded: CodedRows;
  readonly #gradients: GradientTerms;
  readonly #context: LearnContext;
  readonly #root: NodeRows = { branch: openBranch(), cells: undefined, children: undefined };
  #columns: readonly number[] = [];
  #ahead: () => readonly SplitRows<NodeRows>[] = () => [];

  constructor(
    training: SummedTraining,
    coded: CodedRows,
    gradients: GradientTerms,
    context: LearnContext,
  ) {
    this.#training = training;
    this.#coded = coded;
    this.#gradients = gradients;
    this.#context = context;
  }

  /** What all rows add up to. */
  total() {
    const { sums } = this.#training;
    const path = { kind: 'end', value: 0 } as const;
    const [all] = this.#coded.nodes({ sums, path, keys: [], ...this.#request });
    if (all === undefined) throw new Error('there are rows');
    return { gradient: sumAt(all, 1), hessian: sumAt(all, 2), count: sumAt(all, 0) };
  }

  start(columns: readonly number[]): NodeRows {
    this.#columns = columns;
    if (columns.length > 0) this.#find([this.#root]);
    return this.#root;
  }

  part(
    nodes: readonly SplitRows<NodeRows>[],
    ahead: () => readonly SplitRows<NodeRows>[],
  ): (readonly [NodeRows, NodeRows])[] {
    this.#ahead = ahead;
    return nodes.map((node) => this.#childrenOf(node));
  }

  prepare(families: readonly Family<NodeRows>[]): void {
    const wanted = families.flatMap(({ left, right }) => [left, right]);
    if (wanted.every(({ cells }) => cells !== undefined)) return;
    const more = this.#ahead().flatMap((node) => this.#childrenOf(node));
    const all = new Set([...wanted, ...more]);
    this.#find([...all].filter(({ cells }) => cells === undefined));
  }

  finish({ parent }: Family<NodeRows>): void {
    this.release(parent);
  }

  release(rows: NodeRows): void {
    rows.cells?.clear();
  }

  cells({ cells }: NodeRows, column: number): NodeCells | undefined {
    return cells?.get(column);
  }

  /** What the tree adds to the score of a row. */
  scoreOf({ leaves, values }: GrownTree<NodeRows>): Term {
    const found = new Map(leaves.map(({ node, rows }) => [rows.branch, values[node] as number]));
    const path = pathOf(this.#root.branch, (branch) => found.get(branch));
    return this.#coded.pathTerm(path);
  }

  #childrenOf({ rows, split }: SplitRows<NodeRows>): readonly [NodeRows, NodeRows] {
    if (rows.children !== undefined) return rows.children;
    const child = () => ({ branch: openBranch(), cells: undefined, children: undefined });
    const [left, right] = [child(), child()];
    const codes = split.right;
    rows.branch.fork = {
      column: split.column,
      sides: [
        { codes: codes.map((goesRight) => 1 - goesRight), branch: left.branch },
        { codes, branch: right.branch },
      ],
    };
    rows.children = [left, right];
    return rows.children;
  }

  get #request() {
    const { gradient, hessian, rest } = this.#gradients;
    const values = [
      { kind: 'rows' },
      { kind: 'sum', of: gradient },
      { kind: 'sum', of: hessian },
    ] as const;
    return { rest, values };
  }

  #find(nodes: readonly NodeRows[]): void {
    this.#context.checkCancelled();
    CodedRows.checkNodeCount(nodes.length);
    for (const node of nodes) {
      node.cells = new Map(
        this.#columns.map((column) => {
          const { codeCount } = this.#coded.columns[column] as CodedRows['columns'][number];
          const cells = new Float64Array(2 * codeCount);
          return [column, { cells, counts: new Float64Array(codeCount) }];
        }),
      );
    }
    const { rowCount, sums } = this.#training;
    const branches = nodes.map(({ branch }) => branch);
    this.#coded.histograms(
      {
        ...{ sums, rowCount, nodeCount: nodes.length, columns: this.#columns },
        ...{ path: pathTo(this.#root.branch, branches), keys: [], tupleCount: 1 },
        ...this.#request,
      },
      (node, column, code, group) => {
        const found = nodes[node]?.cells?.get(column);
        if (found === undefined) return;
        const { cells, counts } = found;
        counts[code] = sumAt(group, 0);
        cells[2 * code] = sumAt(group, 1);
        cells[2 * code + 1] = sumAt(group, 2);
      },
    );
  }
}
