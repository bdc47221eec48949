// How many rows a part of a plan gives, guessed from the sizes of datasets and what their columns hold.
import type { FrequentValues } from '../../value/column/frequent-values.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { Scalar } from '../../value/value.ts';
import { conjunctsOf } from '../conjunction.ts';
import type { BoundExpression, ColumnExpression, ComparisonExpression } from '../expression.ts';
import { inputsOf } from '../map-plan.ts';
import type { Namespace } from '../namespace.ts';
import type { AggregateNode, JoinInput, JoinNode, PlanNode } from '../plan.ts';

/** Rows of parts that say nothing of their size. */
const UNKNOWN_ROW_COUNT = 1000;
const SECONDS_PER_DAY = 86_400;
/** Joins of no rows at all would all cost the same. */
const LEAST_SHARE = 1e-4;

export function estimateRows(node: PlanNode, namespace: Namespace): number {
  switch (node.kind) {
    case 'scan':
      return node.lookup === undefined
        ? namespace.dataset(node.dataset).rowCount
        : Math.max(1, node.lookup.names.length);
    case 'filter': {
      const share = shareOfRows(node.condition, node.input, namespace);
      return estimateRows(node.input, namespace) * share;
    }
    case 'aggregate':
      return estimateGroups(node, estimateRows(node.input, namespace), namespace);
    case 'limit':
      return Math.min(node.limit ?? Number.POSITIVE_INFINITY, estimateRows(node.input, namespace));
    case 'values':
      return node.rows.length;
    case 'shared':
      return node.rowCount ?? UNKNOWN_ROW_COUNT;
    case 'join': {
      const [left, right] = [node.left, node.right].map(({ input }) => {
        return estimateRows(input, namespace);
      });
      return estimateJoin(node, { left: left as number, right: right as number }, namespace);
    }
    case 'lateral': {
      const sides = [node.left, node.right].map(({ input }) => estimateRows(input, namespace));
      return Math.max(...sides);
    }
    default: {
      const [input] = inputsOf(node);
      return input === undefined ? UNKNOWN_ROW_COUNT : estimateRows(input, namespace);
    }
  }
}

/** Rows that find a partner by conditions other than equality, of all pairs. */
const RESIDUAL_SHARE = 1 / 3;
/** Rows without a partner, at least. */
const LONE_SHARE = 1 / 10;

/** The rows of a join whose sides have so many: keys of one side are thought to be among the other's. */
export function estimateJoin(
  node: JoinNode,
  rows: { readonly left: number; readonly right: number },
  namespace: Namespace,
): number {
  const { joinKind, left, right, equalities, residual } = node;
  const ofLeft = keysOf(
    left,
    rows.left,
    equalities.map((equality) => equality.left),
    namespace,
  );
  const ofRight = keysOf(
    right,
    rows.right,
    equalities.map((equality) => equality.right),
    namespace,
  );
  if (joinKind === 'semi' || joinKind === 'anti') {
    const share = Math.min(1, Math.min(ofRight.count, rows.right) / ofLeft.count);
    const wanted = joinKind === 'semi' ? share : Math.max(LONE_SHARE, 1 - share);
    return rows.left * (equalities.length === 0 ? 1 : wanted);
  }
  // Of keys of several columns only the side that they tell apart says how many there are.
  const areMany = ofLeft.isCapped && ofRight.isCapped;
  const count = (areMany ? Math.min : Math.max)(ofLeft.count, ofRight.count);
  const counts = { left: ofLeft.count, right: ofRight.count };
  const share = shareOfPairs(node, counts, namespace) ?? 1 / count;
  const pairs = rows.left * rows.right * share;
  const inner = residual === undefined ? pairs : pairs * RESIDUAL_SHARE;
  switch (joinKind) {
    case 'inner':
      return inner;
    case 'left':
      return Math.max(inner, rows.left);
    case 'right':
      return Math.max(inner, rows.right);
    default:
      return Math.max(inner, rows.left, rows.right);
  }
}

/** Different keys of a side of a join before its rows were filtered; at least 1. */
function keysOf(
  { input }: JoinInput,
  rowCount: number,
  keys: readonly BoundExpression[],
  namespace: Namespace,
): { readonly count: number; readonly isCapped: boolean } {
  if (keys.length === 0) return { count: 1, isCapped: false };
  const counts = keys.map((key) =>
    key.kind === 'column' ? distinctCount(input, key.path, namespace) : Math.max(1, rowCount),
  );
  return combinedCount(counts, Math.max(rowCount, ...counts));
}

/** Combinations of values of several columns, of which there are not more than rows. */
export function combinedCount(
  counts: readonly number[],
  rowCount: number,
): { readonly count: number; readonly isCapped: boolean } {
  const product = counts.reduce((a, b) => a * b, 1);
  return { count: Math.max(1, Math.min(product, rowCount)), isCapped: product > rowCount };
}

/** Of rows, where nothing is known of the keys. */
const GROUP_SHARE = 1 / 10;

