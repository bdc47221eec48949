// Items of select lists and row literals: named expressions, wildcards, COLUMN EXPR.
import type {
  ColumnExpressionItem,
  Exclusion,
  NamedItem,
  SelectItem,
  WildcardItem,
} from '../../sql/node.ts';
import { outputName } from '../../sql/node.ts';
import { someExpression } from '../children.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, ColumnProjectItem, ProjectItem, SortKey } from '../expression.ts';
import { type PatternExclusion, renameOfStar } from '../pattern.ts';
import { COLUMN_SCOPE, ORDER_COLUMN_SCOPE } from '../scope/column-scope.ts';
import { ANY_TYPE, atomType, isAtomType } from '../type/type.ts';
import type { BindContext, Scope, WildcardPlace } from './context.ts';

export function bindItems(
  items: readonly SelectItem[],
  place: WildcardPlace,
  scope: Scope,
  context: BindContext,
): ProjectItem[] {
  return items.flatMap((item) => {
    const expanded = item.kind === 'wildcard' ? scope.expandStar?.(item) : undefined;
    return (expanded ?? [item]).map((each) => bindItem(each, place, scope, context));
  });
}

function bindItem(
  item: SelectItem,
  place: WildcardPlace,
  scope: Scope,
  context: BindContext,
): ProjectItem {
  switch (item.kind) {
    case 'named-expression':
      return bindNamed(item, scope, context);
    case 'wildcard':
      return bindWildcard(item, place, scope, context);
    case 'column-expression':
      return bindColumnExpression(item, place, scope, context);
  }
}

function bindNamed(item: NamedItem, scope: Scope, context: BindContext): ProjectItem {
  const expression = context.bind(item.expression, scope);
  const { start, end } = item;
  const path = outputName(item);
  if (path !== '*') return { kind: 'named', path, expression, start, end };
  if (isAtomType(expression.type)) {
    throw bindingError(context.text, item, 'Expression with AS * must return a row');
  }
  return { kind: 'spread', expression, start, end };
}

function bindWildcard(
  item: WildcardItem,
  place: WildcardPlace,
  scope: Scope,
  context: BindContext,
): ProjectItem {
  const star = scope.star(item.star, item, place, context);
  const excluding = item.excluding.map((exclusion) =>
    bindExclusion(exclusion, item, place, scope, context),
  );
  const rename =
    item.replacement === undefined
      ? ({ kind: 'keep' } as const)
      : renameOfStar(star, item.replacement);
  return {
    kind: 'wildcard',
    source: scope.columns,
    pattern: { ...star, excluding, rename },
    ...(isPlain(item) && scope.listed !== undefined ? { listed: scope.listed } : {}),
    start: item.start,
    end: item.end,
  };
}

/** `*` alone: every column under its own name. */
function isPlain({ star, excluding, replacement }: WildcardItem): boolean {
  return star.path.length === 0 && excluding.length === 0 && replacement === undefined;
}

function bindExclusion(
  exclusion: Exclusion,
  item: WildcardItem,
  place: WildcardPlace,
  scope: Scope,
  context: BindContext,
): PatternExclusion {
  if (exclusion.kind === 'column') {
    return { kind: 'column', path: scope.excluded?.(exclusion.path) ?? exclusion.path };
  }
  return { kind: 'star', star: scope.star(exclusion.star, item, place, context) };
}

function bindColumnExpression(
  item: ColumnExpressionItem,
  place: WildcardPlace,
  scope: Scope,
  context: BindContext,
): ColumnProjectItem {
  // A wildcard over the same columns: refuses COLUMN EXPR wherever `*` is refused.
  scope.star({ path: [], dotted: false }, item, place, context);
  const { start, end, structured } = item;
  const bindOr = (node: typeof item.select, missing: BoundExpression) =>
    node === undefined ? missing : context.bind(node, COLUMN_SCOPE);
  const select = bindOr(item.select, columnFunction('value', item));
  const as = bindOr(item.as, columnFunction('columnPath', item));
  const where = item.where === undefined ? undefined : context.bind(item.where, COLUMN_SCOPE);
  const orderBy = item.orderBy.map((key) => ({
    expression: context.bind(key.expression, ORDER_COLUMN_SCOPE),
    descending: key.descending,
    nulls: key.nulls,
  }));
  const offset = item.offset ?? 0;
  return {
    kind: 'column-expression',
    source: scope.columns,
    structured,
    select,
    as,
    where,
    orderBy,
    offset,
    limit: item.limit,
    dependsOnValue: callsValue(as) || (where !== undefined && callsValue(where)),
    needsColumnList:
      offset > 0 || item.limit !== undefined || [select, as, where].some(callsRowCount),
    start,
    end,
  };
}

function columnFunction(
  name: 'value' | 'columnPath',
  { start, end }: ColumnExpressionItem,
): BoundExpression {
  const type = name === 'value' ? ANY_TYPE : atomType('path');
  return { kind: 'column-function', function: name, arg: undefined, type, start, end };
}

function callsValue(expression: BoundExpression): boolean {
  return callsColumnFunction(expression, 'value');
}

function callsRowCount(expression: BoundExpression | undefined): boolean {
  return expression !== undefined && callsColumnFunction(expression, 'rowCount');
}

function callsColumnFunction(expression: BoundExpression, name: 'value' | 'rowCount'): boolean {
  return someExpression(
    expression,
    (candidate) => candidate.kind === 'column-function' && candidate.function === name,
  );
}

/** ORDER BY keys that are literal constants order nothing. */
export function withoutConstants(keys: readonly SortKey[]): SortKey[] {
  return keys.filter((key) => key.expression.kind !== 'constant');
}
