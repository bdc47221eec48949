// Groups that the server makes: a row for each, whose columns are its keys and aggregates.
import type { BoundExpression } from '../../plan/expression.ts';
import { mapChildren } from '../../plan/map-expression.ts';
import type { AggregateNode, AskNode, PlanNode } from '../../plan/plan.ts';
import { askedOf } from './clickhouse-asked.ts';
import type { Lowering } from './clickhouse-sql.ts';

export const keyName = (index: number) => `=k${index}`;
export const valueName = (index: number) => `=a${index}`;

export const ANY_ATOM = { kind: 'atom', atom: 'atom' } as const;

export function columnOf(
  name: string,
  {
    start,
    end,
    ...rest
  }: { readonly start: number; readonly end: number; readonly type?: BoundExpression['type'] },
): BoundExpression {
  return { kind: 'column', path: [name], type: rest.type ?? ANY_ATOM, start, end };
}

export interface GroupsBelow {
  readonly groups: AggregateNode;
  readonly ask: AskNode;
}

/** The groups that a node reads, when they are all that the server has for it. */
export function groupsBelow(node: PlanNode): GroupsBelow | undefined {
  if (node.kind !== 'aggregate' || node.input.kind !== 'ask') return undefined;
  const { input: ask } = node;
  return askedOf(ask).groups === undefined ? undefined : { groups: node, ask };
}

/** Keys and aggregates as the columns that the server gives for them. */
export function groupColumns(expression: BoundExpression): BoundExpression {
  if (expression.kind === 'group-key') return columnOf(keyName(expression.index), expression);
  if (expression.kind === 'aggregate-result')
    return columnOf(valueName(expression.index), expression);
  return mapChildren(expression, groupColumns);
}

/** Keys and aggregates by the names of their columns. */
export function withGroups(to: Lowering, ask: AskNode): Lowering {
  return { ...to, expressions: new Map(Object.entries(askedOf(ask).computed)) };
}
