// Joins: a hash table over the right side when keys must be equal, else every pair is tried.
import type { JoinSide } from '../../../plan/expression.ts';
import type { JoinNode, PlanNode } from '../../../plan/plan.ts';
import { failure, RowanError } from '../../../util/error.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { EMPTY_ROW, mergeRows, Row, type Value } from '../../../value/value.ts';
import { isNull } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { type Evaluator, Frame, type Predicate } from '../frame.ts';
import { type ExecRow, JoinedRow, type JoinShape } from '../row.ts';
import { joinInKeyOrder, type RowTest } from './ordered-join.ts';
import type { RowSource } from './source.ts';

/** Pairs that a join without an equality may try. */
export const JOIN_PAIR_COUNT_MAX = 100_000_000;

const CANCEL_CHECK_PAIR_COUNT = 4096;

export function compileJoin(
  node: JoinNode,
  left: RowSource,
  right: RowSource,
  compiler: Compiler,
): RowSource {
  const { joinKind, residual } = node;
  const makeRow = pairMaker(node);
  const matches = residual === undefined ? undefined : compiler.predicate(residual);
  if (joinKind === 'semi' || joinKind === 'anti') {
    return compileSemiJoin(node, left, right, compiler);
  }
  const keepsLeft = joinKind === 'left' || joinKind === 'full';
  const keepsRight = joinKind === 'right' || joinKind === 'full';
  if (node.order === 'value' && node.equalities.length > 0) {
    const keys = (side: JoinSide) =>
      node.equalities.map((equality) => compiler.evaluator(equality[side]));
    const join = {
      ...{ left, right, leftKeys: keys('left'), rightKeys: keys('right'), makeRow },
      ...{ keepsLeft, keepsRight },
      leftTest: sideTest(node, 'left', compiler),
      rightTest: sideTest(node, 'right', compiler),
    };
    const checkCancelled = () => compiler.runtime.scope.checkCancelled();
    return () => joinInKeyOrder({ ...join, checkCancelled, matches: pairTest(matches, compiler) });
  }
  const candidates = compileCandidates(node, right, compiler);
  return function* () {
    const test = pairTest(matches, compiler);
    const side = candidates();
    const matchedRight = keepsRight ? new Set<ExecRow>() : undefined;
    const unmatchedLeft: ExecRow[] = [];
    for (const leftRow of left()) {
      let matched = false;
      for (const rightRow of side.of(leftRow)) {
        const pair = makeRow(leftRow, rightRow);
        if (!test(pair)) continue;
        matched = true;
        matchedRight?.add(rightRow);
        yield pair;
      }
      if (!matched && keepsLeft) unmatchedLeft.push(leftRow);
    }
    for (const row of unmatchedLeft) yield makeRow(row, undefined);
    if (matchedRight === undefined) return;
    for (const row of side.all) if (!matchedRight.has(row)) yield makeRow(undefined, row);
  };
}

/** Rows of the left side that have a partner, or that have none, in their order. */
function compileSemiJoin(
  node: JoinNode,
  left: RowSource,
  right: RowSource,
  compiler: Compiler,
): RowSource {
  const { residual } = node;
  const makeRow = pairMaker(node);
  const matches = residual === undefined ? undefined : compiler.predicate(residual);
  const candidates = compileCandidates(node, right, compiler);
  const wanted = node.joinKind === 'semi';
  return function* () {
    const test = pairTest(matches, compiler);
    const side = candidates();
    for (const row of left()) {
      const partners = side.of(row);
      const matched =
        matches === undefined
          ? partners.length > 0
          : partners.some((partner) => test(makeRow(row, partner)));
      if (matched === wanted) yield row;
    }
  };
}

/** Tests rows by the conditions on their side; where one fails, the pairs of the row will tell. */
function sideTest(node: JoinNode, side: JoinSide, compiler: Compiler): RowTest {
  const condition = node.own[side];
  if (condition === undefined) return () => true;
  const test = compiler.predicate(condition);
  const frame = new Frame();
  return (row) => {
    try {
      return test(frame.at(row));
    } catch (thrown) {
      if (thrown instanceof RowanError && thrown.code !== 'CANCELLED') return true;
      throw thrown;
    }
  };
}

/** Tests pairs by the condition without its equalities, and looks for cancellation meanwhile. */
function pairTest(
  matches: Predicate | undefined,
  compiler: Compiler,
): (pair: JoinedRow) => boolean {
  const frame = new Frame();
  let untilCheck = CANCEL_CHECK_PAIR_COUNT;
  return (pair) => {
    if (--untilCheck === 0) {
      compiler.runtime.scope.checkCancelled();
      untilCheck = CANCEL_CHECK_PAIR_COUNT;
    }
    return matches === undefined || matches(frame.at(pair));
  };
}

