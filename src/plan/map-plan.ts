// Walking and rewriting plans without naming every kind again.
import type { PlanNode } from './plan.ts';

export function inputsOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case 'scan':
    case 'single-row':
    case 'row-dataset':
      return [];
    case 'merge':
      return node.inputs;
    case 'join':
      return [node.left.input, node.right.input];
    default:
      return [node.input];
  }
}

/** A copy whose direct inputs were replaced; the node itself when none changed. */
export function mapInputs(node: PlanNode, map: (input: PlanNode) => PlanNode): PlanNode {
  switch (node.kind) {
    case 'scan':
    case 'single-row':
    case 'row-dataset':
      return node;
    case 'merge':
      return { ...node, inputs: node.inputs.map(map) };
    case 'join':
      return {
        ...node,
        left: { ...node.left, input: map(node.left.input) },
        right: { ...node.right, input: map(node.right.input) },
      };
    default: {
      const input = map(node.input);
      return input === node.input ? node : { ...node, input };
    }
  }
}

/** Rewrites every node of a plan, inputs first. */
export function mapPlan(node: PlanNode, rewrite: (node: PlanNode) => PlanNode): PlanNode {
  return rewrite(mapInputs(node, (input) => mapPlan(input, rewrite)));
}
