// Rows of one dataset that kernels find or sort by number, for an operator that reads rows.
import type { FilterNode, PlanNode, ScanNode } from '../../plan/plan.ts';
import { opaquePart } from '../capability.ts';
import type { PhysicalNode } from '../physical.ts';
import { type Choice, type Planner, whyNoColumns, whyTooSmall } from './choice.ts';

/** WHERE, ORDER BY and DISTINCT ON over one dataset. */
export const rowNumbers: Choice = {
  name: 'row-numbers',
  take(node, planner) {
    const inputs = inputOf(node);
    if (typeof inputs === 'string') return inputs;
    const scan = scanBelow(node) as ScanNode;
    const because = whyTooSmall(scan, planner) ?? whyNoColumns(scan, planner) ?? whyNoWords(node);
    if (because !== undefined) return because;
    return overNumbers(node, inputs, planner);
  },
};

/** The operators of a chain of inputs that ends with a scan. */
function overNumbers(
  node: PlanNode,
  inputs: readonly PlanNode[],
  planner: Planner,
): PhysicalNode | string {
  const below: PhysicalNode[] = [];
  for (const input of inputs) {
    const chain = inputOf(input);
    const because = input.kind === 'scan' ? undefined : whyNoWords(input);
    if (because !== undefined) return because;
    const made = overNumbers(input, typeof chain === 'string' ? [] : chain, planner);
    if (typeof made === 'string') return made;
    below.push(made);
  }
  const method = node.kind === 'distinct-on' ? 'first of groups' : 'plain';
  const way = node.kind === 'scan' ? 'batches' : 'numbers';
  return { logical: node, way, method, inputs: below, refusals: [] };
}

/** What a node reads; why not, when it is no chain of operators that keep row numbers. */
function inputOf(node: PlanNode): readonly PlanNode[] | string {
  switch (node.kind) {
    case 'filter':
      return node.input.kind === 'scan' ? [node.input] : 'it does not filter a dataset';
    case 'sort':
      if (node.late) return 'a sort key reads the output';
      if (node.ties !== 'row-hash') return 'rows that tie keep their order';
      return isFilteredScan(node.input) ? [node.input] : 'it does not sort a dataset';
    case 'distinct-on':
      return whyNotFirst(node) ?? [node.input];
    default:
      return 'it does not pick rows of a dataset';
  }
}

/** Why a DISTINCT ON is not the least row of each group; undefined when it is. */
export function whyNotFirst(node: PlanNode): string | undefined {
  if (node.kind !== 'distinct-on') return 'it is no DISTINCT ON';
  const { input, expressions, late, sorted } = node;
  if (late || !sorted) return 'rows are not sorted by its keys';
  if (input.kind !== 'sort' || input.late || input.ties !== 'row-hash')
    return 'rows are not sorted';
  if (input.keep !== undefined || !isFilteredScan(input.input)) return 'it does not sort a dataset';
  const keys = input.keys.slice(0, expressions.length);
  if (keys.length < expressions.length) return 'rows are sorted by other keys';
  if (keys.some(({ nulls }) => nulls !== undefined)) return 'NULLS FIRST or LAST is said of a key';
  return undefined;
}

function isFilteredScan(node: PlanNode): node is ScanNode | FilterNode {
  return node.kind === 'scan' || (node.kind === 'filter' && node.input.kind === 'scan');
}

function scanBelow(node: PlanNode): PlanNode {
  return 'input' in node ? scanBelow(node.input) : node;
}

function whyNoWords(node: PlanNode): string | undefined {
  switch (node.kind) {
    case 'filter':
      return opaquePart(node.condition, { except: 'subquery' });
    case 'sort':
      if (node.keys.length === 0) return 'there are no sort keys';
      return firstOf(node.keys.map(({ expression }) => opaquePart(expression)));
    case 'distinct-on':
      return firstOf(node.expressions.map((expression) => opaquePart(expression)));
    default:
      return undefined;
  }
}

function firstOf(reasons: readonly (string | undefined)[]): string | undefined {
  return reasons.find((reason) => reason !== undefined);
}
