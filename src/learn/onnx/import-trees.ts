// Trees of ONNX models as trees over codes of features.
import { failure } from '../../util/error.ts';
import {
  BOUNDARIES_PER_COLUMN,
  CATEGORIES_PER_COLUMN,
  type Feature,
  MISSING_CODE,
} from '../feature/feature.ts';
import type { PackableTree } from '../gbt/pack.ts';
import type { CodeColumn } from '../tree/ensemble.ts';
import type { JobContext } from '../workspace.ts';
import type { GraphColumn, TreeSums } from './read-graph.ts';
import { passes } from './tree-operator.ts';

/** What a sum of the imported model is made of: outputs of the leaves, and what they count. */
export interface OutputTerms {
  readonly terms: readonly (readonly [output: number, factor: number])[];
  readonly constant: number;
}

/** A test, as what passes: numbers of [low, high), or one category; and whether missing ones do. */
type Test =
  | { readonly kind: 'range'; readonly low: number; readonly high: number; readonly isIn: boolean }
  | { readonly kind: 'category'; readonly category: string; readonly isIn: boolean }
  /** the same for all that are there */
  | { readonly kind: 'all'; readonly isIn: boolean };

interface Split {
  readonly input: number;
  readonly test: Test;
  readonly missingPasses: boolean;
}

export interface ImportedTrees {
  /** one a feature, in the order of `names` */
  readonly features: readonly Feature[];
  readonly columns: readonly CodeColumn[];
  readonly trees: readonly PackableTree[];
}

const CODE_COUNT = 256;

/**
 * @param names of the inputs; positions of inputs are positions here
 * @param outputs what the values of a node are
 * @throws DATA_ERROR when it is no forest, or tests what features cannot tell
 */
export function importTrees(
  sums: TreeSums,
  names: readonly string[],
  isText: readonly boolean[],
  outputs: readonly OutputTerms[],
  scope: JobContext,
): ImportedTrees {
  const splits = sums.list.modes.map((mode, at): Split | undefined =>
    mode === 'LEAF' ? undefined : splitOf(sums, at),
  );
  const features = featuresOf(splits, names, isText);
  const coder = new Coder(features);
  const trees = sums.list.roots.map((root) => {
    scope.checkCancelled();
    return importTree(sums, root, splits, coder, outputs);
  });
  if (trees.length === 0) throw failure('DATA_ERROR', 'the tree ensemble has no tree');
  const nodeCount = trees.reduce((sum, tree) => sum + tree.columns.length, 0);
  if (nodeCount !== sums.list.modes.length) throw aCircle();
  return { features, columns: coder.columns, trees };
}

function splitOf({ list, columns }: TreeSums, at: number): Split {
  const mode = list.modes[at] as string;
  const value = list.values[at] as number;
  const column = columns[list.features[at] as number] as GraphColumn;
  const { input } = column;
  switch (column.kind) {
    case 'text':
      throw failure('DATA_ERROR', `a tree tests input ${input}, a text, as a number`);
    case 'flag': {
      const [yes, no] = [passes(mode, 1, value), passes(mode, 0, value)];
      const test: Test =
        yes === no
          ? { kind: 'all', isIn: yes }
          : { kind: 'category', category: column.category, isIn: yes };
      // A missing text is no category.
      return { input, test, missingPasses: no };
    }
    case 'number': {
      const { imputed, offset, scale } = column;
      const missingPasses =
        imputed === undefined
          ? list.missingTrue[at] === 1
          : passes(mode, (imputed - offset) * scale, value);
      return { input, test: rangeOf(mode, value, column), missingPasses };
    }
  }
}

/** The numbers x for which (x - offset) * scale passes. */
function rangeOf(
  mode: string,
  value: number,
  { isFloat, offset, scale }: GraphColumn & { kind: 'number' },
): Test {
  if (Number.isNaN(value)) return { kind: 'all', isIn: mode === 'BRANCH_NEQ' };
  const isPlain = scale === 1 && offset === 0;
  if (scale < 0) {
    throw failure('DATA_ERROR', 'a tree tests an input that was scaled by a negative number');
  }
  const limit = isPlain ? value : value / scale + offset;
  const isRounded = isFloat && isPlain;
  const low = -Infinity;
  const at = isRounded ? firstRoundedTo(limit) : limit;
  const above = isRounded ? firstRoundedAbove(limit) : nextUp(limit);
  switch (mode) {
    case 'BRANCH_LT':
      return { kind: 'range', low, high: at, isIn: true };
    case 'BRANCH_LEQ':
      return { kind: 'range', low, high: above, isIn: true };
    case 'BRANCH_GTE':
      return { kind: 'range', low, high: at, isIn: false };
    case 'BRANCH_GT':
      return { kind: 'range', low, high: above, isIn: false };
    default:
      return { kind: 'range', low: at, high: above, isIn: mode === 'BRANCH_EQ' };
  }
}

