// Sub-selects that read the row around them become joins, or tables that are looked up by key.
//
// In a condition that rows must meet, EXISTS, IN and comparisons with a scalar sub-select become
// semi joins, NOT EXISTS an anti join. Elsewhere the sub-select runs once, without the conditions
// that compare with the row, and its rows are found by the columns of these conditions. What
// compares other than by equality, or has a LIMIT, still runs once for each distinct row.
// See Neumann and Kemper, "Unnesting arbitrary queries", BTW 2015, whose general case is not needed.
import type { ComparisonOperator } from '../../sql/node.ts';
import { NULL_VALUE } from '../../value/value.ts';
import { someExpression } from '../children.ts';
import { conjunctionOf, conjunctsOf, isRowFree } from '../conjunction.ts';
import type {
  BoundExpression,
  ComparisonExpression,
  InQueryExpression,
  NamedProjectItem,
  SubqueryExpression,
} from '../expression.ts';
import { mapExpression } from '../map-expression.ts';
import { expressionsOf, inputsOf, mapExpressionsOf, mapPlan } from '../map-plan.ts';
import type { Namespace } from '../namespace.ts';
import type { AggregateNode, JoinEquality, PlanNode, ProjectNode, QueryPlan } from '../plan.ts';
import { BOOLEAN_TYPE } from '../type/operator-type.ts';
import { isNumericType } from '../type/type.ts';
import type { PlanRule } from './rule.ts';
import { withFilter } from './simplify-filters.ts';

export const unnestSubqueries: PlanRule = {
  name: 'unnest-subqueries',
  apply(plan, { namespace }) {
    const unnesting = new Unnesting(plan, namespace);
    const root = unnesting.rewrite(plan.root);
    const subqueries = plan.subqueries.map((subquery) => unnesting.rewrite(subquery));
    return {
      root,
      subqueries: subqueries.map((node, number) => unnesting.lookedUp.get(number) ?? node),
    };
  },
};

/** What the rows of both sides of the joins are called in their conditions. */
const ROW = 'row';
const SUBSELECT = 'sub-select';

/** A sub-select without the conditions that compare with the row around it. */
interface Unnested {
  readonly base: PlanNode;
  /** sides of `outer = inner`; `outer` is about the row around, `inner` about rows of `base` */
  readonly equalities: readonly {
    readonly outer: BoundExpression;
    readonly inner: BoundExpression;
  }[];
  /** conditions on both rows, with OuterExpressions for the row around */
  readonly others: readonly BoundExpression[];
}

class Unnesting {
  /** the new plans of sub-selects that are looked up, by number */
  readonly lookedUp = new Map<number, PlanNode>();
  readonly #plans: readonly PlanNode[];
  readonly #namespace: Namespace;

  constructor(plan: QueryPlan, namespace: Namespace) {
    this.#plans = plan.subqueries;
    this.#namespace = namespace;
  }

  rewrite(root: PlanNode): PlanNode {
    return mapPlan(root, (node) => {
      const joined = node.kind === 'filter' ? this.#joinConditions(node) : node;
      if (!expressionsOf(joined).some(hasSubquery)) return joined;
      return mapExpressionsOf(joined, (expression) =>
        mapExpression(expression, (part) => (part.kind === 'subquery' ? this.#lookUp(part) : part)),
      );
    });
  }

  #joinConditions(node: Extract<PlanNode, { kind: 'filter' }>): PlanNode {
    const kept: BoundExpression[] = [];
    const joins: ((left: PlanNode) => PlanNode)[] = [];
    for (const part of conjunctsOf(node.condition)) {
      const join = this.#joinOf(part);
      if (join === undefined) kept.push(part);
      else joins.push(join);
    }
    return joins.reduce((input, join) => join(input), withFilter(node.input, kept));
  }

  /** The join that a condition is; undefined when it is none. */
  #joinOf(part: BoundExpression): ((left: PlanNode) => PlanNode) | undefined {
    if (part.kind === 'subquery') return this.#semiJoin(part, 'semi');
    if (part.kind === 'in-query') return this.#memberJoin(part, part.negated);
    if (part.kind === 'unary' && part.operator === 'not') {
      const { operand } = part;
      if (operand.kind === 'in-query') return this.#memberJoin(operand, !operand.negated);
      return operand.kind === 'subquery' ? this.#antiJoin(operand) : undefined;
    }
    return part.kind === 'comparison' ? this.#scalarJoin(part) : undefined;
  }

