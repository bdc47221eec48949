// Kernels that grow decision trees and walk through trees.
import { describe, expect, test } from 'vitest';
import {
  NODE_LEAF,
  NODE_SIZE,
  NODE_STOPS_MISSING,
  SET_NODE_COLUMN_BITS,
  SET_SIZE,
  TREE_ENTRY,
  TREE_ENTRY_SIZE,
} from '../../../src/kernel/generated.ts';
import { type Draw, kernels, put, read, repeat, room } from './support.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((total, x) => total + x, 0);
const zeros = (length: number): number => put(new Float64Array(length));
const doubles = (address: number, length: number): number[] => [
  ...read(Float64Array, address, length),
];
const at = (numbers: ArrayLike<number>, index: number): number => numbers[index] as number;

const ROW_COUNT = 20;
const CODE_COUNT = 5;

/** Some rows of a column with labels, targets and weights, all small integers. */
function rowsOf(draw: Draw) {
  const labelCount = draw.integer(2, 3);
  const labels = Uint16Array.from(draw.list(ROW_COUNT, () => draw.integer(0, labelCount - 1)));
  const weights = Float64Array.from(draw.list(ROW_COUNT, () => draw.integer(1, 4)));
  const targets = Float64Array.from(draw.list(ROW_COUNT, () => draw.integer(-4, 4)));
  const pairs = Float64Array.from(draw.list(ROW_COUNT * labelCount, () => draw.integer(0, 4)));
  const column = Uint8Array.from(draw.list(ROW_COUNT, () => draw.integer(0, CODE_COUNT - 1)));
  const rows = [...labels.keys()].filter(() => draw.chance(0.7));
  return {
    ...{ labelCount, labels, weights, targets, pairs, column, rows },
    rowsAt: put(Uint32Array.from(rows)),
    labelsAt: put(labels),
    weightsAt: put(weights),
    targetsAt: put(targets),
    pairsAt: put(pairs),
    columnAt: put(column),
  };
}

type Rows = ReturnType<typeof rowsOf>;

/** Weights of the labels of some rows, and how many rows. */
const classCell = ({ labelCount, labels, weights }: Rows, rows: readonly number[]): number[] => [
  ...Array.from({ length: labelCount }, (_, label) =>
    sum(rows.filter((row) => labels[row] === label).map((row) => at(weights, row))),
  ),
  rows.length,
];

const pairCell = ({ labelCount, labels, pairs }: Rows, rows: readonly number[]): number[] => {
  const weightOf = (row: number, label: number) => at(pairs, row * labelCount + label);
  const cells = Array.from({ length: labelCount }, (_, label) => [
    sum(rows.filter((row) => labels[row] === label).map((row) => weightOf(row, label))),
    sum(rows.filter((row) => labels[row] !== label).map((row) => weightOf(row, label))),
  ]);
  return [...cells.flat(), rows.length];
};

const targetCell = (
  { targets, weights }: Rows,
  rows: readonly number[],
  mean: number,
): number[] => [
  sum(rows.map((row) => at(weights, row))),
  sum(rows.map((row) => at(weights, row) * (at(targets, row) - mean))),
  rows.length,
];

/** The cells of all codes of the column. */
const cellsOf = (data: Rows, cell: (rows: readonly number[]) => number[]): number[][] =>
  Array.from({ length: CODE_COUNT }, (_, code) =>
    cell(data.rows.filter((row) => data.column[row] === code)),
  );