const BITS = new DataView(new ArrayBuffer(8));

/** The smallest double above a number. */
export function nextUp(x: number): number {
  if (x === Number.POSITIVE_INFINITY || Number.isNaN(x)) return x;
  if (x === 0) return Number.MIN_VALUE;
  BITS.setFloat64(0, x);
  BITS.setBigInt64(0, BITS.getBigInt64(0) + (x > 0 ? 1n : -1n));
  return BITS.getFloat64(0);
}

function nextFloatUp(x: number): number {
  if (x === Number.POSITIVE_INFINITY) return x;
  if (x === 0) return 2 ** -149;
  BITS.setFloat32(0, x);
  BITS.setInt32(0, BITS.getInt32(0) + (x > 0 ? 1 : -1));
  return BITS.getFloat32(0);
}

/** The smallest double that becomes a float above `limit` when it is rounded. */
export function firstRoundedAbove(limit: number): number {
  const rounded = Math.fround(limit);
  const below = rounded > limit ? -nextFloatUp(-rounded) : rounded;
  return firstRoundedFrom(below, nextFloatUp(below));
}

/** The smallest double that becomes `limit` or more when it is rounded to a float. */
export function firstRoundedTo(limit: number): number {
  const rounded = Math.fround(limit);
  const from = rounded < limit ? nextFloatUp(rounded) : rounded;
  return firstRoundedFrom(-nextFloatUp(-from), from);
}

/** Of two neighbouring floats: the smallest double that becomes the upper one. */
function firstRoundedFrom(below: number, above: number): number {
  if (!Number.isFinite(below) || !Number.isFinite(above)) return above;
  const middle = below / 2 + above / 2;
  return Math.fround(middle) > below ? middle : nextUp(middle);
}

function featuresOf(
  splits: readonly (Split | undefined)[],
  names: readonly string[],
  isText: readonly boolean[],
): Feature[] {
  const limits = names.map(() => new Set<number>());
  /** ends of ranges that begin at a boundary of their own */
  const ends = names.map(() => new Map<number, number>());
  const categories = names.map(() => new Set<string>());
  for (const split of splits) {
    if (split === undefined) continue;
    const { input, test } = split;
    if (test.kind === 'category') categories[input]?.add(test.category);
    if (test.kind !== 'range') continue;
    if (Number.isFinite(test.high)) limits[input]?.add(test.high);
    if (!Number.isFinite(test.low)) continue;
    limits[input]?.add(test.low);
    ends[input]?.set(test.high, test.low);
  }
  return names.map((name, input): Feature => {
    const texts = categories[input] as Set<string>;
    const numbers = limits[input] as Set<number>;
    if (texts.size === 0 && !isText[input]) {
      const boundaries = placeBoundaries(numbers, ends[input] as Map<number, number>);
      return { kind: 'numeric', name, boundaries, hasMissing: true };
    }
    if (numbers.size > 0) {
      throw failure('DATA_ERROR', `the model reads input '${name}' as number and as category`);
    }
    return {
      ...{ kind: 'categorical', name, coding: 'each', hasMissing: true },
      categories: [...texts],
      columnCount: Math.max(1, Math.ceil(texts.size / CATEGORIES_PER_COLUMN)),
      buckets: new Uint8Array(),
    };
  });
}

/** Ascending; both ends of a range stand in one column, where need be once more. */
function placeBoundaries(limits: Set<number>, ends: ReadonlyMap<number, number>): Float64Array {
  const placed: number[] = [];
  for (const limit of [...limits].sort((a, b) => a - b)) {
    const low = ends.get(limit);
    const startsColumn = placed.length % BOUNDARIES_PER_COLUMN === 0;
    if (low !== undefined && startsColumn && placed.length > 0) placed.push(low);
    placed.push(limit);
  }
  return Float64Array.from(placed);
}

/** Tests as codes of columns. */
class Coder {
  readonly columns: CodeColumn[] = [];
  readonly #columnIds = new Map<string, number>();
  readonly #positions: readonly ReadonlyMap<string | number, number>[];

