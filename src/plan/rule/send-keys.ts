// A small table that is joined with one of another system sends its keys there, so that only rows
// which have a partner come. Which keys these are is known when the query runs.
import { someExpression } from '../children.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { expressionsOf, inputsOf, mapPlan } from '../map-plan.ts';
import type { JoinNode, PlanNode } from '../plan.ts';
import { isVolatile } from '../volatility.ts';
import { estimateRows } from './estimate.ts';
import type { Rule, RuleContext } from './rule.ts';

/** Rows are read twice, so there must be few. */
const ROW_COUNT_MAX = 100_000;

export const sendKeys: Rule = {
  name: 'send-keys',
  apply: (root, context) =>
    mapPlan(root, (node) => (node.kind === 'join' ? withKeys(node, context) : node)),
};

function withKeys(join: JoinNode, context: RuleContext): JoinNode {
  if (join.equalities.length === 0) return join;
  for (const side of sidesWithPartners(join)) {
    const other = side === 'left' ? 'right' : 'left';
    const input = reading(join, side, other, context);
    if (input !== undefined) return { ...join, [side]: { ...join[side], input } };
  }
  return join;
}

/** The sides whose rows are nothing without a partner. */
function sidesWithPartners({ joinKind }: JoinNode): readonly JoinSide[] {
  switch (joinKind) {
    case 'inner':
      return ['left', 'right'];
    case 'semi':
    case 'right':
      return ['left'];
    case 'left':
      return ['right'];
    default:
      return [];
  }
}

/** The rows of one side that have keys of the other one; undefined: they are not asked for so. */
function reading(
  join: JoinNode,
  side: JoinSide,
  other: JoinSide,
  context: RuleContext,
): PlanNode | undefined {
  const { namespace } = context;
  const [dataset, ...more] = datasetsBelow(join[side].input);
  const rows = join[other].input;
  if (dataset === undefined || more.length > 0 || !isHere(rows, context)) return undefined;
  const pushing = namespace.dataset(dataset).remote?.pushing;
  if (pushing?.withKeys === undefined || estimateRows(rows, namespace) > ROW_COUNT_MAX) {
    return undefined;
  }
  const keys = join.equalities.map((equality) => equality[side]);
  const columns = join.equalities.map((equality) => equality[other]);
  const asked = mapPlan(join[side].input, (node) => asAsk(node, pushing.start));
  return pushing.withKeys(asked, keys, { rows, columns }, namespace);
}

function asAsk(node: PlanNode, start: unknown): PlanNode {
  if (node.kind !== 'scan' || node.lookup !== undefined) return node;
  const { dataset, columns } = node;
  return { kind: 'ask', dataset, columns, asked: start, isStored: true };
}

function datasetsBelow(node: PlanNode): readonly string[] {
  const own = node.kind === 'ask' || node.kind === 'scan' ? [node.dataset] : [];
  return [...own, ...inputsOf(node).flatMap(datasetsBelow)];
}

/** Whether rows can be read twice at little cost: none of another system, none of a row around. */
function isHere(node: PlanNode, context: RuleContext): boolean {
  const { namespace } = context;
  if (isVolatile(node, namespace.builtins)) return false;
  const isOwn = (part: PlanNode): boolean => {
    if (!PLAIN.has(part.kind)) return false;
    if (part.kind === 'scan' && namespace.dataset(part.dataset).remote !== undefined) return false;
    return !expressionsOf(part).some(readsAround) && inputsOf(part).every(isOwn);
  };
  return isOwn(node);
}

function readsAround(expression: BoundExpression): boolean {
  return someExpression(expression, ({ kind }) => AROUND.has(kind));
}

const AROUND: ReadonlySet<BoundExpression['kind']> = new Set([
  'outer',
  'subquery',
  'in-query',
  'user-call',
]);

const PLAIN: ReadonlySet<PlanNode['kind']> = new Set([
  'scan',
  'values',
  'series',
  'filter',
  'project',
  'aggregate',
  'sort',
  'limit',
]);