describe('sums of rows', () => {
  test('splitTotals and splitHistogram', () => {
    repeat((draw) => {
      const data = rowsOf(draw);
      const { rows, rowsAt, labelsAt, weightsAt, labelCount, columnAt } = data;
      const [totals, cells] = [zeros(labelCount + 1), zeros((labelCount + 1) * CODE_COUNT)];
      kernels.splitTotals(rowsAt, rows.length, labelsAt, weightsAt, labelCount, totals);
      expect(doubles(totals, labelCount + 1)).toEqual(classCell(data, rows));
      kernels.splitHistogram(
        ...([rowsAt, rows.length, columnAt, labelsAt, weightsAt, labelCount, cells] as const),
      );
      const plain = cellsOf(data, (some) => classCell(data, some)).flat();
      expect(doubles(cells, plain.length)).toEqual(plain);
    });
  });

  test('splitPairTotals and splitPairHistogram', () => {
    repeat((draw) => {
      const data = rowsOf(draw);
      const { rows, rowsAt, labelsAt, pairsAt, labelCount, columnAt } = data;
      const size = labelCount * 2 + 1;
      const [totals, cells] = [zeros(size), zeros(size * CODE_COUNT)];
      kernels.splitPairTotals(rowsAt, rows.length, labelsAt, pairsAt, labelCount, totals);
      expect(doubles(totals, size)).toEqual(pairCell(data, rows));
      kernels.splitPairHistogram(
        ...([rowsAt, rows.length, columnAt, labelsAt, pairsAt, labelCount, cells] as const),
      );
      const plain = cellsOf(data, (some) => pairCell(data, some)).flat();
      expect(doubles(cells, plain.length)).toEqual(plain);
    });
  });

  test('splitTargetTotals, splitVariance, splitTargetHistogram', () => {
    repeat((draw) => {
      const data = rowsOf(draw);
      const { rows, rowsAt, targets, targetsAt, weights, weightsAt, columnAt } = data;
      const mean = draw.integer(-2, 2);
      const [totals, cells] = [zeros(5), zeros(3 * CODE_COUNT)];
      kernels.splitTargetTotals(rowsAt, rows.length, targetsAt, weightsAt, totals);
      const [weight, weighted] = targetCell(data, rows, 0);
      const mine = rows.map((row) => at(targets, row));
      const ends = [Math.min(...mine), Math.max(...mine)];
      expect(doubles(totals, 5).map((x) => x + 0)).toEqual([
        ...([weight, (weighted as number) + 0, ...ends.map((x) => x + 0), rows.length] as number[]),
      ]);
      const variance = sum(rows.map((row) => at(weights, row) * (at(targets, row) - mean) ** 2));
      expect(kernels.splitVariance(rowsAt, rows.length, targetsAt, weightsAt, mean)).toBe(variance);
      kernels.splitTargetHistogram(
        ...([rowsAt, rows.length, columnAt, targetsAt, weightsAt, mean, cells] as const),
      );
      const plain = cellsOf(data, (some) => targetCell(data, some, mean)).flat();
      expect(doubles(cells, plain.length).map((x) => x + 0)).toEqual(plain.map((x) => x + 0));
    });
  });
});

describe('splitSearch', () => {
  const scoreOf = (kind: string, cell: readonly number[]): number => {
    const weights = cell.slice(0, -1);
    if (kind === 'targets') {
      const [weight, weighted] = weights as [number, number];
      return weight > 0 ? -(weighted ** 2) / weight : 0;
    }
    if (kind === 'pairs') {
      return sum(
        weights.map((weight, i) => (i % 2 === 0 ? Math.sqrt(weight * at(weights, i + 1)) : 0)),
      );
    }
    const total = sum(weights);
    return sum(weights.map((weight) => Math.sqrt(weight * (total - weight))));
  };

  test.each(['classes', 'pairs', 'targets'])('finds the best test of %s', (kind) => {
    repeat((draw) => {
      const data = rowsOf(draw);
      const { labelCount } = data;
      const cells = cellsOf(data, (rows) => {
        if (kind === 'classes') return classCell(data, rows);
        return kind === 'pairs' ? pairCell(data, rows) : targetCell(data, rows, 0);
      });
      const isOrdered = draw.integer(0, 1);
      const equalMax = draw.integer(1, CODE_COUNT);
      const size = (cells[0] as number[]).length;
      const [scratch, result] = [room((size + 1) * 8 * (CODE_COUNT + 4)), room(24)];
      const labels = { classes: labelCount, pairs: -labelCount, targets: 0 }[kind] as number;
      kernels.splitSearch(
        ...([put(Float64Array.from(cells.flat())), CODE_COUNT, labels, isOrdered] as const),
        ...([equalMax, 1e-9, scratch, result] as const),
      );
      const rowsIn = (codes: readonly number[]) =>
        sum(codes.map((code) => at(cells[code] as number[], size - 1)));
      const joined = (codes: readonly number[]) =>
        Array.from({ length: size }, (_, k) =>
          sum(codes.map((code) => at(cells[code] as number[], k))),
        );
      const present = [1, 2, 3, 4].filter((code) => rowsIn([code]) > 0);
      const tests: { kind: number; low: number; high: number; parts: number[][] }[] = [];
      if (present.length > 0 && rowsIn([0]) > 0) {
        tests.push({ kind: 1, low: 0, high: 1, parts: [present] });
      }
      for (const [i, code] of present.entries()) {
        if (isOrdered === 1 && i > 0) {
          const parts = [present.slice(0, i), present.slice(i)];
          tests.push({ kind: 2, low: at(present, i - 1), high: code, parts });
        }
        const others = present.filter((other) => other !== code);
        if (isOrdered === 0 && code <= equalMax && others.length > 0) {
          tests.push({ kind: 3, low: code, high: code, parts: [[code], others] });
        }
      }
      let best = { kind: 0, low: 0, high: 0, score: Infinity };
      for (const { parts, ...rest } of tests) {
        const score = sum([[0], ...parts].map((codes) => scoreOf(kind, joined(codes))));
        if (score < best.score - 1e-9) best = { ...rest, score };
      }
      const [found] = doubles(result, 1);
      if (best.kind === 0) expect(found).toBe(Infinity);
      else expect(found).toBeCloseTo(best.score, 9);
      const numbers = [...read(Int32Array, result + 8, 3)];
      expect(numbers).toEqual([best.kind, best.low, best.high]);
    });
  });
});