  /** `x IN (SELECT …)`, where no row reads the row around. */
  #memberJoin(
    { operand, subquery, column, asPaths, type, start, end }: InQueryExpression,
    isAnti: boolean,
  ): ((left: PlanNode) => PlanNode) | undefined {
    if (column === undefined || asPaths) return undefined;
    const any: SubqueryExpression = {
      ...{ kind: 'subquery', mode: 'any', operator: '=', subquery, args: [], operands: [operand] },
      ...{ columns: [column], lookup: undefined, type, start, end },
    };
    return isAnti ? this.#antiJoin(any) : this.#semiJoin(any, 'semi');
  }

  /** Of rows whose value is null NOT IN says nothing, whatever the sub-select has. */
  #antiJoin(expression: SubqueryExpression): ((left: PlanNode) => PlanNode) | undefined {
    const { mode, operands } = expression;
    if (mode !== 'exists' && operands.length !== 1) return undefined;
    const join = this.#semiJoin(expression, 'anti');
    if (join === undefined || mode === 'exists') return join;
    const present = operands.map((operand): BoundExpression => {
      const { start, end } = operand;
      const test = { kind: 'is', operand, test: 'null', negated: true } as const;
      return { ...test, type: BOOLEAN_TYPE, start, end };
    });
    return (left) => join(withFilter(left, present));
  }

  #semiJoin(
    expression: SubqueryExpression,
    joinKind: 'semi' | 'anti',
  ): ((left: PlanNode) => PlanNode) | undefined {
    const { mode, args, operands, columns, subquery } = expression;
    const plan = this.#plans[subquery] as PlanNode;
    if (mode === 'exists') {
      if (args.length === 0) return undefined;
      const unnested = unnest(belowOrder(plan), expression);
      return unnested === undefined ? undefined : joinTo(joinKind, unnested, [], expression);
    }
    if (mode !== 'any' || expression.operator !== '=') return undefined;
    if (args.length === 0) {
      const equalities = operands.map((outer, index) => {
        const { type, start, end } = outer;
        const path = columns[index] ?? [];
        return { outer, inner: { kind: 'column' as const, path, type, start, end } };
      });
      // What becomes an input is no sub-select of its own any more: those in it are looked at here.
      const base = this.rewrite(plan);
      return joinTo(joinKind, { base, equalities: [], others: [] }, equalities, expression);
    }
    const project = belowOrder(plan, false);
    if (project.kind !== 'project') return undefined;
    const cells = columns.map((path) => itemAt(project, path));
    const unnested = unnest(project.input, expression);
    if (unnested === undefined || cells.includes(undefined)) return undefined;
    if (cells.some((cell) => readsOuter(cell as BoundExpression, subquery))) return undefined;
    const more = operands.map((outer, i) => ({ outer, inner: cells[i] as BoundExpression }));
    return joinTo(joinKind, unnested, more, expression);
  }

  /** `x < (SELECT avg(y) FROM … WHERE k = row.k)`: a row without a group meets no comparison. */
  #scalarJoin(part: ComparisonExpression): ((left: PlanNode) => PlanNode) | undefined {
    const found = strictSubqueries(part);
    const [expression] = found ?? [];
    if (expression === undefined || found?.length !== 1) return undefined;
    if (expression.mode !== 'scalar' || expression.args.length === 0) return undefined;
    const grouped = this.#groupedByKey(expression);
    if (grouped === undefined || grouped.otherwise !== undefined) return undefined;
    const { start, end, type } = expression;
    const value: BoundExpression = { kind: 'column', path: VALUE, type, start, end };
    const equalities = grouped.keys.map(({ outer, path }) => ({
      outer,
      inner: { ...value, path, type: outer.type },
    }));
    const base = grouped.plan;
    const [isLeft, isRight] = [part.left === expression, part.right === expression];
    if (part.operator === '=' && (isLeft || isRight)) {
      const outer = isLeft ? part.right : part.left;
      const all = [...equalities, { outer, inner: value }];
      return joinTo('semi', { base, equalities: [], others: [] }, all, expression);
    }
    if (!canPrefix(part)) return undefined;
    const condition = mapExpression(part, (inner) => {
      if (inner.kind === 'column') return below(ROW, inner);
      return inner === expression || inner.kind === 'subquery' ? below(SUBSELECT, value) : inner;
    });
    return (left) => ({
      ...semiJoin('semi', left, base),
      equalities: equalities.map(({ outer, inner }) => ({ left: outer, right: inner })),
      residual: condition,
    });
  }

  /** Rows found by key instead of a run for each row, where that is possible. */
  #lookUp(expression: SubqueryExpression): SubqueryExpression {
    const { subquery, mode, args, columns, lookup } = expression;
    if (args.length === 0 || lookup !== undefined) return expression;
    const grouped = mode === 'scalar' ? this.#groupedByKey(expression) : undefined;
    if (grouped !== undefined) {
      this.lookedUp.set(subquery, grouped.plan);
      return {
        ...expression,
        args: grouped.keys.map(({ outer }) => outer),
        columns: [VALUE],
        lookup: { keys: grouped.keys.map(({ path }) => path), otherwise: grouped.otherwise },
      };
    }
    const plan = this.#plans[subquery] as PlanNode;
    const top = belowOrder(plan, mode === 'exists');
    const project = top.kind === 'project' ? top : undefined;
    const cells = columns.map((path) =>
      project === undefined ? undefined : itemAt(project, path),
    );
    const unnested = unnest(project?.input ?? top, expression);
    if (unnested === undefined || cells.includes(undefined)) return expression;
    const { base, equalities, others } = unnested;
    if (others.length > 0 || equalities.length === 0) return expression;
    if (cells.some((cell) => readsOuter(cell as BoundExpression, subquery))) return expression;
    const keys = equalities.map(({ inner }, index) => named(keyPath(index), inner));
    const values = cells.map((cell, index) => named(cellPath(index), cell as BoundExpression));
    this.lookedUp.set(subquery, projectOf(base, [...keys, ...values]));
    return {
      ...expression,
      args: equalities.map(({ outer }) => outer),
      columns: values.map(({ path }) => path),
      lookup: { keys: keys.map(({ path }) => path), otherwise: undefined },
    };
  }

  /** An aggregate over what belongs to the row, as one over all rows with a group for each key. */
  #groupedByKey(expression: SubqueryExpression):
    | {
        readonly plan: PlanNode;
        readonly keys: readonly {
          readonly outer: BoundExpression;
          readonly path: readonly string[];
        }[];
        /** what no rows give; undefined: null */
        readonly otherwise: BoundExpression | undefined;
      }
    | undefined {
    const project = this.#plans[expression.subquery];
    if (project?.kind !== 'project' || project.input.kind !== 'aggregate') return undefined;
    const aggregate = project.input;
    if (aggregate.explicit || aggregate.keys.length > 0) return undefined;
    const cell = itemAt(project, expression.columns[0] ?? []);
    const unnested = unnest(aggregate.input, expression);
    if (cell === undefined || unnested === undefined) return undefined;
    const { base, equalities, others } = unnested;
    if (others.length > 0 || equalities.length === 0) return undefined;
    const read = [cell, ...expressionsOf(aggregate)];
    if (read.some((part) => readsOuter(part, expression.subquery))) return undefined;
    if (someExpression(cell, (part) => part.kind === 'row-function')) return undefined;
    const input: PlanNode = {
      ...aggregate,
      input: base,
      keys: equalities.map(({ inner }) => inner),
      explicit: true,
    };
    const keys = equalities.map(({ outer, inner }, index) => {
      const { type, start, end } = inner;
      const key: BoundExpression = { kind: 'group-key', index, type, start, end };
      return { outer, path: keyPath(index), item: named(keyPath(index), key) };
    });
    const items = [...keys.map(({ item }) => item), named(VALUE, cell)];
    return { plan: projectOf(input, items), keys, otherwise: this.#overNothing(cell, aggregate) };
  }

  /** What an aggregate that counts nothing says; undefined when no rows give no row. */
  #overNothing(cell: BoundExpression, { aggregates }: AggregateNode): BoundExpression | undefined {
    const functions = aggregates.map(({ name }) => {
      const found = this.#namespace.builtins.findFunction(name);
      return found?.kind === 'aggregate' ? found : undefined;
    });
    if (!functions.some((found) => found?.countsEmpty === true)) return undefined;
    return mapExpression(cell, (part) => {
      if (part.kind !== 'aggregate-result') return part;
      const found = functions[part.index];
      const value = found === undefined ? NULL_VALUE : found.finish(found.init());
      const { type, start, end } = part;
      return { kind: 'constant', value, type, start, end };
    });
  }
}

