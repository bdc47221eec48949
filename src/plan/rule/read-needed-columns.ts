// Scans read only the columns that something above looks at.

import { cannotFail } from '../conjunction.ts';
import type { BoundExpression, JoinSide, ProjectItem } from '../expression.ts';
import { callExpressions, expressionsOf } from '../map-plan.ts';
import { NeededSet } from '../needed.ts';
import type { NeededColumns } from '../needed-columns.ts';
import { isWholeRow } from '../pattern.ts';
import type { JoinInput, JoinNode, LateralNode, PlanNode, ProjectNode } from '../plan.ts';
import type { Rule } from './rule.ts';

export const readNeededColumns: Rule = {
  name: 'read-needed-columns',
  apply: (root) => narrow(root, 'all', []),
};

/**
 * @param needed columns of the node's rows that are read above
 * @param late sort keys above that read the input of a projection that keeps it
 */
function narrow(node: PlanNode, needed: NeededColumns, late: readonly BoundExpression[]): PlanNode {
  switch (node.kind) {
    case 'scan':
    case 'ask':
      return { ...node, columns: needed };
    case 'single-row':
    case 'row-dataset':
      return node;
    case 'transpose':
      return { ...node, input: narrow(node.input, 'all', []) };
    case 'merge':
      return { ...node, inputs: node.inputs.map((input) => narrow(input, needed, [])) };
    case 'sample':
      return { ...node, input: narrow(node.input, needed, []) };
    case 'join':
      return narrowJoin(node, needed);
    case 'limit':
      return { ...node, input: narrow(node.input, needed, late) };
    case 'filter':
    case 'when':
      return { ...node, input: narrow(node.input, adding(needed, [node.condition]), []) };
    case 'sort': {
      const keys = node.keys.map((key) => key.expression);
      return { ...node, input: narrowBelowKeys(node.input, node.late, needed, keys, late) };
    }
    case 'distinct-on': {
      const { expressions } = node;
      return { ...node, input: narrowBelowKeys(node.input, node.late, needed, expressions, late) };
    }
    case 'project':
      return narrowProject(node, needed, late);
    case 'aggregate':
    case 'grouping-sets': {
      const args = node.aggregates.flatMap(callExpressions);
      return { ...node, input: narrow(node.input, adding([], [...node.keys, ...args]), []) };
    }
    case 'window': {
      const input = narrow(node.input, adding(needed, expressionsOf(node)), late);
      return { ...node, input };
    }
    case 'rejoin':
      return { ...node, input: narrow(node.input, needed, late) };
    case 'limit-by':
      return { ...node, input: narrow(node.input, needed, late) };
    case 'distinct':
      return { ...node, input: narrow(node.input, 'all', []) };
    case 'set-operation': {
      // Rows that are told apart by their columns need all of them.
      const read = node.operator === 'union' && node.all ? needed : 'all';
      return { ...node, left: narrow(node.left, read, []), right: narrow(node.right, read, []) };
    }
    case 'recursive':
      return { ...node, base: narrow(node.base, 'all', []), step: narrow(node.step, 'all', []) };
    case 'lateral':
      return narrowLateral(node, needed);
    case 'values':
    case 'series':
    case 'shared':
    case 'recursive-table':
      return node;
  }
}

function narrowLateral(node: LateralNode, above: NeededColumns): PlanNode {
  const needed = adding(above, node.condition === undefined ? [] : [node.condition]);
  const read = adding(neededOfSide(needed, node.left), node.args);
  return {
    ...node,
    left: { ...node.left, input: narrow(node.left.input, read, []) },
    right: {
      ...node.right,
      input: narrow(node.right.input, neededOfSide(needed, node.right), []),
    },
  };
}

function adding(needed: NeededColumns, expressions: readonly BoundExpression[]): NeededColumns {
  const set = new NeededSet();
  set.add(needed);
  for (const expression of expressions) set.addExpression(expression);
  return set.columns;
}

/** Late keys read the output row too, so that none of its columns can be left out. */
function narrowBelowKeys(
  input: PlanNode,
  late: boolean,
  needed: NeededColumns,
  keys: readonly BoundExpression[],
  above: readonly BoundExpression[],
): PlanNode {
  return late ? narrow(input, 'all', [...above, ...keys]) : narrow(input, adding(needed, keys), []);
}

function narrowProject(
  node: ProjectNode,
  needed: NeededColumns,
  late: readonly BoundExpression[],
): PlanNode {
  const items = needed === 'all' ? node.items : node.items.filter((item) => isRead(item, needed));
  const set = new NeededSet();
  for (const item of items) {
    const passesAll =
      item.kind === 'wildcard' && item.source === 'input' && isWholeRow(item.pattern);
    if (passesAll) set.add(needed);
    else set.addItems([item]);
  }
  set.addExpression(node.name);
  for (const key of late) set.addExpression(key);
  return { ...node, items, input: narrow(node.input, set.columns, []) };
}

/** False for a column that nothing reads and that cannot fail. */
function isRead(item: ProjectItem, needed: Exclude<NeededColumns, 'all'>): boolean {
  if (item.kind !== 'named' || !cannotFail(item.expression)) return true;
  return needed.some(({ elements }) => {
    const shared = Math.min(elements.length, item.path.length);
    return item.path.slice(0, shared).every((element, index) => element === elements[index]);
  });
}

function narrowJoin(node: JoinNode, above: NeededColumns): PlanNode {
  const isSemi = node.joinKind === 'semi' || node.joinKind === 'anti';
  const needed = adding(isSemi ? [] : above, node.residual === undefined ? [] : [node.residual]);
  const side = (name: JoinSide): JoinInput => {
    const input = node[name];
    const own = node.own[name];
    const keys = node.equalities.map((equality) => equality[name]);
    const read = own === undefined ? keys : [...keys, own];
    // A semi join hands on the rows of its left side as they are.
    const passed = name === 'left' && isSemi ? above : [];
    const set = new NeededSet();
    set.add(passed);
    set.add(adding(neededOfSide(needed, input), read));
    return { ...input, input: narrow(input.input, set.columns, []) };
  };
  return { ...node, left: side('left'), right: side('right') };
}

/** Columns of joined rows as the side names them: below its alias, or as they are. */
function neededOfSide(needed: NeededColumns, input: JoinInput): NeededColumns {
  if (needed === 'all' || input.alias === undefined) return needed;
  const own = needed.filter((path) => path.elements[0] === input.alias);
  return own.some((path) => path.length === 1) ? 'all' : own.map((path) => path.slice(1));
}
