// Walking the syntax tree without recursion: chains may be as deep as the text is long.
import type { CallModifiers, ParameterNode, QueryNode, SqlNode } from './node.ts';
import { unreachable } from './node.ts';

/** The direct children of a node in the order in which they were written. */
export function childrenOf(node: SqlNode): readonly SqlNode[] {
  switch (node.kind) {
    case 'literal':
    case 'interval-literal':
    case 'parameter':
    case 'column':
    case 'wildcard':
    case 'dataset-table':
      return NONE;
    case 'call':
      return node.modifiers === undefined
        ? node.args
        : [...node.args, ...modifierChildren(node.modifiers)];
    case 'window':
      return [...node.partitionBy, ...node.orderBy, ...present(node.frame)];
    case 'frame':
      return [...present(node.from.offset), ...present(node.to.offset)];
    case 'extract':
      return [node.operand, node.index];
    case 'row':
      return node.items;
    case 'embedding':
    case 'tuple':
      return node.elements;
    case 'scalar-query':
    case 'exists':
    case 'common-table':
      return [node.query];
    case 'quantified':
      return [node.operand, node.query];
    case 'distinct-from':
      return [node.left, node.right];
    case 'unary':
    case 'is':
    case 'cast':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'and':
    case 'or':
      return node.operands;
    case 'between':
      return [node.operand, node.low, node.high];
    case 'in-list':
      return [node.operand, ...node.choices];
    case 'in-query':
      return [node.operand, node.query];
    case 'in-keys':
    case 'in-values':
      return [node.operand, node.row];
    case 'like':
      return [node.operand, node.pattern, ...present(node.escape)];
    case 'case':
      return [
        ...present(node.operand),
        ...node.branches.flatMap((branch) => [branch.when, branch.result]),
        ...present(node.otherwise),
      ];
    case 'named-expression':
    case 'order-key':
    case 'row-dataset-table':
    case 'atom-dataset-table':
      return [node.expression];
    case 'column-expression':
      return [
        ...present(node.select),
        ...present(node.as),
        ...present(node.where),
        ...node.orderBy,
      ];
    case 'series-table':
      return node.args;
    case 'function-table':
      return [...node.tables, ...present(node.options)];
    case 'subquery':
      return [node.query];
    case 'join':
      return [node.left, node.right, ...present(node.on)];
    case 'query':
      return [
        ...(node.with?.tables ?? NONE),
        ...node.distinctOn,
        ...node.select,
        ...present(node.named),
        ...present(node.from),
        ...present(node.when),
        ...present(node.where),
        ...node.groupBy,
        ...present(node.having),
        ...(node.windows ?? []).map(({ window }) => window),
        ...present(node.qualify),
        ...node.orderBy,
        ...present(node.limit),
        ...present(node.offset),
      ];
    case 'set-query':
      return [
        ...(node.with?.tables ?? NONE),
        node.left,
        node.right,
        ...node.orderBy,
        ...present(node.limit),
        ...present(node.offset),
      ];
    case 'values-query':
      return [
        ...(node.with?.tables ?? NONE),
        ...node.rows.flat(),
        ...node.orderBy,
        ...present(node.limit),
        ...present(node.offset),
      ];
    default:
      return unreachable(node);
  }
}

const NONE: readonly SqlNode[] = [];

function modifierChildren(modifiers: CallModifiers): readonly SqlNode[] {
  return [...modifiers.orderBy, ...present(modifiers.filter), ...present(modifiers.over)];
}

function present<Node extends SqlNode>(node: Node | undefined): readonly Node[] {
  return node === undefined ? [] : [node];
}

/**
 * Visits a node and everything below it, parents first and in the order of the text.
 * @param enter returns false to leave out what is below the node
 */
export function walk(root: SqlNode, enter: (node: SqlNode) => boolean | undefined): void {
  const pending: SqlNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (enter(node) !== false) pushReversed(pending, childrenOf(node));
  }
}

/** Every node of a tree, children before their parents. */
export function nodesBottomUp(root: SqlNode): SqlNode[] {
  const nodes: SqlNode[] = [];
  walk(root, (node) => {
    nodes.push(node);
    return true;
  });
  return nodes.reverse();
}

/** Every parameter in a tree, also in its sub-selects. */
export function findParameters(root: SqlNode): ParameterNode[] {
  const parameters: ParameterNode[] = [];
  walk(root, (node) => {
    if (node.kind === 'parameter') parameters.push(node);
    return true;
  });
  return parameters;
}

function pushReversed(pending: SqlNode[], nodes: readonly SqlNode[]): void {
  for (let index = nodes.length - 1; index >= 0; index--) pending.push(nodes[index] as SqlNode);
}

/** True for every form of query. */
export function isQuery(node: SqlNode): node is QueryNode {
  return node.kind === 'query' || node.kind === 'set-query' || node.kind === 'values-query';
}
