// Decision trees of rows that are known by their sums: two requests a level, one for what the nodes
// of the level hold, one for the histograms of those that may be split.
import { type Branch, openBranch, pathTo, type Side } from '../sums/branch.ts';
import { CodedRows } from '../sums/coded-rows.ts';
import { type Aggregate, type Group, SumsRefused, sumAt } from '../sums/sums.ts';
import { columnOf, constant, minus, shared, times } from '../sums/term.ts';
import { classKeys, type SummedTraining, weighted } from '../sums/training.ts';
import { type FitContext, type Workspace, withScratch } from '../workspace.ts';
import {
  CellSearch,
  type NodeStats,
  type SearchShape,
  type SplitCandidate,
} from './cell-search.ts';
import { classOutput } from './grow.ts';
import type { DecisionTreeOptions } from './options.ts';
import { drawColumns, widthOf } from './options.ts';
import { type DecisionTree, TEST_PRESENT, TreeBuilder, type UpdateAlgorithm } from './tree.ts';

interface LevelOptions {
  readonly maxDepth: number;
  readonly updateAlgorithm: UpdateAlgorithm;
  /** positions of the columns that may be tested */
  readonly columns: readonly number[];
}

/** Deeper trees have more nodes than are worth a pass a level. */
const DEPTH_MAX = 12;

type HeldStats = NodeStats & { readonly rowCount: number };

/** A node whose children are not known. */
interface OpenNode {
  readonly index: number;
  readonly stats: NodeStats;
}

/**
 * The tree that fitDecisionTree grows on the rows.
 * @throws SumsRefused when it may have too many levels, or has too many nodes
 */
export function fitTreeBySums(
  context: FitContext,
  training: SummedTraining,
  { maxDepth, updateAlgorithm, ...drawing }: DecisionTreeOptions,
): DecisionTree {
  if (maxDepth === -1 || maxDepth > DEPTH_MAX) {
    const limit = `max_depth of at most ${DEPTH_MAX}`;
    throw new SumsRefused(`decision_tree reads rows unless it has a ${limit}`);
  }
  const { workspace } = context;
  const { classes, features } = training;
  const coded = new CodedRows(features);
  const options = {
    maxDepth,
    updateAlgorithm,
    columns: drawColumns({ features, ...coded }, drawing),
  };
  const shape: SearchShape = {
    ...{ features, columns: coded.columns, arena: 0 },
    ...{ labelCount: classes?.labelCount ?? 0, hasPairs: false },
  };
  return withScratch(workspace, 0, CellSearch.scratchSize(shape), (scratch) => {
    const search = new CellSearch(workspace, shape, scratch);
    return new LevelGrower(context, training, coded, options, search).grow();
  });
}

class LevelGrower {
  readonly #context: FitContext;
  readonly #training: SummedTraining;
  readonly #coded: CodedRows;
  readonly #options: LevelOptions;
  readonly #search: CellSearch;
  readonly #builder: TreeBuilder;
  /** a number near the targets, so that sums of squares keep their digits */
  readonly #center: number;

