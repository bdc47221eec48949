// A condition that compares rows with values of the query around a sub-select: the rows are hashed
// once a run, so that each run of the sub-select reads only those that are equal.
import { someExpression } from '../../../plan/children.ts';
import { cannotFail, conjunctionOf, conjunctsOf } from '../../../plan/conjunction.ts';
import type { BoundExpression } from '../../../plan/expression.ts';
import { expressionsOf, inputsOf } from '../../../plan/map-plan.ts';
import type { FilterNode, PlanNode } from '../../../plan/plan.ts';
import { type CanonicalKey, keyOfTuple } from '../../../value/canonical-key.ts';
import { isNull } from '../call/lookup.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import type { ExecRow } from '../row.ts';
import type { RowSource } from './source.ts';

interface KeyPair {
  readonly inner: BoundExpression;
  readonly outer: BoundExpression;
}

/** Undefined when the condition has no such part, or the rows differ from run to run. */
export function compileKeyedFilter(
  node: FilterNode,
  input: RowSource,
  compiler: Compiler,
): RowSource | undefined {
  const parts = conjunctsOf(node.condition);
  const pairs = parts.map(pairOf);
  const keys = pairs.filter((pair) => pair !== undefined);
  if (keys.length === 0 || readsOuter(node.input)) return undefined;
  const others = parts.filter((_, index) => pairs[index] === undefined);
  // A part that can fail fails for rows that the key would leave out.
  if (!others.every(cannotFailHere)) return undefined;
  const rest = conjunctionOf(others);
  const { runtime } = compiler;
  const inner = keys.map((pair) => compiler.evaluator(pair.inner));
  const outer = keys.map((pair) => compiler.evaluator(pair.outer));
  const test = rest === undefined ? undefined : compiler.predicate(rest);
  let table = new Map<CanonicalKey, ExecRow[]>();
  let run = -1;
  const build = () => {
    table = new Map();
    run = runtime.run;
    const frame = new Frame();
    for (const row of input()) {
      frame.at(row);
      const values = inner.map((evaluate) => evaluate(frame));
      if (values.some(isNull)) continue;
      const key = keyOfTuple(values);
      const known = table.get(key);
      if (known === undefined) table.set(key, [row]);
      else known.push(row);
    }
  };
  return function* () {
    if (run !== runtime.run) build();
    const frame = new Frame();
    const values = outer.map((evaluate) => evaluate(frame));
    if (values.some(isNull)) return;
    for (const row of table.get(keyOfTuple(values)) ?? []) {
      if (test === undefined || test(frame.at(row))) yield row;
    }
  };
}

/** Sub-selects are evaluated for the rows that are left, as they would be anyway. */
function cannotFailHere(part: BoundExpression): boolean {
  return cannotFail(part) || someExpression(part, ({ kind }) => kind === 'subquery');
}

function pairOf(part: BoundExpression): KeyPair | undefined {
  if (part.kind !== 'comparison' || part.operator !== '=') return undefined;
  const { left, right } = part;
  if (isOuterOnly(left) && isInnerOnly(right)) return { inner: right, outer: left };
  if (isOuterOnly(right) && isInnerOnly(left)) return { inner: left, outer: right };
  return undefined;
}

function isOuterOnly(expression: BoundExpression): boolean {
  let found = false;
  const other = someExpression(expression, ({ kind }) => {
    found ||= kind === 'outer';
    return kind !== 'outer' && kind !== 'cast' && kind !== 'constant' && kind !== 'arithmetic';
  });
  return found && !other;
}

function isInnerOnly(expression: BoundExpression): boolean {
  return !someExpression(expression, ({ kind }) => kind === 'outer' || kind === 'subquery');
}

/** Whether the rows of a node depend on the query around it, or on the step of a recursion. */
function readsOuter(node: PlanNode): boolean {
  return (
    node.kind === 'recursive-table' ||
    expressionsOf(node).some((expression) =>
      someExpression(expression, ({ kind }) => kind === 'outer'),
    ) ||
    inputsOf(node).some(readsOuter)
  );
}
