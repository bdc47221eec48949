// Which side of a join an expression is about, and what it is called there.
import { someExpression } from '../children.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { mapExpression } from '../map-expression.ts';
import type { JoinInput, JoinNode, PlanNode } from '../plan.ts';

/** The side whose rows alone decide the expression; undefined: both, neither, or unclear. */
export function sideOfExpression(
  expression: BoundExpression,
  join: JoinNode,
): JoinSide | undefined {
  const sides = new Set<JoinSide | undefined>();
  someExpression(expression, (part) => {
    const side = sideOfPart(part, join);
    if (side !== 'none') sides.add(side);
    return false;
  });
  const [side] = sides;
  return sides.size === 1 ? side : undefined;
}

/** `none`: the part does not look at the row itself; undefined: it cannot be told. */
function sideOfPart(part: BoundExpression, join: JoinNode): JoinSide | 'none' | undefined {
  switch (part.kind) {
    case 'column':
      return sideOfColumn(part.path, join);
    case 'row-function':
      return part.side[0];
    case 'row':
      return part.items.some((item) => item.kind !== 'named') ? undefined : 'none';
    case 'column-function':
    case 'output-column':
    case 'scope-call':
      return undefined;
    default:
      return 'none';
  }
}

function sideOfColumn(path: readonly string[], join: JoinNode): JoinSide | undefined {
  const [alias = ''] = path;
  const left = aliasesOf(join.left);
  const right = aliasesOf(join.right);
  if (left.includes(alias)) return right.includes(undefined) ? undefined : 'left';
  if (right.includes(alias)) return left.includes(undefined) ? undefined : 'right';
  return undefined;
}

/** The aliases of the tables of a side; undefined among them stands for columns without prefix. */
export function aliasesOf(input: JoinInput): readonly (string | undefined)[] {
  const node: PlanNode = input.input;
  if (input.tableCount > 1 && node.kind === 'join') {
    return [...aliasesOf(node.left), ...aliasesOf(node.right)];
  }
  if (input.tableCount > 1 && 'input' in node) {
    return aliasesOf({ ...input, input: node.input });
  }
  return [input.alias];
}

/** The expression as the rows of one side see it: without its alias, nearer by a step. */
export function onSide(
  expression: BoundExpression,
  side: JoinSide,
  join: JoinNode,
): BoundExpression {
  const { alias } = join[side];
  return mapExpression(expression, (part) => {
    if (part.kind === 'column' && alias !== undefined) return { ...part, path: part.path.slice(1) };
    if (part.kind === 'row-function') return { ...part, side: part.side.slice(1) };
    return part;
  });
}

/** True when the expression reads a whole table (`a` of `a.x`) instead of columns of it. */
export function readsWholeTable(expression: BoundExpression): boolean {
  return someExpression(expression, (part) => part.kind === 'column' && part.path.length < 2);
}