  constructor(
    context: FitContext,
    training: SummedTraining,
    coded: CodedRows,
    options: LevelOptions,
    search: CellSearch,
  ) {
    this.#context = context;
    this.#training = training;
    this.#coded = coded;
    this.#options = options;
    this.#search = search;
    this.#center = training.targetMean;
    this.#builder = new TreeBuilder(
      widthOf({ labelCount: training.classes?.labelCount ?? 0, hasPairs: false }),
    );
  }

  grow(): DecisionTree {
    const { maxDepth } = this.#options;
    const root: Branch = openBranch();
    let places: { readonly branch: Branch; readonly parent: number; readonly outcome: number }[] = [
      { branch: root, parent: -1, outcome: 0 },
    ];
    for (let depth = 0; places.length > 0; depth++) {
      this.#context.checkCancelled();
      const stats = this.#statsOf(
        root,
        places.map(({ branch }) => branch),
      );
      const open: { readonly node: OpenNode; readonly branch: Branch }[] = [];
      for (const [position, { branch, parent, outcome }] of places.entries()) {
        const own = stats[position];
        // No row went there.
        if (own === undefined) {
          branch.isEmpty = true;
          continue;
        }
        const index = this.#builder.addLeaf(own.output, own.rowCount);
        if (parent !== -1) this.#builder.setChild(parent, outcome, index);
        if (depth < maxDepth && !own.isPure) open.push({ node: { index, stats: own }, branch });
      }
      places = [];
      const found = this.#bestSplits(
        root,
        open.map(({ node, branch }) => ({ ...node, branch })),
      );
      for (const [position, best] of found.entries()) {
        if (best === undefined) continue;
        const { node, branch } = open[position] as (typeof open)[number];
        const sides = this.#split(node, branch, best);
        for (const { outcome, branch: side } of sides) {
          places.push({ branch: side, parent: node.index, outcome });
        }
      }
    }
    return this.#builder.build();
  }

  #statsOf(root: Branch, branches: readonly Branch[]): (HeldStats | undefined)[] {
    const training = this.#training;
    const { classes, sums, weightTotal } = training;
    CodedRows.checkNodeCount(branches.length);
    const values: Aggregate[] = [{ kind: 'rows' }, weighted(training)];
    const distance = shared(this.#coded.restFrom);
    if (classes === undefined) {
      const label = columnOf('label');
      values.push(weighted(training, distance), weighted(training, times(distance, distance)));
      values.push({ kind: 'min', of: label }, { kind: 'max', of: label });
    }
    const groups = this.#coded.nodes({
      ...{ sums, path: pathTo(root, branches), keys: classKeys(training), values },
      rest: this.#rest(),
    });
    const byNode: Group[][] = branches.map(() => []);
    for (const group of groups) byNode[Number(group.keys[0])]?.push(group);
    return byNode.map((own) => {
      const [group] = own;
      if (group === undefined) return undefined;
      const rowCount = own.reduce((sum, group) => sum + sumAt(group, 0), 0);
      if (classes !== undefined) {
        const weights = new Float64Array(classes.labelCount);
        for (const group of own) this.#addClass(weights, group);
        const weight = weights.reduce((sum, part) => sum + part, 0);
        const isPure = weights.reduce((seen, part) => seen + Number(part > 0), 0) < 2;
        const output = classOutput(weights, rowCount, this.#options.updateAlgorithm);
        return { output, weight, mean: 0, variance: 0, isPure, rowCount };
      }
      const [weight, sum, squares] = [sumAt(group, 1), sumAt(group, 2), sumAt(group, 3)];
      const [low, high] = [sumAt(group, 4), sumAt(group, 5)];
      const shift = sum / weight;
      // A constant target is its own mean; the quotient may be off by a rounding.
      const mean = low === high ? low : this.#center + shift;
      const variance = Math.max(0, squares - weight * shift * shift) / weightTotal;
      const output = Float64Array.of(mean);
      const isPure = low === high;
      return { output, weight: weight / weightTotal, mean, variance, isPure, rowCount };
    });
  }

  /** Values of rows beside their codes. */
  #rest() {
    const { classes } = this.#training;
    return classes === undefined ? [minus(columnOf('label'), constant(this.#center))] : [];
  }

  /** Adds the weight of a group to that of its class, which is its last key. */
  #addClass(weights: Float64Array, group: Group): number {
    const { classes } = this.#training;
    if (classes === undefined) throw new Error('there are no classes');
    const label = classes.classOf(group.keys.at(-1) ?? null);
    const weight = sumAt(group, 1) * (classes.factors[label] as number);
    weights[label] = (weights[label] as number) + weight;
    return label;
  }

  /** The best split of each open node. */
  #bestSplits(
    root: Branch,
    open: readonly (OpenNode & { readonly branch: Branch })[],
  ): (SplitCandidate | undefined)[] {
    const { columns } = this.#options;
    if (open.length === 0 || columns.length === 0) return [];
    const training = this.#training;
    const { classes, rowCount, sums, weightTotal } = training;
    const width = this.#search.cellSize >>> 3;
    const cells = new Map<string, Float64Array>();
    const distance = shared(this.#coded.restFrom);
    this.#coded.histograms(
      {
        ...{ sums, columns, keys: classKeys(training), rest: this.#rest() },
        ...{ nodeCount: open.length, rowCount, tupleCount: classes?.rowCounts.length ?? 1 },
        path: pathTo(
          root,
          open.map(({ branch }) => branch),
        ),
        values: [
          { kind: 'rows' },
          weighted(training),
          ...(classes === undefined ? [weighted(training, distance)] : []),
        ],
      },
      (node, column, code, group) => {
        const key = `${node},${column}`;
        let own = cells.get(key);
        if (own === undefined) {
          own = new Float64Array((this.#coded.columns[column]?.codeCount ?? 0) * width);
          cells.set(key, own);
        }
        const cell = own.subarray(code * width, (code + 1) * width);
        cell[width - 1] = (cell[width - 1] as number) + sumAt(group, 0);
        if (classes !== undefined) {
          this.#addClass(cell, group);
          return;
        }
        const { mean } = (open[node] as OpenNode).stats;
        const weight = sumAt(group, 1);
        cell[0] = weight / weightTotal;
        cell[1] = (sumAt(group, 2) - weight * (mean - this.#center)) / weightTotal;
      },
    );
    return open.map(({ stats }, node) => {
      this.#context.checkCancelled();
      let best: SplitCandidate | undefined;
      for (const column of columns) {
        const own = cells.get(`${node},${column}`);
        if (own === undefined) continue;
        const { f64 } = this.#workspace.memory.get(0);
        f64.set(own, this.#search.cells >>> 3);
        best = this.#search.betterOf(best, this.#search.search(stats, column), stats);
      }
      return best;
    });
  }

  get #workspace(): Workspace {
    return this.#context.workspace;
  }

  /** Makes a node an inner one. @returns what becomes of its rows, by outcome */
  #split(
    { index, stats }: OpenNode,
    branch: Branch,
    candidate: SplitCandidate,
  ): { readonly outcome: number; readonly branch: Branch }[] {
    const { feature, codeCount } = this.#coded.columns[candidate.column] as CodedRows['columns'][0];
    const { first, last, operand } = this.#search.testOf(candidate);
    const score = this.#search.scoreOf(candidate, stats);
    this.#builder.setTest(index, candidate.test, feature, operand, score);
    const sides: Side[] = [0, 1, 2].map(() => ({
      codes: new Uint8Array(codeCount),
      branch: openBranch(),
    }));
    // A test for presence decides every row: what is missing is not present.
    const missing = candidate.test === TEST_PRESENT ? 1 : 2;
    for (let code = 0; code < codeCount; code++) {
      const outcome = code === 0 ? missing : code >= first && code <= last ? 0 : 1;
      (sides[outcome] as Side).codes[code] = 1;
    }
    branch.fork = { column: candidate.column, sides };
    return sides.map(({ branch: side }, outcome) => ({ outcome, branch: side }));
  }
}
