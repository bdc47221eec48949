// Systems that have the rows of a dataset take over what they can do with them.
import { inputsOf, mapPlan } from '../map-plan.ts';
import type { RemotePushing } from '../namespace.ts';
import type { AskNode, PlanNode, ScanNode } from '../plan.ts';
import type { Rule, RuleContext } from './rule.ts';

export const askRemote: Rule = {
  name: 'ask-remote',
  apply(root, context) {
    const asked = mapPlan(root, (node) =>
      node.kind === 'scan' ? askFor(node, context) : (pushed(node, context) ?? node),
    );
    return mapPlan(asked, (node) => (node.kind === 'ask' ? orScan(node, context) : node));
  },
};

function askFor(scan: ScanNode, context: RuleContext): PlanNode {
  const { dataset, columns, lookup } = scan;
  const pushing = lookup === undefined ? pushingOf(dataset, context) : undefined;
  if (pushing === undefined) return scan;
  return { kind: 'ask', dataset, columns, asked: pushing.start, isStored: true };
}

function pushed(node: PlanNode, context: RuleContext): PlanNode | undefined {
  const ask = askBelow(node);
  return ask && pushingOf(ask.dataset, context)?.push(node, context);
}

/** Rows that a system has and that operators which it may know are about. */
function askBelow(node: PlanNode): AskNode | undefined {
  if (node.kind === 'ask') return node;
  if (!CHAINS.has(node.kind)) return undefined;
  for (const input of inputsOf(node)) {
    const ask = askBelow(input);
    if (ask !== undefined) return ask;
  }
  return undefined;
}

const CHAINS: ReadonlySet<PlanNode['kind']> = new Set([
  'filter',
  'project',
  'aggregate',
  'sort',
  'limit',
  'join',
  'rejoin',
]);

/** What asks for nothing is a scan, which more operators know. */
function orScan(ask: AskNode, context: RuleContext): PlanNode {
  const { dataset, columns, asked } = ask;
  if (asked !== pushingOf(dataset, context)?.start) return ask;
  return { kind: 'scan', dataset, columns, lookup: undefined };
}

function pushingOf(dataset: string, { namespace }: RuleContext): RemotePushing | undefined {
  return namespace.dataset(dataset).remote?.pushing;
}
