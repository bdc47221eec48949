// Conditions that the cells of a few columns decide, in a sparse dataset: those cells name the rows
// to look at, so that the cost is that of the columns instead of all rows.

import { cannotFail, conjunctsOf } from '../../../plan/conjunction.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { Relation } from '../../../plan/namespace.ts';
import type { FilterNode } from '../../../plan/plan.ts';
import type { Atom } from '../../../value/atom.ts';
import { isTrue } from '../../../value/atom.ts';
import { keyOfAtom } from '../../../value/canonical-key.ts';
import { Path } from '../../../value/path.ts';
import { Scalar } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';

/** Past this share of the rows a scan is faster than looking each of them up. */
const ROW_FRACTION_MAX = 1 / 8;

/** A row can only pass if some point of the column passes the test. */
interface ColumnMatch {
  readonly path: Path;
  /** true: a row at the path passes too, which no point of the column shows */
  readonly admitsRows: boolean;
  /** The test of this run; undefined when a constant is no atom. */
  test(): ((atom: Atom) => boolean) | undefined;
}

/**
 * Rows that may pass the filter, in stored order: those with some point of the wanted value. The
 * filter still decides, by the latest value. Undefined: scan instead.
 */
export function compileColumnLookup(
  node: FilterNode,
  compiler: Compiler,
): (() => Iterable<ExecRow> | undefined) | undefined {
  const { input } = node;
  if (input.kind !== 'scan' || input.lookup !== undefined) return undefined;
  // A part that fails for a row fails the query, whatever the other parts say of the row.
  if (!cannotFail(node.condition)) return undefined;
  const matches = matchesOf(node.condition, compiler);
  if (matches === undefined) return undefined;
  return () => {
    const relation = compiler.runtime.namespace.dataset(input.dataset);
    if (relation.snapshot?.layout !== 'sparse') return undefined;
    const check = () => compiler.runtime.scope.checkCancelled();
    const names = findNames(matches, relation, check);
    if (names === undefined) return undefined;
    const rows: ExecRow[] = [];
    for (const name of names) {
      const found = relation.findRows(name, input.columns);
      // Rows of one name lie apart, so that their stored order is not known here.
      if (found.length > 1) return undefined;
      rows.push(...found);
    }
    return rows;
  };
}

/** The names of the candidates in stored order; undefined when they are too many. */
function findNames(
  matches: readonly ColumnMatch[],
  relation: Relation,
  check: () => void,
): Path[] | undefined {
  const countMax = relation.rowCount * ROW_FRACTION_MAX;
  const names = new Map<number, Path>();
  for (const match of matches) {
    const test = match.test();
    if (test === undefined || relation.columnCells === undefined) return undefined;
    if (match.admitsRows && relation.hasColumnsBelow?.(match.path) !== false) return undefined;
    for (const { path, position, atom } of relation.columnCells(match.path, check)) {
      if (!test(atom)) continue;
      names.set(position, path);
      if (names.size > countMax) return undefined;
    }
  }
  return [...names].sort(([a], [b]) => a - b).map(([, path]) => path);
}

/** Column tests of which a row must pass at least one; undefined when there are none such. */
function matchesOf(
  condition: BoundExpression,
  compiler: Compiler,
): readonly ColumnMatch[] | undefined {
  if (condition.kind === 'or') {
    const parts = condition.operands.map((operand) => matchesOf(operand, compiler));
    return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
  }
  const candidates = conjunctsOf(condition).flatMap((conjunct) => {
    const found =
      conjunct.kind === 'or' ? matchesOf(conjunct, compiler) : matchOf(conjunct, compiler);
    return found === undefined ? [] : [found];
  });
  // Equalities choose fewer rows than truth does.
  return candidates.find((found) => found.every((each) => !each.admitsRows)) ?? candidates[0];
}

function matchOf(
  condition: BoundExpression,
  compiler: Compiler,
): readonly ColumnMatch[] | undefined {
  const match = equalityOf(condition, compiler) ?? truthOf(condition);
  return match === undefined ? undefined : [match];
}

function equalityOf(condition: BoundExpression, compiler: Compiler): ColumnMatch | undefined {
  if (condition.kind === 'comparison' && condition.operator === '=') {
    const { left, right } = condition;
    return oneOf(left, [right], compiler) ?? oneOf(right, [left], compiler);
  }
  if (condition.kind === 'in-list' && !condition.negated) {
    return oneOf(condition.operand, condition.choices, compiler);
  }
  return undefined;
}

function oneOf(
  column: BoundExpression,
  choices: readonly BoundExpression[],
  compiler: Compiler,
): ColumnMatch | undefined {
  if (column.kind !== 'column' || !choices.every(isFixed)) return undefined;
  const evaluators = choices.map((choice) => compiler.evaluator(choice));
  return {
    path: new Path(column.path),
    admitsRows: false,
    test() {
      const frame = new Frame();
      const values = evaluators.map((evaluate) => evaluate(frame));
      if (!values.every((value) => value instanceof Scalar)) return undefined;
      const atoms = values.map((value) => value.atom).filter((atom) => atom !== null);
      const keys = new Set(atoms.map(keyOfAtom));
      return (atom) => keys.has(keyOfAtom(atom));
    },
  };
}

/** Constants and parameters: what cannot fail before a row is read. */
function isFixed(expression: BoundExpression): boolean {
  return expression.kind === 'constant' || expression.kind === 'parameter';
}

/** `column`, `column IS TRUE`, `column IS NOT NULL` */
function truthOf(condition: BoundExpression): ColumnMatch | undefined {
  const whole = { admitsRows: true };
  if (condition.kind === 'column') {
    return { ...whole, path: new Path(condition.path), test: () => isTrue };
  }
  if (condition.kind !== 'is' || condition.operand.kind !== 'column') return undefined;
  const path = new Path(condition.operand.path);
  if (condition.test === 'true' && !condition.negated) {
    return { ...whole, path, test: () => isTrue };
  }
  if (condition.test === 'null' && condition.negated) {
    return { ...whole, path, test: () => (atom) => atom !== null };
  }
  return undefined;
}
