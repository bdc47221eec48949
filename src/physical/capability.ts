// What operators over batches know of expressions and aggregates, by name.
import { someExpression } from '../plan/children.ts';
import type { BoundExpression } from '../plan/expression.ts';
import type { AggregateCall } from '../plan/plan.ts';

/** Expressions that read more of a row than single columns. */
export const OPAQUE_KINDS: ReadonlySet<BoundExpression['kind']> = new Set([
  'row',
  'extract',
  'member',
  'output-column',
  'row-function',
  'value-timestamp',
  'column-function',
  'scope-call',
  'group-key-element',
  'in-members',
  'outer',
  'subquery',
]);

const KERNEL_AGGREGATES = [
  ...(['count', 'vertical_count', 'sum', 'vertical_sum', 'avg', 'vertical_avg'] as const),
  ...(['min', 'vertical_min', 'max', 'vertical_max', 'variance', 'vertical_variance'] as const),
  ...(['stddev', 'vertical_stddev', 'count_distinct'] as const),
] as const;

/** The name of an aggregate that kernels accumulate. */
export type KernelAggregate = (typeof KERNEL_AGGREGATES)[number];

const AGGREGATE_NAMES: ReadonlySet<string> = new Set(KERNEL_AGGREGATES);

/** Whether kernels accumulate an aggregate, for arguments that suit. */
export function isKernelAggregate({ name, args, modifiers }: AggregateCall): boolean {
  return modifiers === undefined && AGGREGATE_NAMES.has(name) && args.length === 1;
}

const QUANTILES: ReadonlySet<string> = new Set(['median', 'quantile_cont', 'quantile_disc']);

/** Whether an aggregate is found by counting the distinct values of each group. */
export function isQuantile({ name, args, modifiers }: AggregateCall): boolean {
  if (modifiers !== undefined || !QUANTILES.has(name)) return false;
  return name === 'median' ? args.length === 1 : args[1]?.kind === 'constant';
}

/** Whether an aggregate that kernels accumulate takes each value once. */
export function isDistinct({ name, args, modifiers }: AggregateCall): boolean {
  if (args.length !== 1 || !AGGREGATE_NAMES.has(name)) return false;
  if (modifiers === undefined) return name === 'count_distinct';
  return modifiers.distinct && modifiers.orderBy.length === 0;
}

/** The same call about values of which no two are the same. */
export function withoutDistinct(call: AggregateCall): AggregateCall {
  const name = call.name === 'count_distinct' ? 'count' : call.name;
  return { ...call, name, modifiers: undefined };
}

/** Whether FILTER is all that the modifiers of a call say. */
export function isOnlyFiltered({ modifiers }: AggregateCall): boolean {
  return modifiers === undefined || (!modifiers.distinct && modifiers.orderBy.length === 0);
}

/** Why operators over batches do not evaluate an expression; undefined when they may. */
export function opaquePart(
  expression: BoundExpression,
  except?: BoundExpression['kind'],
): string | undefined {
  let found: BoundExpression['kind'] | undefined;
  someExpression(expression, ({ kind }) => {
    if (kind === except || !OPAQUE_KINDS.has(kind)) return false;
    found = kind;
    return true;
  });
  return found && `an expression reads more than single columns (${found})`;
}