/** As many groups as there are combinations of the values of the keys, as far as there are rows. */
export function estimateGroups(
  { keys, input }: Pick<AggregateNode, 'keys' | 'input'>,
  rowCount: number,
  namespace: Namespace,
): number {
  let count = 1;
  for (const key of keys) {
    if (key.kind !== 'column') return rowCount * GROUP_SHARE;
    count *= distinctCount(input, key.path, namespace);
  }
  return Math.min(count, rowCount);
}

/** The share of the rows of a node for which a condition holds. */
export function shareOfRows(
  condition: BoundExpression,
  input: PlanNode,
  namespace: Namespace,
): number {
  const shares = conjunctsOf(condition).map((part) => shareOf(part, input, namespace));
  return Math.max(
    LEAST_SHARE,
    shares.reduce((a, b) => a * b, 1),
  );
}

function shareOf(part: BoundExpression, input: PlanNode, namespace: Namespace): number {
  switch (part.kind) {
    case 'comparison': {
      if (part.operator === '!=') return 0.9;
      if (part.operator !== '=') return shareOfRange(part, input, namespace) ?? 1 / 3;
      const [column, value] =
        part.left.kind === 'column' ? [part.left, part.right] : [part.right, part.left];
      return column.kind === 'column' ? shareOfValue(column, value, input, namespace) : 0.1;
    }
    case 'in-list': {
      const { operand, choices, negated } = part;
      const sum =
        operand.kind === 'column'
          ? choices.reduce((all, each) => all + shareOfValue(operand, each, input, namespace), 0)
          : choices.length / 10;
      const share = Math.min(1, sum);
      return negated ? 1 - share : share;
    }
    case 'is': {
      const { operand, test, negated } = part;
      if (test !== 'null' || operand.kind !== 'column') return 0.5;
      const column = storedColumn(input, operand.path, namespace);
      if (column === undefined) return 0.5;
      const { valueShare } = rangeOf(column);
      return negated ? valueShare : 1 - valueShare;
    }
    case 'between':
      return 0.25;
    case 'like':
      return part.negated ? 0.9 : 0.1;
    case 'and':
      return part.operands.reduce((product, each) => product * shareOf(each, input, namespace), 1);
    case 'or':
      return Math.min(
        1,
        part.operands.reduce((sum, each) => sum + shareOf(each, input, namespace), 0),
      );
    default:
      return 0.5;
  }
}

/** The share of rows that have one value in a column. */
function shareOfValue(
  column: ColumnExpression,
  value: BoundExpression,
  input: PlanNode,
  namespace: Namespace,
): number {
  const count = distinctCount(input, column.path, namespace);
  const atom =
    value.kind === 'constant' && value.value instanceof Scalar ? value.value.atom : undefined;
  const frequent = atom === undefined ? undefined : frequentValues(input, column.path, namespace);
  if (atom === undefined || frequent === undefined) return 1 / count;
  return frequent.shareOf(atom, count);
}

/** The frequent values of a column of a dataset, through what leaves its rows as they are. */
function frequentValues(
  node: PlanNode,
  path: readonly string[],
  namespace: Namespace,
): FrequentValues | undefined {
  if (node.kind === 'filter' || node.kind === 'sort') {
    return frequentValues(node.input, path, namespace);
  }
  return node.kind === 'scan' ? namespace.dataset(node.dataset).frequentValues?.(path) : undefined;
}

/**
 * The share of pairs that are equal in columns of which some values are frequent: those of frequent
 * values are known, and others are thought to be among the other side's. Undefined when nothing is known.
 */
function shareOfPairs(
  node: JoinNode,
  counts: { readonly left: number; readonly right: number },
  namespace: Namespace,
): number | undefined {
  const [equality, ...others] = node.equalities;
  if (equality === undefined || others.length > 0) return undefined;
  if (equality.left.kind !== 'column' || equality.right.kind !== 'column') return undefined;
  const left = frequentValues(node.left.input, equality.left.path, namespace);
  const right = frequentValues(node.right.input, equality.right.path, namespace);
  if (left === undefined || right === undefined) return undefined;
  const ofLeft = left.values.map(({ atom, share }) => share * right.shareOf(atom, counts.right));
  const ofRight = right.values
    .filter(({ atom }) => !left.has(atom))
    .map(({ share }) => share * left.otherShare(counts.left));
  const rest = Math.max(1, counts.left - left.values.length, counts.right - right.values.length);
  const known = [...ofLeft, ...ofRight].reduce((a, b) => a + b, 0);
  return known + (left.restShare * right.restShare) / rest;
}

/** The share of the range of a column's values that lies on one side of a number. */
function shareOfRange(
  { left, right, operator }: ComparisonExpression,
  input: PlanNode,
  namespace: Namespace,
): number | undefined {
  const isMirrored = left.kind === 'constant';
  const [operand, limit] = isMirrored ? [right, left] : [left, right];
  if (operand.kind !== 'column' || limit.kind !== 'constant') return undefined;
  const number = limit.value instanceof Scalar ? limit.value.atom : undefined;
  const column = storedColumn(input, operand.path, namespace);
  if (typeof number !== 'number' || column === undefined) return undefined;
  const { least, greatest, valueShare } = rangeOf(column);
  if (!(least < greatest)) return undefined;
  const below = Math.min(1, Math.max(0, (number - least) / (greatest - least)));
  const isBelow = operator.startsWith('<') !== isMirrored;
  return (isBelow ? below : 1 - below) * valueShare;
}