/** The rows of the right side, and those that may match a row of the left. */
interface Candidates {
  readonly all: readonly ExecRow[];
  of(left: ExecRow): readonly ExecRow[];
}

function compileCandidates(node: JoinNode, right: RowSource, compiler: Compiler): () => Candidates {
  const { equalities } = node;
  if (equalities.length === 0) {
    return () => everyPair([...right()], countOfScan(node.left.input, compiler));
  }
  const probe = compileKey(equalities.map((equality) => compiler.evaluator(equality.left)));
  const build = compileKey(equalities.map((equality) => compiler.evaluator(equality.right)));
  const mayMatchLeft = sideTest(node, 'left', compiler);
  const mayMatchRight = sideTest(node, 'right', compiler);
  return () => {
    const all = [...right()];
    const table = new Map<CanonicalKey, ExecRow[]>();
    for (const row of all) {
      const key = build(row);
      if (key === undefined || !mayMatchRight(row)) continue;
      const bucket = table.get(key);
      if (bucket === undefined) table.set(key, [row]);
      else bucket.push(row);
    }
    return {
      all,
      of(left) {
        const key = probe(left);
        const partners = key === undefined ? undefined : table.get(key);
        return partners !== undefined && mayMatchLeft(left) ? partners : NO_ROWS;
      },
    };
  };
}

const NO_ROWS: readonly ExecRow[] = [];

/** The key of a row; undefined when a part is null, which equals nothing. */
function compileKey(evaluators: readonly Evaluator[]): (row: ExecRow) => CanonicalKey | undefined {
  const frame = new Frame();
  return (row) => {
    frame.at(row);
    const values = evaluators.map((evaluate) => evaluate(frame));
    return values.some(isNull) ? undefined : keyOfTuple(values);
  };
}

/** `leftCount`: rows of the left side as far as they are known before it is read. */
function everyPair(all: readonly ExecRow[], leftCount: number): Candidates {
  refuseTooManyPairs(leftCount * all.length);
  let pairCount = 0;
  return {
    all,
    of() {
      pairCount += all.length;
      refuseTooManyPairs(pairCount);
      return all;
    },
  };
}

function countOfScan(node: PlanNode, compiler: Compiler): number {
  if (node.kind !== 'scan' || node.lookup !== undefined) return 0;
  return compiler.runtime.namespace.dataset(node.dataset).rowCount;
}

function refuseTooManyPairs(pairCount: number): void {
  if (pairCount <= JOIN_PAIR_COUNT_MAX) return;
  throw failure(
    'SQL_EXECUTION',
    `the join tries more than ${JOIN_PAIR_COUNT_MAX} pairs of rows; add a condition a.x = b.y between the tables`,
  );
}

type PairMaker = (left: ExecRow | undefined, right: ExecRow | undefined) => JoinedRow;

/** Puts the columns of both sides together, each below the alias of its table. */
export function pairMaker(node: Pick<JoinNode, 'left' | 'right'>): PairMaker {
  const shape: JoinShape = {
    leftTableCount: node.left.tableCount,
    rightTableCount: node.right.tableCount,
  };
  const leftColumns = compileSide(node.left.alias);
  const rightColumns = compileSide(node.right.alias);
  const combine = node.left.alias !== undefined && node.right.alias !== undefined;
  const names = combine ? orderedAliases(node.left.alias, node.right.alias) : undefined;
  return (left, right) => {
    if (names !== undefined && left !== undefined && right !== undefined) {
      const values: Value[] = names.leftFirst ? [left.row, right.row] : [right.row, left.row];
      return new JoinedRow(left, right, new Row(names.names, values), shape);
    }
    const row = mergeRows(
      left === undefined ? EMPTY_ROW : leftColumns(left.row),
      right === undefined ? EMPTY_ROW : rightColumns(right.row),
    );
    return new JoinedRow(left, right, row, shape);
  };
}

function compileSide(alias: string | undefined): (row: Row) => Row {
  if (alias === undefined) return (row) => row;
  const names = [alias];
  return (row) => new Row(names, [row]);
}

/** The usual case: two aliased tables, whose rows share one list of names. */
function orderedAliases(left = '', right = ''): { names: readonly string[]; leftFirst: boolean } {
  const sorted = mergeRows(new Row([left], [EMPTY_ROW]), new Row([right], [EMPTY_ROW])).names;
  return { names: sorted, leftFirst: sorted[0] === left };
}
