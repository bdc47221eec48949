// Structural equality of syntax trees: what GROUP BY and DISTINCT ON match by.
import type {
  CallModifiers,
  Exclusion,
  NamePath,
  QueryNode,
  SqlNode,
  Star,
  TableNaming,
} from './node.ts';
import { outputName, unreachable } from './node.ts';
import { childrenOf, nodesBottomUp } from './walk.ts';

/**
 * Whether two trees are the same but for where they stand, white space, comments, letter case of
 * keywords and parentheses. Items of row literals are the same when their output names are.
 */
export function equalNodes(left: SqlNode, right: SqlNode): boolean {
  const pending: [SqlNode, SqlNode][] = [[left, right]];
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (a.kind !== b.kind || labelOf(a) !== labelOf(b)) return false;
    const ofA = childrenOf(a);
    const ofB = childrenOf(b);
    if (ofA.length !== ofB.length) return false;
    for (let index = 0; index < ofA.length; index++) {
      pending.push([ofA[index] as SqlNode, ofB[index] as SqlNode]);
    }
  }
  return true;
}

/** A text that two trees share exactly when they are equal: a key for maps of expressions. */
export function structuralKey(root: SqlNode): string {
  const keys = new Map<SqlNode, string>();
  for (const node of nodesBottomUp(root)) {
    // Concatenation, unlike join, does not copy the long key of a chain at each of its operators.
    let key = `${labelOf(node)}(`;
    for (const child of childrenOf(node)) key += `${keys.get(child)},`;
    keys.set(node, `${key})`);
  }
  return keys.get(root) as string;
}

/**
 * All of a node but its children and its place. Where a child may be missing, the label says
 * whether it is there, so that equal labels and equal lists of children mean equal nodes.
 */
function labelOf(node: SqlNode): string {
  switch (node.kind) {
    case 'literal':
      return label(node.kind, typeof node.value, String(node.value));
    case 'interval-literal':
      return label(node.kind, node.text);
    case 'parameter':
      return label(node.kind, node.name);
    case 'column':
      return label(node.kind, ...node.path);
    case 'call':
      return label(
        node.kind,
        has(node.table),
        node.table ?? '',
        node.name,
        node.star,
        ...modifierLabel(node.modifiers),
      );
    case 'window':
      return label(
        node.kind,
        has(node.base),
        node.base ?? '',
        node.partitionBy.length,
        node.orderBy.length,
        has(node.frame),
      );
    case 'frame':
      return label(node.kind, node.unit, node.from.place, node.to.place, node.exclude);
    case 'scalar-query':
    case 'exists':
    case 'tuple':
      return node.kind;
    case 'quantified':
      return label(node.kind, node.operator, node.quantifier);
    case 'extract':
    case 'row':
    case 'embedding':
    case 'and':
    case 'or':
      return node.kind;
    case 'unary':
    case 'binary':
      return label(node.kind, node.operator);
    case 'between':
      return label(node.kind, node.negated, node.symmetric === true);
    case 'like':
      return label(node.kind, node.negated, node.anyCase === true, has(node.escape));
    case 'in-list':
    case 'in-query':
    case 'in-keys':
    case 'in-values':
    case 'distinct-from':
      return label(node.kind, node.negated);
    case 'is':
      return label(node.kind, node.test, node.negated);
    case 'case':
      return label(node.kind, has(node.operand), has(node.otherwise));
    case 'cast':
      return label(node.kind, node.type, node.scale ?? '');
    case 'wildcard': {
      const replacement =
        node.replacement === undefined ? [has(undefined)] : starLabel(node.replacement);
      const excluding = node.excluding.flatMap(exclusionLabel);
      return label(node.kind, ...starLabel(node.star), ...replacement, ...excluding);
    }
    case 'named-expression':
      return label(node.kind, ...nameLabel(outputName(node)));
    case 'column-expression':
      return label(
        node.kind,
        node.structured,
        has(node.select),
        has(node.as),
        has(node.where),
        node.offset ?? '',
        node.limit ?? '',
      );
    case 'order-key':
      return label(node.kind, node.descending, node.nulls ?? '');
    case 'dataset-table':
      return label(node.kind, node.name, ...namingLabel(node));
    case 'function-table':
      return label(node.kind, node.name, has(node.options), ...namingLabel(node));
    case 'series-table':
      return label(node.kind, node.name, ...namingLabel(node));
    case 'row-dataset-table':
    case 'atom-dataset-table':
      return label(node.kind, ...namingLabel(node));
    case 'subquery':
      return label(node.kind, node.lateral === true, ...namingLabel(node));
    case 'join':
      return label(
        node.kind,
        node.joinKind,
        has(node.on),
        node.natural === true,
        has(node.using),
        ...(node.using ?? []),
      );
    case 'common-table':
      return label(node.kind, node.name, String(node.materialized), ...(node.columnNames ?? []));
    case 'query':
      return label(
        node.kind,
        ...frameLabel(node),
        node.distinct === true,
        node.distinctOn.length,
        node.select.length,
        has(node.named),
        has(node.from),
        has(node.when),
        has(node.where),
        node.groupBy.length,
        node.groupByAll === true,
        JSON.stringify(node.groupingSets ?? null),
        has(node.having),
        ...(node.windows ?? []).map(({ name }) => name),
        has(node.qualify),
      );
    case 'set-query':
      return label(node.kind, ...frameLabel(node), node.operator, node.all, node.byName);
    case 'values-query':
      return label(node.kind, ...frameLabel(node), ...node.rows.map((row) => row.length));
    default:
      return unreachable(node);
  }
}

function modifierLabel(modifiers: CallModifiers | undefined): readonly (string | boolean)[] {
  if (modifiers === undefined) return [];
  const { distinct, orderBy, ignoreNulls, filter, over } = modifiers;
  return [distinct, String(orderBy.length), ignoreNulls, has(filter), has(over)];
}

function namingLabel(naming: TableNaming): readonly (string | boolean)[] {
  const { alias, columnNames, sample } = naming;
  return [has(alias), alias ?? '', JSON.stringify([columnNames ?? null, sample ?? null])];
}

function frameLabel(query: QueryNode): readonly (string | number | boolean)[] {
  return [
    query.with?.recursive === true,
    query.with?.tables.length ?? 0,
    query.orderBy.length,
    query.orderByAll === undefined ? '' : String(query.orderByAll.descending),
    has(query.limit),
    has(query.offset),
  ];
}

function label(...parts: readonly (string | number | boolean)[]): string {
  return JSON.stringify(parts);
}

function has(part: unknown): boolean {
  return part !== undefined;
}

function nameLabel(name: NamePath | '*'): readonly (string | boolean)[] {
  return name === '*' ? [true] : [false, ...name];
}

function starLabel(star: Star): readonly (string | number | boolean)[] {
  return [star.path.length, ...star.path, star.dotted];
}

function exclusionLabel(exclusion: Exclusion): readonly (string | number | boolean)[] {
  return exclusion.kind === 'star'
    ? ['star', ...starLabel(exclusion.star)]
    : ['column', exclusion.path.length, ...exclusion.path];
}
