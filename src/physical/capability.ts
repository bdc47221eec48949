// What operators over batches know of expressions and aggregates, by name.
import { childrenOf, itemExpressions } from '../plan/children.ts';
import type { BoundExpression, ProjectItem } from '../plan/expression.ts';
import type { ColumnScores } from '../plan/function.ts';
import type { Namespace } from '../plan/namespace.ts';
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

/** Whether the function itself takes the values of an aggregate, one by one: no kernel does. */
export function isFolded(call: AggregateCall, exactTimestamps: boolean): boolean {
  const plain = { ...call, modifiers: undefined };
  if (isOnlyFiltered(call) && isKernelAggregate(plain)) return false;
  if (exactTimestamps) return true;
  return !isDistinct(call) && !(isOnlyFiltered(call) && isQuantile(plain));
}

/** A number that a trained model makes of columns. */
export interface ScoreCall {
  readonly scores: ColumnScores;
  /** the row of features */
  readonly items: readonly ProjectItem[];
}

/** `model({features: {…}})[score]` of a model that scores columns; undefined for all else. */
export function scoreCall(expression: BoundExpression, models: Models): ScoreCall | undefined {
  if (expression.kind !== 'extract') return undefined;
  const { operand, index } = expression;
  if (operand.kind !== 'user-call' || index.kind !== 'member') return undefined;
  const { arg, name } = operand;
  const [item, ...others] = arg?.kind === 'row' ? arg.items : [];
  if (item?.kind !== 'named' || item.expression.kind !== 'row' || others.length > 0) {
    return undefined;
  }
  const scores = models.findUserFunction(name)?.columnScores;
  if (scores === undefined || !isSamePath(item.path, [scores.member])) return undefined;
  const { items } = item.expression;
  const areKnown = items.every(
    (each) => each.kind === 'named' || (each.kind === 'wildcard' && each.source === 'input'),
  );
  return areKnown && isSamePath(index.path, scores.path) ? { scores, items } : undefined;
}

/** Where models are found by their names. */
export type Models = Pick<Namespace, 'findUserFunction'>;

function isSamePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}

interface OpaqueOptions {
  /** a kind that is evaluated apart */
  readonly except?: BoundExpression['kind'];
  /** present: models score columns */
  readonly models?: Models | undefined;
}

/** Why operators over batches do not evaluate an expression; undefined when they may. */
export function opaquePart(
  expression: BoundExpression,
  options: OpaqueOptions = {},
): string | undefined {
  const found = opaqueKind(expression, options);
  return found && `an expression reads more than single columns (${found})`;
}

function opaqueKind(
  expression: BoundExpression,
  options: OpaqueOptions,
): BoundExpression['kind'] | undefined {
  const { except, models } = options;
  const score = models && scoreCall(expression, models);
  const { kind } = expression;
  if (score === undefined && kind !== except && OPAQUE_KINDS.has(kind)) return kind;
  const parts = score?.items.flatMap(itemExpressions) ?? childrenOf(expression);
  for (const part of parts) {
    const found = opaqueKind(part, options);
    if (found !== undefined) return found;
  }
  return undefined;
}
