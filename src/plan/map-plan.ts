// Walking and rewriting plans without naming every kind again.
import { itemExpressions } from './children.ts';
import type { BoundExpression, SortKey } from './expression.ts';
import { mapItem } from './map-expression.ts';
import type { AggregateCall, PlanNode } from './plan.ts';

export function inputsOf(node: PlanNode): readonly PlanNode[] {
  switch (node.kind) {
    case 'scan':
    case 'ask':
    case 'single-row':
    case 'row-dataset':
    case 'values':
    case 'series':
    case 'shared':
    case 'recursive-table':
      return [];
    case 'merge':
      return node.inputs;
    case 'join':
    case 'lateral':
      return [node.left.input, node.right.input];
    case 'set-operation':
      return [node.left, node.right];
    case 'recursive':
      return [node.base, node.step];
    default:
      return [node.input];
  }
}

/** The datasets that a node itself reads, not its inputs. */
export function datasetsReadBy(node: PlanNode): readonly string[] {
  if (node.kind !== 'ask') return node.kind === 'scan' ? [node.dataset] : [];
  const all = (part: PlanNode): readonly string[] => [
    ...datasetsReadBy(part),
    ...inputsOf(part).flatMap(all),
  ];
  return [
    node.dataset,
    ...(node.beside ?? []),
    ...(node.keys ?? []).flatMap(({ rows }) => all(rows)),
  ];
}

/** A copy whose direct inputs were replaced; the node itself when none changed. */
export function mapInputs(node: PlanNode, map: (input: PlanNode) => PlanNode): PlanNode {
  switch (node.kind) {
    case 'scan':
    case 'ask':
    case 'single-row':
    case 'row-dataset':
    case 'values':
    case 'series':
    case 'shared':
    case 'recursive-table':
      return node;
    case 'merge':
      return { ...node, inputs: node.inputs.map(map) };
    case 'set-operation':
      return { ...node, left: map(node.left), right: map(node.right) };
    case 'recursive':
      return { ...node, base: map(node.base), step: map(node.step) };
    case 'join':
    case 'lateral':
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

/** Every expression of a node itself, not of its inputs. */
export function expressionsOf(node: PlanNode): readonly BoundExpression[] {
  switch (node.kind) {
    case 'scan':
      return node.lookup?.names ?? [];
    case 'row-dataset':
      return [node.expression];
    case 'sample':
      return node.options === undefined ? [] : [node.options];
    case 'join': {
      const sides = [node.own.left, node.own.right, node.residual].filter((e) => e !== undefined);
      return [...node.equalities.flatMap(({ left, right }) => [left, right]), ...sides];
    }
    case 'lateral':
      return [...node.args, ...(node.condition === undefined ? [] : [node.condition])];
    case 'filter':
    case 'when':
      return [node.condition];
    case 'project':
      return [
        ...node.items.flatMap(itemExpressions),
        ...(node.name === undefined ? [] : [node.name]),
      ];
    case 'aggregate':
    case 'grouping-sets':
      return [...node.keys, ...node.aggregates.flatMap(callExpressions)];
    case 'window':
      return node.calls.flatMap((call) => [
        ...callExpressions(call),
        ...call.partitionBy,
        ...call.orderBy.map((key) => key.expression),
      ]);
    case 'sort':
      return node.keys.map((key) => key.expression);
    case 'distinct-on':
      return node.expressions;
    case 'limit-by':
      return [node.offset, node.limit].filter((e) => e !== undefined);
    case 'values':
      return node.rows.flat();
    case 'series':
      return [node.start, node.stop, node.step].filter((e) => e !== undefined);
    default:
      return [];
  }
}

/** The arguments of an aggregate with what its modifiers look at. */
export function callExpressions(
  call: Pick<AggregateCall, 'args' | 'modifiers'>,
): readonly BoundExpression[] {
  const { args, modifiers } = call;
  if (modifiers === undefined) return args;
  const { orderBy, filter } = modifiers;
  const keys = orderBy.map((key) => key.expression);
  return [...args, ...keys, ...(filter === undefined ? [] : [filter])];
}

/** A copy of a node whose own expressions were replaced, those of its inputs not. */
export function mapExpressionsOf(
  node: PlanNode,
  map: (expression: BoundExpression) => BoundExpression,
): PlanNode {
  const maybe = (expression: BoundExpression | undefined) =>
    expression === undefined ? undefined : map(expression);
  const keys = (list: readonly SortKey[]) =>
    list.map((key) => ({ ...key, expression: map(key.expression) }));
  const modifiers = <Call extends Pick<AggregateCall, 'args' | 'modifiers'>>(call: Call): Call => ({
    ...call,
    args: call.args.map(map),
    modifiers:
      call.modifiers === undefined
        ? undefined
        : {
            ...call.modifiers,
            orderBy: keys(call.modifiers.orderBy),
            filter: maybe(call.modifiers.filter),
          },
  });
  switch (node.kind) {
    case 'row-dataset':
      return { ...node, expression: map(node.expression) };
    case 'sample':
      return { ...node, options: maybe(node.options) };
    case 'join':
      return {
        ...node,
        equalities: node.equalities.map(({ left, right }) => ({
          left: map(left),
          right: map(right),
        })),
        own: {
          ...(node.own.left === undefined ? {} : { left: map(node.own.left) }),
          ...(node.own.right === undefined ? {} : { right: map(node.own.right) }),
        },
        residual: maybe(node.residual),
      };
    case 'lateral':
      return { ...node, args: node.args.map(map), condition: maybe(node.condition) };
    case 'filter':
    case 'when':
      return { ...node, condition: map(node.condition) };
    case 'project':
      return {
        ...node,
        items: node.items.map((item) => mapItem(item, map)),
        name: maybe(node.name),
      };
    case 'aggregate':
    case 'grouping-sets':
      return { ...node, keys: node.keys.map(map), aggregates: node.aggregates.map(modifiers) };
    case 'window':
      return {
        ...node,
        calls: node.calls.map((call) => ({
          ...modifiers(call),
          partitionBy: call.partitionBy.map(map),
          orderBy: keys(call.orderBy),
        })),
      };
    case 'sort':
      return { ...node, keys: keys(node.keys) };
    case 'distinct-on':
      return { ...node, expressions: node.expressions.map(map) };
    case 'limit-by':
      return { ...node, offset: maybe(node.offset), limit: maybe(node.limit) };
    case 'values':
      return { ...node, rows: node.rows.map((row) => row.map(map)) };
    case 'series':
      return { ...node, start: map(node.start), stop: map(node.stop), step: maybe(node.step) };
    default:
      return node;
  }
}