test('splitRows parts into true, false and missing', () => {
  repeat((draw) => {
    const { rows, rowsAt, column, columnAt } = rowsOf(draw);
    const [first, last] = [draw.integer(1, 3), draw.integer(1, 4)];
    const counts = room(12);
    kernels.splitRows(rowsAt, rows.length, columnAt, first, last, room(rows.length * 4), counts);
    const codeOf = (row: number) => at(column, row);
    const parts = [
      rows.filter((row) => codeOf(row) >= first && codeOf(row) <= last),
      rows.filter((row) => codeOf(row) !== 0 && (codeOf(row) < first || codeOf(row) > last)),
      rows.filter((row) => codeOf(row) === 0),
    ];
    expect([...read(Int32Array, counts, 3)]).toEqual(parts.map((part) => part.length));
    expect([...read(Uint32Array, rowsAt, rows.length)]).toEqual(parts.flat());
  });
});

interface Node {
  readonly column: number;
  /** codes that go right */
  readonly right: readonly number[];
  readonly threshold: number;
  readonly offset: number;
  readonly stops: boolean;
  readonly children: readonly [Node, Node] | undefined;
  readonly values: readonly number[];
}

const COLUMN_COUNT = 4;
const CODES = Array.from({ length: 256 }, (_, code) => code);

function grow(draw: Draw, width: number, depth: number): Node {
  const [threshold, offset] = [draw.integer(0, 3), draw.integer(0, 1)];
  const isInner = depth > 0 && draw.chance(0.8);
  return {
    column: isInner ? draw.integer(0, COLUMN_COUNT - 1) : 0,
    ...{ threshold, offset },
    right: CODES.filter((code) => ((code - offset) & 255) > threshold),
    stops: draw.chance(0.3),
    children: isInner ? [grow(draw, width, depth - 1), grow(draw, width, depth - 1)] : undefined,
    values: draw.list(width, () => draw.integer(-9, 9)),
  };
}

const depthOf = ({ children }: Node): number =>
  children === undefined ? 0 : 1 + Math.max(...children.map(depthOf));

/** Nodes breadth first, the children of each side by side. */
function nodesOf(root: Node): Node[] {
  const nodes = [root];
  for (const { children } of nodes) if (children !== undefined) nodes.push(...children);
  return nodes;
}

/**
 * Writes a tree; with sets its nodes name the codes that go right.
 * @param sets those of all trees of an ensemble, to which its own are added; the first is empty
 */
function writeTree(root: Node, sets: Uint8Array[] | undefined) {
  const nodes = nodesOf(root);
  const words = new Uint32Array(nodes.length * 2);
  for (const [i, { column, right, threshold, offset, stops, children }] of nodes.entries()) {
    if (children === undefined) {
      words[2 * i] = sets === undefined ? NODE_LEAF : 0;
      continue;
    }
    words[2 * i + 1] = nodes.indexOf(children[0]) - i;
    if (sets !== undefined) {
      words[2 * i] = column | (sets.length << SET_NODE_COLUMN_BITS);
      const set = new Uint8Array(SET_SIZE);
      for (const code of right) set[code >> 3] = at(set, code >> 3) | (1 << (code & 7));
      sets.push(set);
    } else
      words[2 * i] = column | (stops ? NODE_STOPS_MISSING : 0) | (threshold << 16) | (offset << 24);
  }
  const values = Float64Array.from(nodes.flatMap((node) => node.values));
  return { nodes: put(words), values: put(values), depth: depthOf(root) };
}

/** The node where the walk of a row ends. */
function leafOf(root: Node, codes: ArrayLike<number>, hasSets: boolean): Node {
  const { children, column, right, stops } = root;
  if (children === undefined) return root;
  const code = at(codes, column);
  if (!hasSets && code === 0 && stops) return root;
  return leafOf(children[right.includes(code) ? 1 : 0], codes, hasSets);
}

