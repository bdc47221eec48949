// Equality joins in the order of the join value: rows that have none, or that a condition of their
// own leaves without a partner, come first; then value by value.
import { every } from '../../../util/every.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { comparePaths } from '../../../value/path.ts';
import { compareValues, type Value } from '../../../value/value.ts';
import { isNull } from '../call/lookup.ts';
import { type Evaluator, Frame } from '../frame.ts';
import type { ExecRow, JoinedRow } from '../row.ts';
import { comparingWithCancellation, type RowSource } from './source.ts';

export interface OrderedJoin {
  readonly left: RowSource;
  readonly right: RowSource;
  readonly leftKeys: readonly Evaluator[];
  readonly rightKeys: readonly Evaluator[];
  /** whether a row may have a partner at all, by the conditions on its side */
  readonly leftTest: RowTest;
  readonly rightTest: RowTest;
  readonly keepsLeft: boolean;
  readonly keepsRight: boolean;
  makeRow(left: ExecRow | undefined, right: ExecRow | undefined): JoinedRow;
  /** whether a pair of rows with equal keys satisfies the rest of the condition */
  matches(pair: JoinedRow): boolean;
  checkCancelled(): void;
}

export type RowTest = (row: ExecRow) => boolean;

interface KeyGroup {
  readonly keys: readonly Value[];
  readonly left: ExecRow[];
  readonly right: ExecRow[];
}

export function* joinInKeyOrder(join: OrderedJoin): Generator<ExecRow> {
  const groups = new Map<CanonicalKey, KeyGroup>();
  const looseLeft = collect(join, 'left', groups);
  const looseRight = collect(join, 'right', groups);
  if (join.keepsLeft) for (const row of looseLeft) yield join.makeRow(row, undefined);
  if (join.keepsRight) for (const row of looseRight) yield join.makeRow(undefined, row);
  const wanted = [...groups.values()].filter(
    ({ left, right }) =>
      (left.length > 0 || join.keepsRight) && (right.length > 0 || join.keepsLeft),
  );
  wanted.sort(comparingWithCancellation((a, b) => compareTuples(a.keys, b.keys), join));
  const look = every(PAIRS_PER_CHECK, () => join.checkCancelled());
  for (const group of wanted) yield* joinGroup(group, join, look);
}

/** Pairs of rows between two looks at the cancel flag. */
const PAIRS_PER_CHECK = 256;

function* joinGroup(group: KeyGroup, join: OrderedJoin, look: () => void): Generator<ExecRow> {
  const byName = comparingWithCancellation(compareNames, join);
  const right = group.right.sort(byName);
  const matchedRight = join.keepsRight ? new Set<ExecRow>() : undefined;
  for (const leftRow of group.left.sort(byName)) {
    let matched = false;
    for (const rightRow of right) {
      look();
      const pair = join.makeRow(leftRow, rightRow);
      if (!join.matches(pair)) continue;
      matched = true;
      matchedRight?.add(rightRow);
      yield pair;
    }
    if (!matched && join.keepsLeft) yield join.makeRow(leftRow, undefined);
  }
  if (matchedRight === undefined) return;
  for (const row of right) if (!matchedRight.has(row)) yield join.makeRow(undefined, row);
}

/** Puts the rows of a side into the groups of their keys. @returns those that match no row */
function collect(
  join: OrderedJoin,
  side: 'left' | 'right',
  groups: Map<CanonicalKey, KeyGroup>,
): ExecRow[] {
  const evaluators = side === 'left' ? join.leftKeys : join.rightKeys;
  const test = side === 'left' ? join.leftTest : join.rightTest;
  const loose: ExecRow[] = [];
  const frame = new Frame();
  for (const row of join[side]()) {
    frame.at(row);
    const keys = evaluators.map((evaluate) => evaluate(frame));
    if (keys.some(isNull) || !test(row)) {
      loose.push(row);
      continue;
    }
    const key = keyOfTuple(keys);
    let group = groups.get(key);
    if (group === undefined) {
      group = { keys, left: [], right: [] };
      groups.set(key, group);
    }
    group[side].push(row);
  }
  return loose.sort(comparingWithCancellation(compareNames, join));
}

function compareNames(a: ExecRow, b: ExecRow): number {
  return comparePaths(a.name, b.name);
}

function compareTuples(a: readonly Value[], b: readonly Value[]): number {
  for (let i = 0; i < a.length; i++) {
    const order = compareValues(a[i] as Value, b[i] as Value);
    if (order !== 0) return order;
  }
  return 0;
}