const VALUE: readonly string[] = ['value'];

function keyPath(index: number): readonly string[] {
  return [`key ${index}`];
}

function cellPath(index: number): readonly string[] {
  return [`cell ${index}`];
}

function named(path: readonly string[], expression: BoundExpression): NamedProjectItem {
  const { start, end } = expression;
  return { kind: 'named', path, expression, start, end };
}

function projectOf(input: PlanNode, items: readonly NamedProjectItem[]): ProjectNode {
  return { kind: 'project', input, items, name: undefined, keepsInput: false };
}

/** The rows without what only orders them, or, where nobody reads them, without a select list. */
function belowOrder(node: PlanNode, belowProject = true): PlanNode {
  if (node.kind === 'sort' && !node.late && node.keep === undefined) {
    return belowOrder(node.input, belowProject);
  }
  if (belowProject) {
    if (node.kind === 'project' || node.kind === 'distinct') return belowOrder(node.input);
    const isSome = node.kind === 'limit' && node.offset === 0 && node.limit !== 0;
    return isSome ? belowOrder(node.input) : node;
  }
  if (node.kind !== 'project' || node.input.kind !== 'sort') return node;
  return { ...node, input: belowOrder(node.input, false) };
}

/** The expression of an item of that name, when it has just one value. */
function itemAt(project: ProjectNode, path: readonly string[]): BoundExpression | undefined {
  const found = project.items.filter(
    (item) =>
      item.kind === 'named' &&
      item.path.length === path.length &&
      item.path.every((element, index) => element === path[index]),
  );
  const [item] = found;
  return found.length === 1 && item?.kind === 'named' ? item.expression : undefined;
}