/** A column of a dataset, through what leaves its rows as they are. */
function storedColumn(
  node: PlanNode,
  path: readonly string[],
  namespace: Namespace,
): ColumnSnapshot | undefined {
  if (node.kind === 'filter' || node.kind === 'sort') {
    return storedColumn(node.input, path, namespace);
  }
  if (node.kind !== 'scan') return undefined;
  const { snapshot } = namespace.dataset(node.dataset);
  return snapshot?.layout === 'columnar' ? columnAt(snapshot.columns, path) : undefined;
}

function columnAt(
  columns: readonly ColumnSnapshot[],
  path: readonly string[],
): ColumnSnapshot | undefined {
  return columns.find(
    (candidate) =>
      candidate.path.length === path.length &&
      candidate.path.every((element, index) => element === path[index]),
  );
}

/** How many different values a column of the rows of a node has, about; at least 1. */
export function distinctCount(
  node: PlanNode,
  path: readonly string[],
  namespace: Namespace,
): number {
  switch (node.kind) {
    case 'scan': {
      const { snapshot, rowCount } = namespace.dataset(node.dataset);
      if (snapshot?.layout !== 'columnar') return Math.max(1, rowCount / 10);
      const column = columnAt(snapshot.columns, path);
      return column === undefined ? 1 : Math.max(1, Math.min(rowCount, countOfColumn(column)));
    }
    case 'filter':
    case 'sort':
      return distinctCount(node.input, path, namespace);
    case 'join': {
      if (node.joinKind === 'semi' || node.joinKind === 'anti') {
        return distinctCount(node.left.input, path, namespace);
      }
      const sides = [node.left, node.right];
      const side = sides.find(({ alias }) => alias === path[0]);
      if (side !== undefined) return distinctCount(side.input, path.slice(1), namespace);
      const joined = sides.find(({ alias, input }) => alias === undefined && hasAlias(input, path));
      if (joined === undefined) return Math.max(1, estimateRows(node, namespace));
      return distinctCount(joined.input, path, namespace);
    }
    case 'rejoin':
      return distinctCount(node.input, path, namespace);
    case 'project': {
      const item = node.items.find(
        (candidate) => candidate.kind === 'named' && candidate.path[0] === path[0],
      );
      if (item?.kind !== 'named') return Math.max(1, estimateRows(node, namespace));
      const { expression } = item;
      if (expression.kind === 'column') {
        return distinctCount(node.input, expression.path, namespace);
      }
      const groups = groupsBelow(node.input);
      const key = expression.kind === 'group-key' ? groups?.keys[expression.index] : undefined;
      return groups !== undefined && key?.kind === 'column'
        ? distinctCount(groups.input, key.path, namespace)
        : Math.max(1, estimateRows(node, namespace));
    }
    default:
      return Math.max(1, estimateRows(node, namespace));
  }
}

function hasAlias(node: PlanNode, path: readonly string[]): boolean {
  if (node.kind !== 'join') return false;
  return [node.left, node.right].some(({ alias, input }) =>
    alias === undefined ? hasAlias(input, path) : alias === path[0],
  );
}

/** The groups whose keys a node hands on as they are. */
function groupsBelow(node: PlanNode): AggregateNode | undefined {
  if (node.kind === 'filter' || node.kind === 'sort') return groupsBelow(node.input);
  return node.kind === 'aggregate' ? node : undefined;
}

function countOfColumn(column: ColumnSnapshot): number {
  if (column.dictionary !== undefined) return column.dictionary.count;
  const { least, greatest, isDense } = rangeOf(column);
  if (least > greatest) return 1;
  if (column.type === 'timestamp') return (greatest - least) / SECONDS_PER_DAY + 1;
  return isDense ? greatest - least + 1 : Number.POSITIVE_INFINITY;
}

/** What the statistics of chunks tell of the numbers of a column. */
function rangeOf({ chunks, nullCount }: ColumnSnapshot) {
  let least = Number.POSITIVE_INFINITY;
  let greatest = Number.NEGATIVE_INFINITY;
  let isDense = true;
  for (const chunk of chunks) {
    if (chunk.kind === 'constant') continue;
    const cells = chunk.kind === 'sparse' ? chunk.values : chunk;
    if (!('min' in cells) || cells.min === undefined || cells.max === undefined) continue;
    if (cells.kind === 'float64') isDense = false;
    least = Math.min(least, cells.min);
    greatest = Math.max(greatest, cells.max);
  }
  const rowCount = chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
  const valueShare = rowCount === 0 ? 1 : 1 - nullCount / rowCount;
  return { least, greatest, isDense, valueShare };
}