  constructor(features: readonly Feature[]) {
    this.#positions = features.map((feature) => {
      if (feature.kind === 'unused') return new Map();
      const list: ArrayLike<string | number> =
        feature.kind === 'numeric' ? feature.boundaries : feature.categories;
      return new Map(Array.from(list, (each, index) => [each, index]));
    });
  }

  /** The column, and a flag a code: 1 where the test does not hold. */
  code({ input, test, missingPasses }: Split): readonly [column: number, right: Uint8Array] {
    const right = new Uint8Array(CODE_COUNT);
    const set = (from: number, to: number, isIn: boolean) => {
      for (let code = 1; code < CODE_COUNT; code++) {
        right[code] = Number((code >= from && code <= to) !== isIn);
      }
    };
    let part = 0;
    const positions = this.#positions[input] as ReadonlyMap<string | number, number>;
    if (test.kind === 'category') {
      const index = positions.get(test.category) as number;
      part = Math.floor(index / CATEGORIES_PER_COLUMN);
      const code = (index % CATEGORIES_PER_COLUMN) + 1;
      set(code, code, test.isIn);
    } else if (test.kind === 'range' && Number.isFinite(test.high)) {
      const index = positions.get(test.high) as number;
      part = Math.floor(index / BOUNDARIES_PER_COLUMN);
      const below = (index % BOUNDARIES_PER_COLUMN) + 1;
      set(Number.isFinite(test.low) ? below : 1, below, test.isIn);
    } else {
      // Up to infinity: every number, or none.
      const isIn = test.kind === 'all' ? test.isIn : test.isIn === test.high > 0;
      set(1, CODE_COUNT, isIn);
    }
    right[MISSING_CODE] = Number(!missingPasses);
    return [this.#columnOf(input, part), right];
  }

  #columnOf(feature: number, part: number): number {
    const key = `${feature} ${part}`;
    const known = this.#columnIds.get(key);
    if (known !== undefined) return known;
    const id = this.columns.push({ feature, part }) - 1;
    this.#columnIds.set(key, id);
    return id;
  }
}

function aCircle(): Error {
  return failure('DATA_ERROR', 'a tree of the ensemble is a circle');
}

/** Breadth first; the left child is where the test holds. Inner nodes say the mean of theirs. */
function importTree(
  sums: TreeSums,
  root: number,
  splits: readonly (Split | undefined)[],
  coder: Coder,
  outputs: readonly OutputTerms[],
): PackableTree {
  const { covers: rates, factor, list, only } = sums;
  const width = outputs.length;
  const origins: number[] = [root];
  const tree = {
    columns: [] as number[],
    rights: [] as (Uint8Array | undefined)[],
    lefts: [] as number[],
    values: [] as number[],
    covers: [1],
  };
  for (let node = 0; node < origins.length; node++) {
    if (origins.length > list.modes.length) {
      throw aCircle();
    }
    const origin = origins[node] as number;
    if (rates.length > 0) tree.covers[node] = rates[origin] as number;
    const split = splits[origin];
    if (split === undefined) {
      const says = new Map<number, number>();
      for (const [output, weight] of list.outputs[origin] ?? []) {
        const to = only === undefined ? output : 0;
        says.set(to, (says.get(to) ?? 0) + weight * factor);
      }
      for (const { terms } of outputs) {
        const value = terms.reduce(
          (sum, [output, sign]) => sum + sign * (says.get(output) ?? 0),
          0,
        );
        tree.values.push(value);
      }
      tree.columns.push(-1);
      tree.rights.push(undefined);
      tree.lefts.push(node);
      continue;
    }
    const [column, right] = coder.code(split);
    const left = origins.length;
    origins.push(list.whenTrue[origin] as number, list.whenFalse[origin] as number);
    // Where the file does not tell how many rows went either way, as many did.
    const half = (tree.covers[node] as number) / 2;
    tree.covers.push(half, half);
    tree.columns.push(column);
    tree.rights.push(right);
    tree.lefts.push(left);
    for (let k = 0; k < width; k++) tree.values.push(0);
  }
  for (let node = origins.length - 1; node >= 0; node--) {
    const left = tree.lefts[node] as number;
    if (left === node) continue;
    const own = [tree.covers[left] as number, tree.covers[left + 1] as number] as const;
    const total = own[0] + own[1];
    const share = total > 0 ? own[0] / total : 0.5;
    for (let k = 0; k < width; k++) {
      const [a, b] = [tree.values[left * width + k], tree.values[(left + 1) * width + k]];
      tree.values[node * width + k] = share * (a as number) + (1 - share) * (b as number);
    }
  }
  return tree;
}
