// Walking the syntax tree without recursion: chains may be as deep as the text is long.
import type { CallNode, ColumnNode, Expression, ParameterNode, SqlNode } from './node.ts';
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
      return node.args;
    case 'extract':
      return [node.operand, node.index];
    case 'row':
      return node.items;
    case 'embedding':
      return node.elements;
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
      return [node.operand, node.pattern];
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
    case 'function-table':
      return [...node.tables, ...present(node.options)];
    case 'subquery':
      return [node.query];
    case 'join':
      return [node.left, node.right, ...present(node.on)];
    case 'query':
      return [
        ...node.distinctOn,
        ...node.select,
        ...present(node.named),
        ...present(node.from),
        ...present(node.when),
        ...present(node.where),
        ...node.groupBy,
        ...present(node.having),
        ...node.orderBy,
      ];
    default:
      return unreachable(node);
  }
}

const NONE: readonly SqlNode[] = [];

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

/**
 * The columns that an expression reads from its input: not those of sub-selects, which have a FROM
 * of their own, not those inside `[ ]`, which are members of the operand, and not those inside
 * COLUMN EXPR, where none can be read.
 */
export function findColumns(root: Expression): ColumnNode[] {
  const columns: ColumnNode[] = [];
  walkInput(root, (node) => {
    if (node.kind === 'column') columns.push(node);
  });
  return columns;
}

/** Whether an expression reads its input through a wildcard or COLUMN EXPR. */
export function hasWildcard(root: Expression): boolean {
  let found = false;
  walkInput(root, (node) => {
    found ||= node.kind === 'wildcard' || node.kind === 'column-expression';
  });
  return found;
}

/** Every call in a tree outside its sub-selects. */
export function findCalls(root: SqlNode): CallNode[] {
  const calls: CallNode[] = [];
  walk(root, (node) => {
    if (node.kind === 'call') calls.push(node);
    return node === root || node.kind !== 'query';
  });
  return calls;
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

/** Visits the nodes whose names refer to the input of `root`. */
function walkInput(root: Expression, enter: (node: SqlNode) => void): void {
  const pending: SqlNode[] = [root];
  for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
    if (node.kind === 'query') continue;
    enter(node);
    if (node.kind === 'extract') pending.push(node.operand);
    else if (node.kind !== 'column-expression') pushReversed(pending, childrenOf(node));
  }
}

function pushReversed(pending: SqlNode[], nodes: readonly SqlNode[]): void {
  for (let index = nodes.length - 1; index >= 0; index--) pending.push(nodes[index] as SqlNode);
}