/** Takes conditions on the row around out of the filters on top; undefined when it is read below. */
function unnest(root: PlanNode, { subquery, args }: SubqueryExpression): Unnested | undefined {
  const plain: BoundExpression[] = [];
  const correlated: BoundExpression[] = [];
  let node = root;
  while (node.kind === 'filter') {
    const parts = conjunctsOf(node.condition);
    plain.unshift(...parts.filter((part) => !readsOuter(part, subquery)));
    correlated.unshift(...parts.filter((part) => readsOuter(part, subquery)));
    node = node.input;
  }
  const base = withFilter(node, plain);
  if (correlated.length === 0 || planReadsOuter(base, subquery)) return undefined;
  const outer = (part: BoundExpression) =>
    mapExpression(part, (inner) =>
      inner.kind === 'outer' && inner.subquery === subquery
        ? (args[inner.index] as BoundExpression)
        : inner,
    );
  const equalities: { outer: BoundExpression; inner: BoundExpression }[] = [];
  const others: BoundExpression[] = [];
  for (const part of correlated) {
    const sides = equalityOf(part, subquery);
    if (sides === undefined) others.push(part);
    else equalities.push({ outer: outer(sides.outer), inner: sides.inner });
  }
  return { base, equalities, others };
}

function equalityOf(
  part: BoundExpression,
  subquery: number,
): { readonly outer: BoundExpression; readonly inner: BoundExpression } | undefined {
  if (part.kind !== 'comparison' || part.operator !== '=') return undefined;
  const isOuter = (side: BoundExpression) => isRowFree(side) && readsOuter(side, subquery);
  const { left, right } = part;
  if (isOuter(left) && !readsOuter(right, subquery)) return { outer: left, inner: right };
  return isOuter(right) && !readsOuter(left, subquery) ? { outer: right, inner: left } : undefined;
}

