// The forest kernel written plainly: every tree as nested objects, no shared memory.
import type { ForestOptions } from '../../../../src/learn/forest/options.ts';
import { Random } from '../../../../src/learn/random.ts';

export interface PlainNode {
  readonly value: number;
  readonly cover: number;
  readonly test?: { column: number; threshold: number; offset: number; stops: boolean };
  readonly left?: PlainNode;
  readonly right?: PlainNode;
}

interface Drawn {
  readonly row: number;
  readonly weight: number;
  readonly label: number;
}

type Pair = readonly [number, number];

export function plainTree(
  columns: readonly (readonly number[])[],
  labels: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
  options: ForestOptions,
  treeIndex: number,
): PlainNode {
  const { randomSeed, featureSamplings } = options;
  const rowRandom = Random.of(randomSeed, 1, Math.floor(treeIndex / featureSamplings));
  const featureRandom = Random.of(randomSeed, 2, treeIndex);
  const nodeRandom = Random.of(randomSeed, 3, treeIndex);
  const rowCount = labels.length;
  const times = new Array<number>(rowCount).fill(0);
  const drawCount = Math.ceil(options.featureVectorSamplingProp * rowCount);
  for (let i = 0; i < drawCount; i++) {
    const row = rowRandom.below(rowCount);
    times[row] = (times[row] as number) + 1;
  }
  const drawn = times.flatMap((count, row): Drawn[] =>
    count === 0
      ? []
      : [{ row, weight: count * (weights?.[row] ?? 1), label: labels[row] as number }],
  );
  const seen = columns.map(() => featureRandom.uniform() < options.featureSamplingProp);
  const kept = [...columns.keys()].filter((column) => seen[column]);
  const perNode = Math.min(options.featuresPerNode ?? kept.length, kept.length);
  const order = [...kept];

  const grow = (rows: readonly Drawn[], depth: number): PlainNode => {
    const [zeros, ones] = sums(rows);
    const leaf = { value: ones / (zeros + ones), cover: Math.fround(zeros + ones) };
    if (depth >= options.maxDepth || rows.length < 2 || zeros === 0 || ones === 0) return leaf;
    const search = new Search([zeros, ones]);
    const look = (column: number) => search.look(column, rows, columns[column] as number[]);
    if (perNode >= kept.length) {
      for (const column of kept) look(column);
    } else {
      for (let k = 0; k < kept.length && (k < perNode || search.test === undefined); k++) {
        const at = k + nodeRandom.below(kept.length - k);
        const column = order[at] as number;
        order[at] = order[k] as number;
        order[k] = column;
        look(column);
      }
    }
    const { test } = search;
    if (test === undefined) return leaf;
    const codes = columns[test.column] as number[];
    const goesRight = ({ row }: Drawn) =>
      (((codes[row] as number) - test.offset) & 0xff) > test.threshold;
    const left = rows.filter((drawn) => !goesRight(drawn));
    const right = rows.filter(goesRight);
    return { ...leaf, test, left: grow(left, depth + 1), right: grow(right, depth + 1) };
  };
  return grow(drawn, 0);
}

class Search {
  readonly #total: Pair;
  #best: number;
  test: PlainNode['test'];

  constructor(total: Pair) {
    this.#total = total;
    this.#best = Math.sqrt(total[0] * total[1]) * (1 - 1e-9);
  }

  look(column: number, rows: readonly Drawn[], codes: readonly number[]): void {
    const groups = new Map<number, Drawn[]>();
    for (const drawn of rows) {
      const code = codes[drawn.row] as number;
      groups.set(code, [...(groups.get(code) ?? []), drawn]);
    }
    const present = [...groups.keys()].filter((code) => code > 0).sort((a, b) => a - b);
    const missing = groups.get(0);
    const lost: Pair = missing === undefined ? [0, 0] : sums(missing);
    if (missing !== undefined) {
      this.#offer(lost, { column, threshold: 0, offset: 0, stops: false });
    }
    let left: Pair = [0, 0];
    for (const code of present.slice(0, -1)) {
      left = add(left, sums(groups.get(code) as Drawn[]));
      const stops = missing === undefined;
      this.#offer(add(left, lost), { column, threshold: code, offset: 0, stops });
      if (!stops) this.#offer(left, { column, threshold: code - 1, offset: 1, stops });
    }
  }

  #offer(left: Pair, test: NonNullable<PlainNode['test']>): void {
    const right: Pair = [this.#total[0] - left[0], this.#total[1] - left[1]];
    const score = Math.sqrt(left[0] * left[1]) + Math.sqrt(right[0] * right[1]);
    if (score >= this.#best) return;
    this.#best = score;
    this.test = test;
  }
}

function sums(rows: readonly Drawn[]): Pair {
  let zeros = 0;
  let ones = 0;
  for (const { weight, label } of rows) {
    if (label === 1) ones += weight;
    else zeros += weight;
  }
  return [zeros, ones];
}

function add(a: Pair, b: Pair): Pair {
  return [a[0] + b[0], a[1] + b[1]];
}
