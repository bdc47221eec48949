// `column = constant` in a sparse dataset: the cells of that column name the rows to look at, so
// that the cost is that of one column instead of all rows.

import { conjunctsOf } from '../../../plan/conjunction.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import type { FilterNode } from '../../../plan/plan.ts';
import { Path } from '../../../value/path.ts';
import { Scalar, type Value } from '../../../value/value.ts';
import { type CanonicalKey, keyOfAtom } from '../canonical-key.ts';
import type { Compiler } from '../compiler.ts';
import type { ExecRow } from '../row.ts';

/** Past this share of the rows a scan is faster than looking each of them up. */
const ROW_FRACTION_MAX = 1 / 8;

interface ColumnMatch {
  readonly path: Path;
  readonly keys: ReadonlySet<CanonicalKey>;
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
  const match = conjunctsOf(node.condition)
    .map(matchOf)
    .find((found) => found !== undefined);
  if (match === undefined) return undefined;
  return () => {
    const relation = compiler.runtime.catalog.dataset(input.dataset);
    if (relation.snapshot?.layout !== 'sparse' || relation.columnCells === undefined) {
      return undefined;
    }
    const countMax = relation.rowCount * ROW_FRACTION_MAX;
    const names: Path[] = [];
    for (const { path, atom } of relation.columnCells(match.path)) {
      if (!match.keys.has(keyOfAtom(atom))) continue;
      if (names[names.length - 1]?.equals(path) !== true) names.push(path);
      if (names.length > countMax) return undefined;
    }
    return names.flatMap((name): readonly ExecRow[] => relation.findRows(name, input.columns));
  };
}

/** A condition that only a row with an atom among `keys` in the column can pass. */
function matchOf(condition: BoundExpression): ColumnMatch | undefined {
  if (condition.kind === 'comparison' && condition.operator === '=') {
    const { left, right } = condition;
    return matchValues(left, [right]) ?? matchValues(right, [left]);
  }
  if (condition.kind === 'in-list' && !condition.negated) {
    return matchValues(condition.operand, condition.choices);
  }
  return undefined;
}

function matchValues(
  column: BoundExpression,
  choices: readonly BoundExpression[],
): ColumnMatch | undefined {
  if (column.kind !== 'column') return undefined;
  const values: Value[] = [];
  for (const choice of choices) {
    if (choice.kind !== 'constant' || !(choice.value instanceof Scalar)) return undefined;
    values.push(choice.value);
  }
  const atoms = values.map((value) => (value as Scalar).atom).filter((atom) => atom !== null);
  return { path: new Path(column.path), keys: new Set(atoms.map(keyOfAtom)) };
}