/** A join of the rows around with those of a sub-select; undefined where a condition forbids it. */
function joinTo(
  joinKind: 'semi' | 'anti',
  { base, equalities: matches, others }: Unnested,
  more: Unnested['equalities'],
  { subquery, args }: SubqueryExpression,
): ((left: PlanNode) => PlanNode) | undefined {
  const all = [...matches, ...more];
  const read = [...others, ...args, ...all.map(({ outer }) => outer)];
  if (all.length === 0 || !read.every(canPrefix)) return undefined;
  const [other, ...rest] = others;
  const extremes = other === undefined || rest.length > 0 ? undefined : extremesOf(other, subquery);
  if (extremes !== undefined) return joinToExtremes(joinKind, base, all, extremes, args);
  const items = new Map<string, NamedProjectItem>();
  const columnOf = (expression: BoundExpression, name: string): BoundExpression => {
    items.set(name, named([name], expression));
    const { type, start, end } = expression;
    return { kind: 'column', path: [name], type, start, end };
  };
  const equalities = all.map(
    ({ outer, inner }, index): JoinEquality => ({
      left: outer,
      right: columnOf(inner, keyPath(index)[0] as string),
    }),
  );
  const conditions = others.map((part) =>
    mapExpression(part, (inner) => {
      if (inner.kind === 'outer' && inner.subquery === subquery) {
        const arg = args[inner.index] as BoundExpression;
        return mapExpression(arg, (leaf) => (leaf.kind === 'column' ? below(ROW, leaf) : leaf));
      }
      if (inner.kind !== 'column') return inner;
      return below(SUBSELECT, columnOf(inner, inner.path.join('.')));
    }),
  );
  const right = projectOf(base, [...items.values()]);
  return (left) => ({
    ...semiJoin(joinKind, left, right),
    equalities,
    residual: conjunctionOf(conditions),
  });
}

/** A comparison with the row around, as one of the sub-select's rows, `inner` to the left. */
interface Extremes {
  readonly operator: ComparisonOperator;
  readonly inner: BoundExpression;
  readonly outer: BoundExpression;
}

/** Undefined where the least and the greatest value do not say whether a comparison holds. */
function extremesOf(part: BoundExpression, subquery: number): Extremes | undefined {
  if (part.kind !== 'comparison') return undefined;
  const { left, right, operator } = part;
  const types = [left.type, right.type];
  const ordered =
    types.every(isNumericType) ||
    ORDERED_TYPES.some((atom) => types.every((type) => type.kind === 'atom' && type.atom === atom));
  const isOuter = (side: BoundExpression) => isRowFree(side) && readsOuter(side, subquery);
  if (!ordered) return undefined;
  if (isOuter(right) && !readsOuter(left, subquery)) return { operator, inner: left, outer: right };
  if (!isOuter(left) || readsOuter(right, subquery)) return undefined;
  return { operator: MIRRORED[operator], inner: right, outer: left };
}

const ORDERED_TYPES = ['string', 'timestamp'];
const MIRRORED: Readonly<Record<ComparisonOperator, ComparisonOperator>> = {
  ...{ '=': '=', '!=': '!=' },
  ...{ '<': '>', '<=': '>=', '>': '<', '>=': '<=' },
};

/**
 * Some value of a group is less than `outer` when the least is, and one differs from it when the
 * least or the greatest does: a row meets one row for its key instead of all of them.
 */
