// The binder's entry points: a syntax tree and a catalog in, a plan out.
import type { Expression, Query, SelectItem } from '../sql/node.ts';
import type { Value } from '../value/value.ts';
import { bindExpression } from './bind-expression.ts';
import { bindItems } from './bind-item.ts';
import { bindQueryNode } from './bind-query.ts';
import type { Catalog } from './catalog.ts';
import type { BindContext, BoundQuery, ParameterTypes, Scope } from './context.ts';
import { guardDepth } from './depth.ts';
import { prefixBindingError } from './error.ts';
import type { BoundExpression, ProjectItem } from './expression.ts';
import type { PlanNode, QueryPlan } from './plan.ts';
import { rowTypeOf } from './row-type.ts';
import type { ValueType } from './type.ts';

export interface BindOptions {
  readonly catalog: Catalog;
  readonly parameters?: ParameterTypes | undefined;
  /** Evaluates an expression without columns, for constant folding. */
  readonly evaluate: (expression: BoundExpression) => Value;
}

export interface BoundPlan extends QueryPlan {
  readonly rowType: ValueType;
}

/** @throws SQL_BINDING with a place, or what the catalog says of a dataset that is not there */
export function bindQuery(query: Query, options: BindOptions): BoundPlan {
  return guardDepth(() => {
    const subqueries: PlanNode[] = [];
    const context = makeContext(query.text, options, subqueries);
    const { node, rowType } = context.bindQuery(query);
    return { root: node, subqueries, rowType };
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
  const context: BindContext = {
    catalog: options.catalog,
    text,
    parameters: options.parameters,
    evaluate: options.evaluate,
    bind: (node, scope) => bindExpression(node, scope, context),
    bindQuery: (query) => bindQueryPrefixed(query, context),
    addSubquery: (plan) => subqueries.push(plan) - 1,
  };
  return context;
}

function bindQueryPrefixed(query: Query, context: BindContext): BoundQuery {
  try {
    return bindQueryNode(query, context);
  } catch (error) {
    throw query.from === undefined ? error : prefixBindingError(error);
  }
}
