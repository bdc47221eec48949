// Walking and rewriting bound expressions without naming every kind again.
import type { BoundExpression, ProjectItem } from './expression.ts';

/**
 * The expressions directly below one. Wildcards and COLUMN EXPR of a row have none of their own
 * that could be evaluated apart.
 */
export function childrenOf(expression: BoundExpression): readonly BoundExpression[] {
  switch (expression.kind) {
    case 'constant':
    case 'column':
    case 'member':
    case 'parameter':
    case 'value-timestamp':
    case 'scope-call':
    case 'group-key':
    case 'aggregate-result':
    case 'outer':
    case 'window-result':
    case 'grouping':
      return NONE;
    case 'subquery':
      return [...expression.args, ...expression.operands];
    case 'output-column':
      return [expression.otherwise];
    case 'call':
      return expression.args;
    case 'user-call':
    case 'row-function':
    case 'column-function':
    case 'group-key-element':
      return present(expression.arg);
    case 'try':
      return present(expression.operand, expression.otherwise);
    case 'extract':
      return [expression.operand, expression.index];
    case 'row':
      return expression.items.flatMap(itemExpressions);
    case 'embedding':
      return expression.elements;
    case 'unary':
    case 'path-operand':
    case 'is':
    case 'cast':
    case 'in-query':
      return [expression.operand];
    case 'arithmetic':
    case 'comparison':
      return [expression.left, expression.right];
    case 'set-timestamp':
      return [expression.operand, expression.time];
    case 'and':
    case 'or':
      return expression.operands;
    case 'between':
      return [expression.operand, expression.low, expression.high];
    case 'in-list':
      return [expression.operand, ...expression.choices];
    case 'in-members':
      return [expression.operand, expression.row];
    case 'like':
      return [expression.operand, expression.pattern];
    case 'case':
      return present(
        expression.operand,
        ...expression.branches.flatMap((branch) => [branch.when, branch.result]),
        expression.otherwise,
      );
  }
}

/** The expressions of an item of a select list or row literal. */
export function itemExpressions(item: ProjectItem): readonly BoundExpression[] {
  switch (item.kind) {
    case 'named':
    case 'spread':
      return [item.expression];
    case 'wildcard':
      return NONE;
    case 'column-expression':
      return present(
        item.select,
        item.as,
        item.where,
        ...item.orderBy.map((key) => key.expression),
      );
  }
}

/** True when some expression at or below `expression` satisfies the predicate. */
export function someExpression(
  expression: BoundExpression,
  predicate: (candidate: BoundExpression) => boolean,
): boolean {
  return (
    predicate(expression) ||
    childrenOf(expression).some((child) => someExpression(child, predicate))
  );
}

const NONE: readonly BoundExpression[] = [];

function present(...expressions: (BoundExpression | undefined)[]): readonly BoundExpression[] {
  return expressions.filter((expression) => expression !== undefined);
}
