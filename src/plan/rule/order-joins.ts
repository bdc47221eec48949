// Inner joins of many tables run in the order that is estimated to make the fewest rows, whatever
// the order in which they were written; tables that no condition connects come last. Where the names
// of the rows may be looked at, above GROUP BY and DISTINCT, only to avoid that all pairs of two
// tables are made, and the rows get the names that they have as written.
// All left-deep orders are compared, as in Selinger et al., "Access path selection in a relational
// database management system", SIGMOD 1979.

import { someExpression } from '../children.ts';
import { cannotFail, conjunctionOf, conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { expressionsOf, mapInputs } from '../map-plan.ts';
import type { Namespace } from '../namespace.ts';
import type { JoinInput, JoinNode, JoinShapeTree, PlanNode } from '../plan.ts';
import { aliasesOf } from '../scope/join-side.ts';
import { distinctCount, estimateRows } from './estimate.ts';
import type { Rule } from './rule.ts';

/** Orders of more tables than this are too many to compare: they stay as written. */
const TABLE_COUNT_MAX = 12;

export const orderJoins: Rule = {
  name: 'order-joins',
  apply: (root, { namespace }) => order(root, false, namespace),
};

/** `free`: nothing above the node looks at the names or the order of its rows. */
function order(node: PlanNode, free: boolean, namespace: Namespace): PlanNode {
  const below = (isFree: boolean) =>
    mapInputs(node, (input) => order(input, isFree && !readsNames(node), namespace));
  switch (node.kind) {
    case 'aggregate':
    case 'grouping-sets':
    case 'distinct':
      return below(true);
    case 'project':
    case 'filter':
      return below(free);
    case 'join': {
      if (!isPlainInner(node)) return below(free);
      const leaves: JoinInput[] = [];
      const parts: BoundExpression[] = [];
      const shape = collect(node, leaves, parts);
      const ordered = leaves.map((leaf) => ({
        ...leaf,
        input: order(leaf.input, free, namespace),
      }));
      return joinInOrder({ leaves: ordered, parts, shape, free }, namespace) ?? below(free);
    }
    case 'sort':
    case 'limit':
      return below(false);
    default:
      return below(false);
  }
}

function readsNames(node: PlanNode): boolean {
  return expressionsOf(node).some((expression) =>
    someExpression(expression, (part) => part.kind === 'row-function'),
  );
}

function isPlainInner(node: PlanNode): node is JoinNode {
  return (
    node.kind === 'join' &&
    node.joinKind === 'inner' &&
    node.equalities.length === 0 &&
    node.own.left === undefined &&
    node.own.right === undefined
  );
}

/** How tables were joined as written: their numbers, or two parts. */
type Shape = number | readonly [Shape, Shape];

function collect(node: JoinNode, leaves: JoinInput[], parts: BoundExpression[]): Shape {
  const shapeOf = (side: JoinInput): Shape =>
    side.tableCount > 1 && isPlainInner(side.input)
      ? collect(side.input, leaves, parts)
      : leaves.push(side) - 1;
  const shape = [shapeOf(node.left), shapeOf(node.right)] as const;
  if (node.residual !== undefined) parts.push(...conjunctsOf(node.residual));
  return shape;
}

interface Tables {
  readonly leaves: readonly JoinInput[];
  readonly parts: readonly BoundExpression[];
  readonly shape: Shape;
  readonly free: boolean;
}

interface Condition {
  readonly part: BoundExpression;
  /** a bit for each table that it reads */
  readonly tables: number;
  /** the share of pairs for which it holds */
  readonly share: number;
}

/** Rows of a table, about. */
interface Size {
  readonly rowCount: number;
  /** without its filters */
  readonly storedCount: number;
}

interface Candidate {
  readonly leaves: readonly number[];
  readonly rowCount: number;
  readonly cost: number;
}

function joinInOrder(
  { leaves, parts, shape, free }: Tables,
  namespace: Namespace,
): PlanNode | undefined {
  if (leaves.length < 3 || leaves.length > TABLE_COUNT_MAX) return undefined;
  const conditions = parts.map((part) => conditionOf(part, leaves, namespace));
  if (!conditions.every((condition) => condition !== undefined)) return undefined;
  const sizes = leaves.map(({ input }) => ({
    rowCount: Math.max(1, estimateRows(input, namespace)),
    storedCount: Math.max(1, estimateRows(withoutFilters(input), namespace)),
  }));
  const chosen = bestOrder(sizes, conditions);
  const written = leaves.map((_, leaf) => leaf);
  if (chosen === undefined || chosen.cost >= costOf(sizes, conditions)) return undefined;
  if (free) return build(chosen.leaves, leaves, conditions);
  if (crossings(chosen.leaves, conditions) >= crossings(written, conditions)) return undefined;
  const input = build(chosen.leaves, leaves, conditions);
  return { kind: 'rejoin', input, shape: shapeTree(shape, chosen.leaves, leaves) };
}

function withoutFilters(node: PlanNode): PlanNode {
  return node.kind === 'filter' ? withoutFilters(node.input) : node;
}

/** Tables that no condition connects with those before them. */
function crossings(sequence: readonly number[], conditions: readonly Condition[]): number {
  let joined = 0;
  let count = 0;
  for (const leaf of sequence) {
    const bit = 1 << leaf;
    const connects = conditions.some(
      ({ tables }) => (tables & bit) !== 0 && (tables & joined) !== 0,
    );
    if (joined !== 0 && !connects) count++;
    joined |= bit;
  }
  return count;
}

/** Where the tables of the written shape are among those that were joined one by one. */
function shapeTree(
  shape: Shape,
  sequence: readonly number[],
  leaves: readonly JoinInput[],
): JoinShapeTree {
  if (typeof shape !== 'number') {
    const [left, right] = shape.map((part) => shapeTree(part, sequence, leaves));
    return { kind: 'pair', left: left as JoinShapeTree, right: right as JoinShapeTree };
  }
  const place = sequence.indexOf(shape);
  const above = sequence.length - 1 - place;
  const side: JoinSide[] = Array.from({ length: above }, () => 'left');
  if (place > 0) side.push('right');
  return { kind: 'table', side, tableCount: leaves[shape]?.tableCount ?? 1 };
}

function conditionOf(
  part: BoundExpression,
  leaves: readonly JoinInput[],
  namespace: Namespace,
): Condition | undefined {
  const tables = tablesOf(part, leaves);
  if (tables === undefined || !cannotFail(part)) return undefined;
  if (part.kind !== 'comparison' || part.operator !== '=') return { part, tables, share: 1 / 3 };
  const counts = [part.left, part.right].map((side) => {
    const index = leaves.findIndex((_, leaf) => tablesOf(side, leaves) === 1 << leaf);
    const leaf = leaves[index];
    if (leaf === undefined || side.kind !== 'column') return 1;
    const path = leaf.alias === undefined ? side.path : side.path.slice(1);
    return distinctCount(leaf.input, path, namespace);
  });
  return { part, tables, share: 1 / Math.max(1, ...counts) };
}

/** Undefined when it cannot be told which tables an expression reads. */
function tablesOf(part: BoundExpression, leaves: readonly JoinInput[]): number | undefined {
  let tables: number | undefined = 0;
  someExpression(part, (inner) => {
    if (inner.kind === 'row-function' || inner.kind === 'subquery') tables = undefined;
    if (inner.kind !== 'column' || tables === undefined) return false;
    const [alias] = inner.path;
    const index = leaves.findIndex((leaf) => aliasesOf(leaf).includes(alias));
    const isClear = index !== -1 && leaves.every((leaf) => !aliasesOf(leaf).includes(undefined));
    tables = isClear ? tables | (1 << index) : undefined;
    return false;
  });
  return tables;
}

/** The cheapest order by the sum of the rows that its joins make. */
function bestOrder(
  sizes: readonly Size[],
  conditions: readonly Condition[],
): Candidate | undefined {
  let best = new Map<number, Candidate>(
    sizes.map(({ rowCount }, leaf) => [1 << leaf, { leaves: [leaf], rowCount, cost: 0 }]),
  );
  for (let size = 1; size < sizes.length; size++) {
    const next = new Map<number, Candidate>();
    for (const [joined, candidate] of best) {
      const others = sizes.flatMap((_, leaf) => ((joined & (1 << leaf)) === 0 ? leaf : []));
      const connected = others.filter((leaf) =>
        conditions.some(({ tables }) => (tables & (1 << leaf)) !== 0 && (tables & joined) !== 0),
      );
      for (const leaf of connected.length > 0 ? connected : others) {
        const longer = extend(candidate, joined, leaf, sizes, conditions);
        const known = next.get(joined | (1 << leaf));
        if (known === undefined || longer.cost < known.cost) next.set(joined | (1 << leaf), longer);
      }
    }
    best = next;
  }
  return best.values().next().value;
}

function extend(
  { leaves, rowCount, cost }: Candidate,
  joined: number,
  leaf: number,
  sizes: readonly Size[],
  conditions: readonly Condition[],
): Candidate {
  const all = joined | (1 << leaf);
  const closed = conditions.filter(
    ({ tables }) => (tables & ~all) === 0 && (tables & ~joined) !== 0 && tables !== 1 << leaf,
  );
  const shares = [...new Set(closed.map(({ tables }) => tables))]
    .map((tables) => {
      const same = closed.filter((condition) => condition.tables === tables);
      return shareOfKeys(
        same,
        tablesIn(tables).map((table) => sizes[table] as Size),
      );
    })
    .sort((a, b) => a - b);
  // Further conditions say less than they would alone.
  const share = dampedProduct(shares);
  const made = Math.max(1, rowCount * (sizes[leaf] as Size).rowCount * share);
  return { leaves: [...leaves, leaf], rowCount: made, cost: cost + made };
}

/** The share of pairs for which all conditions between the same tables hold. */
function shareOfKeys(conditions: readonly Condition[], sizes: readonly Size[]): number {
  const shares = conditions.map(({ share }) => share).sort((a, b) => a - b);
  const [least = 1] = shares;
  if (shares.length === 1) return least;
  // Keys of several columns are not more than the rows of the smallest table.
  const keyShare = 1 / Math.min(...sizes.map(({ storedCount }) => storedCount));
  return Math.max(dampedProduct(shares), Math.min(least, keyShare));
}

function dampedProduct(shares: readonly number[]): number {
  return shares.reduce((product, each, index) => product * each ** (1 / (index + 1)), 1);
}

function tablesIn(bits: number): number[] {
  return Array.from({ length: TABLE_COUNT_MAX }, (_, leaf) => leaf).filter(
    (leaf) => (bits & (1 << leaf)) !== 0,
  );
}

function costOf(sizes: readonly Size[], conditions: readonly Condition[]): number {
  const [first] = sizes as readonly [Size];
  let candidate: Candidate = { leaves: [0], rowCount: first.rowCount, cost: 0 };
  for (let leaf = 1; leaf < sizes.length; leaf++) {
    candidate = extend(candidate, (1 << leaf) - 1, leaf, sizes, conditions);
  }
  return candidate.cost;
}

function build(
  sequence: readonly number[],
  leaves: readonly JoinInput[],
  conditions: readonly Condition[],
): PlanNode {
  const [first = 0, ...others] = sequence;
  let left = leaves[first] as JoinInput;
  let joined = 1 << first;
  for (const leaf of others) {
    const all = joined | (1 << leaf);
    const own = conditions.filter(
      ({ tables }) => (tables & ~all) === 0 && ((tables & ~joined) !== 0 || joined === 1 << first),
    );
    const right = leaves[leaf] as JoinInput;
    const input: JoinNode = {
      kind: 'join',
      joinKind: 'inner',
      left,
      right,
      equalities: [],
      own: {},
      residual: conjunctionOf(own.map(({ part }) => part)),
      order: 'value',
    };
    left = { input, alias: undefined, tableCount: left.tableCount + right.tableCount };
    joined = all;
  }
  return left.input;
}