function joinToExtremes(
  joinKind: 'semi' | 'anti',
  base: PlanNode,
  matches: Unnested['equalities'],
  { operator, inner, outer }: Extremes,
  args: readonly BoundExpression[],
): (left: PlanNode) => PlanNode {
  const { type, start, end } = inner;
  const call = (name: string) => ({ name, args: [inner], surface: `${name}()`, start, end });
  const groups: PlanNode = {
    kind: 'aggregate',
    input: base,
    keys: matches.map((match) => match.inner),
    aggregates: [call('min'), call('max')],
    explicit: true,
  };
  const keys = matches.map((match, index) =>
    named(keyPath(index), { ...spanned(match.inner), kind: 'group-key', index }),
  );
  const results = EXTREMES.map((name, index) =>
    named([name], { kind: 'aggregate-result', index, type, start, end }),
  );
  const around = mapExpression(outer, (leaf) => {
    if (leaf.kind !== 'outer') return leaf;
    const arg = args[leaf.index] as BoundExpression;
    return mapExpression(arg, (part) => (part.kind === 'column' ? below(ROW, part) : part));
  });
  const compared = EXTREMES.map((name): BoundExpression => {
    const left: BoundExpression = { kind: 'column', path: [SUBSELECT, name], type, start, end };
    return { kind: 'comparison', operator, left, right: around, type: BOOLEAN_TYPE, start, end };
  });
  const [byLeast, byGreatest] = compared as [BoundExpression, BoundExpression];
  const residual: BoundExpression =
    operator === '!='
      ? { kind: 'or', operands: compared, type: BOOLEAN_TYPE, start, end }
      : operator.startsWith('<')
        ? byLeast
        : byGreatest;
  return (left) => ({
    ...semiJoin(joinKind, left, projectOf(groups, [...keys, ...results])),
    equalities: matches.map((match, index) => ({
      left: match.outer,
      right: { ...spanned(match.inner), kind: 'column', path: keyPath(index) },
    })),
    residual,
  });
}

function spanned({ type, start, end }: BoundExpression) {
  return { type, start, end };
}

const EXTREMES = ['least', 'greatest'];

function semiJoin(
  joinKind: 'semi' | 'anti',
  left: PlanNode,
  right: PlanNode,
): Extract<PlanNode, { kind: 'join' }> {
  return {
    kind: 'join',
    joinKind,
    left: { input: left, alias: ROW, tableCount: 1 },
    right: { input: right, alias: SUBSELECT, tableCount: 1 },
    equalities: [],
    own: {},
    residual: undefined,
    order: 'any',
  };
}

function below(alias: string, column: BoundExpression): BoundExpression {
  return column.kind === 'column' ? { ...column, path: [alias, ...column.path] } : column;
}

/** Whether an expression reads a row by columns alone, which a join calls otherwise. */
function canPrefix(expression: BoundExpression): boolean {
  return !someExpression(expression, (part) => {
    switch (part.kind) {
      case 'row-function':
      case 'column-function':
      case 'output-column':
      case 'scope-call':
      case 'value-timestamp':
      case 'row':
      case 'member':
      case 'group-key':
      case 'group-key-element':
      case 'aggregate-result':
      case 'window-result':
      case 'grouping':
        return true;
      default:
        return false;
    }
  });
}

/**
 * The sub-selects of an expression that is null where one of them is; undefined when it may have a
 * value all the same.
 */
function strictSubqueries(expression: BoundExpression): SubqueryExpression[] | undefined {
  if (expression.kind === 'subquery') return [expression];
  if (!hasSubquery(expression)) return [];
  switch (expression.kind) {
    case 'comparison':
    case 'arithmetic': {
      const sides = [strictSubqueries(expression.left), strictSubqueries(expression.right)];
      return sides.includes(undefined) ? undefined : sides.flatMap((side) => side ?? []);
    }
    case 'cast':
      return strictSubqueries(expression.operand);
    default:
      return undefined;
  }
}

function hasSubquery(expression: BoundExpression): boolean {
  return someExpression(expression, (part) => part.kind === 'subquery');
}

function readsOuter(expression: BoundExpression, subquery: number): boolean {
  return someExpression(expression, (part) => part.kind === 'outer' && part.subquery === subquery);
}

function planReadsOuter(node: PlanNode, subquery: number): boolean {
  return (
    expressionsOf(node).some((expression) => readsOuter(expression, subquery)) ||
    inputsOf(node).some((input) => planReadsOuter(input, subquery))
  );
}
