// The binder's entry points: a syntax tree and a namespace in, a plan out.
import type { Expression, QueryNode, SelectItem } from '../../sql/node.ts';
import type { Value } from '../../value/value.ts';
import { someExpression } from '../children.ts';
import type { ColumnOrder } from '../column-order.ts';
import { guardDepth } from '../depth.ts';
import { prefixBindingError } from '../error.ts';
import type { BoundExpression, ProjectItem } from '../expression.ts';
import { expressionsOf, inputsOf, mapInputs } from '../map-plan.ts';
import type { Namespace } from '../namespace.ts';
import type { PlanNode, QueryPlan } from '../plan.ts';
import { rowTypeOf } from '../type/row-type.ts';
import type { ValueType } from '../type/type.ts';
import type { WarningCollector } from '../warning.ts';
import { bindExpression } from './bind-expression.ts';
import { bindItems } from './bind-item.ts';
import { bindQueryNode } from './bind-query.ts';
import type {
  BindContext,
  BoundQuery,
  CommonTables,
  OuterQuery,
  ParameterTypes,
  Scope,
} from './context.ts';

export interface BindOptions {
  /** collects what is probably wrong; absent: nobody asks */
  readonly warnings?: WarningCollector | undefined;
  readonly namespace: Namespace;
  readonly parameters?: ParameterTypes | undefined;
  /** Evaluates an expression without columns, for constant folding. */
  readonly evaluate: (expression: BoundExpression) => Value;
}

export interface BoundPlan extends QueryPlan {
  readonly rowType: ValueType;
  /** the order in which its columns are presented */
  readonly order: ColumnOrder;
}

/** @throws SQL_BINDING with a place, or what the namespace says of a dataset that is not there */
export function bindQuery(query: QueryNode, options: BindOptions): BoundPlan {
  return guardDepth(() => {
    const subqueries: PlanNode[] = [];
    const context = makeContext(query.text, options, subqueries);
    const { node, rowType, order } = context.bindQuery(query);
    const plan = inlineShared({ root: node, subqueries });
    return { ...plan, rowType, order };
  });
}

export interface BoundExpressionPlan {
  readonly expression: BoundExpression;
  readonly subqueries: readonly PlanNode[];
}

/** Binds one expression of `text` in a scope of the caller. */
export function bindSingleExpression(
  node: Expression,
  text: string,
  scope: Scope,
  options: BindOptions,
): BoundExpressionPlan {
  return guardDepth(() => {
    const subqueries: PlanNode[] = [];
    const context = makeContext(text, options, subqueries);
    return { expression: context.bind(node, scope), subqueries };
  });
}

export interface BoundItemsPlan {
  readonly items: readonly ProjectItem[];
  readonly rowType: ValueType;
  readonly subqueries: readonly PlanNode[];
}

/** Binds a select list of `text` in a scope of the caller. */
export function bindSelectItems(
  items: readonly SelectItem[],
  text: string,
  scope: Scope,
  options: BindOptions,
): BoundItemsPlan {
  return guardDepth(() => {
    const subqueries: PlanNode[] = [];
    const context = makeContext(text, options, subqueries);
    const bound = bindItems(items, 'item', scope, context);
    return { items: bound, rowType: rowTypeOf(bound), subqueries };
  });
}

function makeContext(text: string, options: BindOptions, subqueries: PlanNode[]): BindContext {
  return contextWith({ text, options, subqueries, outer: undefined, commonTables: undefined });
}

interface ContextParts {
  readonly text: string;
  readonly options: BindOptions;
  readonly subqueries: PlanNode[];
  readonly outer: OuterQuery | undefined;
  readonly commonTables: CommonTables | undefined;
}

function contextWith(parts: ContextParts): BindContext {
  const { text, options, subqueries, outer, commonTables } = parts;
  const context: BindContext = {
    namespace: options.namespace,
    text,
    parameters: options.parameters,
    evaluate: options.evaluate,
    outer,
    commonTables,
    bind: (node, scope) => bindExpression(node, scope, context),
    bindQuery: (query) => bindQueryPrefixed(query, context),
    bindSubquery(query, scope) {
      const subquery = subqueries.push({ kind: 'single-row' }) - 1;
      const args: BoundExpression[] = [];
      const inner = contextWith({ ...parts, outer: { subquery, scope, context, args } });
      const bound = inner.bindQuery(query);
      subqueries[subquery] = bound.node;
      return { ...bound, subquery, args };
    },
    addSubquery: (plan) => subqueries.push(plan) - 1,
    replaceSubquery(index, plan) {
      subqueries[index] = plan;
    },
    withTables: (tables) => contextWith({ ...parts, commonTables: tables }),
    warn: (span, suspicion) => options.warnings?.add(text, span, suspicion),
  };
  return context;
}

function bindQueryPrefixed(query: QueryNode, context: BindContext): BoundQuery {
  try {
    return bindQueryNode(query, context);
  } catch (error) {
    const hasTable = query.kind !== 'query' || query.from !== undefined;
    throw hasTable ? prefixBindingError(error) : error;
  }
}

/** Puts a shared query that only one place reads into that place. */
function inlineShared(plan: QueryPlan): QueryPlan {
  const counts = new Map<number, number>();
  const count = (node: PlanNode) => {
    if (node.kind === 'shared') counts.set(node.subquery, (counts.get(node.subquery) ?? 0) + 1);
    for (const input of inputsOf(node)) count(input);
  };
  for (const node of [plan.root, ...plan.subqueries]) count(node);
  if (counts.size === 0) return plan;
  const repeated = subqueriesThatRepeat(plan);
  const inline = (node: PlanNode): PlanNode => {
    if (node.kind !== 'shared') return mapInputs(node, inline);
    const single = counts.get(node.subquery) === 1 && !repeated.has(node.subquery);
    return single ? inline(plan.subqueries[node.subquery] as PlanNode) : node;
  };
  return { root: inline(plan.root), subqueries: plan.subqueries.map(inline) };
}

/** Shared queries that are read by plans that may run several times in one run. */
function subqueriesThatRepeat(plan: QueryPlan): ReadonlySet<number> {
  const found = new Set<number>();
  const mark = (node: PlanNode) => {
    if (node.kind === 'shared') found.add(node.subquery);
    for (const input of inputsOf(node)) mark(input);
  };
  const look = (node: PlanNode) => {
    if (node.kind === 'recursive') mark(node.step);
    if (node.kind === 'lateral') mark(node.right.input);
    for (const expression of expressionsOf(node)) {
      someExpression(expression, (part) => {
        if (part.kind === 'subquery' && part.args.length > 0) {
          mark(plan.subqueries[part.subquery] as PlanNode);
        }
        return false;
      });
    }
    for (const input of inputsOf(node)) look(input);
  };
  for (const node of [plan.root, ...plan.subqueries]) look(node);
  return found;
}