describe('ensembles', () => {
  test.each([false, true])('ensembleRows and ensembleRow, with sets: %s', (hasSets) => {
    repeat((draw) => {
      const [width, treeCount, rowCount] = [
        draw.integer(1, 2),
        draw.integer(0, 11),
        draw.integer(0, 19),
      ];
      const hasSlots = draw.chance(0.5);
      const trees = draw.list(treeCount, () => ({
        root: grow(draw, hasSlots ? 1 : width, 4),
        slot: hasSlots ? draw.integer(0, width - 1) : -1,
        weight: draw.integer(1, 3),
      }));
      const table = new DataView(new ArrayBuffer(TREE_ENTRY_SIZE * treeCount));
      const sets = hasSets ? [new Uint8Array(SET_SIZE)] : undefined;
      const written = trees.map(({ root, slot, weight }) => {
        return { ...writeTree(root, sets), slot, weight, unused: 0 };
      });
      const setsAt = sets === undefined ? 0 : put(Uint8Array.from(sets.flatMap((set) => [...set])));
      for (const [i, tree] of written.entries()) {
        const fields = { ...tree, sets: setsAt };
        for (const [field, offset] of Object.entries(TREE_ENTRY)) {
          const place = i * TREE_ENTRY_SIZE + offset;
          if (field === 'weight') table.setFloat64(place, tree.weight, true);
          else table.setInt32(place, fields[field as keyof typeof TREE_ENTRY], true);
        }
      }
      // Now and then a whole group of rows without a missing value.
      const least = draw.integer(0, 1);
      const rows = draw.list(rowCount, () => draw.list(COLUMN_COUNT, () => draw.integer(least, 6)));
      const plain = rows.map((codes) =>
        Array.from({ length: width }, (_, k) =>
          sum(
            trees.map(({ root, slot, weight }) => {
              if (slot >= 0 && slot !== k) return 0;
              return weight * at(leafOf(root, codes, hasSets).values, slot >= 0 ? 0 : k);
            }),
          ),
        ),
      );
      const [tableAt, codesAt] = [
        put(new Uint8Array(table.buffer)),
        put(Uint8Array.from(rows.flat())),
      ];
      const out = zeros(rowCount * width);
      const flags = room(rowCount / 8 + 8);
      kernels.ensembleRows(
        ...([tableAt, treeCount, width, codesAt, COLUMN_COUNT, rowCount, out, flags] as const),
      );
      expect(doubles(out, rowCount * width).map((x) => x + 0)).toEqual(
        plain.flat().map((x) => x + 0),
      );
      for (const [i, expected] of plain.entries()) {
        const one = zeros(width);
        const row = codesAt + i * COLUMN_COUNT;
        kernels.ensembleRow(tableAt, treeCount, width, row, COLUMN_COUNT, one);
        expect(doubles(one, width).map((x) => x + 0)).toEqual(expected.map((x) => x + 0));
      }
    });
  });

  test('forestCopy goes breadth first and makes distances of numbers', () => {
    repeat((draw) => {
      const root = grow(draw, 1, 4);
      // Children side by side, in the order in which a depth-first walk meets them.
      const nodes = [root];
      const visit = ({ children }: Node): void => {
        if (children === undefined) return;
        nodes.push(...children);
        children.forEach(visit);
      };
      visit(root);
      const source = nodes.flatMap(({ children, threshold }, i) => [
        threshold,
        children === undefined ? i : nodes.indexOf(children[0]),
      ]);
      const values = Float64Array.from(nodes, (node) => at(node.values, 0));
      const covers = Float32Array.from(nodes, (_, i) => i);
      const count = nodes.length;
      const [out, outValues, outCovers] = [
        room(count * NODE_SIZE),
        room(count * 8),
        room(count * 4),
      ];
      kernels.forestCopy(
        ...([put(Uint32Array.from(source)), put(values), put(covers), count] as const),
        ...([out, outValues, outCovers, room(count * 4 + 8)] as const),
      );
      const order = nodesOf(root);
      const words = read(Int32Array, out, count * 2);
      for (const [i, node] of order.entries()) {
        const child = node.children === undefined ? i : order.indexOf(node.children[0]);
        expect([words[2 * i], words[2 * i + 1]]).toEqual([node.threshold, child - i]);
      }
      expect(doubles(outValues, count)).toEqual(order.map((node) => at(node.values, 0)));
      const numbers = order.map((node) => nodes.indexOf(node));
      expect([...read(Float32Array, outCovers, count)]).toEqual(numbers);
    });
  });
});
