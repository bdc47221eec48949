// The scope of a grouped query: keys, aggregates and functions of the group.
import { equalNodes } from '../../sql/equal.ts';
import type { CallNode, ColumnNode, Expression, Span, Star } from '../../sql/node.ts';
import { isQuery, walk } from '../../sql/walk.ts';
import { constant } from '../../value/value.ts';
import { surfaceOf } from '../bind/bind-call.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression } from '../expression.ts';
import type { AggregateFunction, FunctionDeclaration } from '../function.ts';
import type { StarPattern } from '../pattern.ts';
import type { AggregateCall, AggregateModifiers } from '../plan.ts';
import { bindRowFunction, isRowFunction } from '../row-function.ts';
import { arityOf, arityProblem, requireArity } from '../type/arity.ts';
import { ANY_TYPE, atomType, type ValueType } from '../type/type.ts';
import { bindOuter } from './outer.ts';

interface GroupKey {
  readonly node: Expression;
  readonly bound: BoundExpression;
}

export class GroupScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  /** the aggregates that were met, in the order of their numbers */
  readonly aggregates: AggregateCall[] = [];
  readonly keys: readonly BoundExpression[];
  /** the text of the item that is being bound, for messages */
  surface = '';
  readonly #groupKeys: readonly GroupKey[];
  readonly #input: Scope;
  readonly #explicit: boolean;
  readonly #calls: { readonly node: CallNode; readonly type: ValueType }[] = [];

  /** `explicit`: GROUP BY was written, perhaps without keys */
  constructor(
    input: Scope,
    groupBy: readonly Expression[],
    explicit: boolean,
    context: BindContext,
  ) {
    this.#input = input;
    this.#explicit = explicit;
    this.#groupKeys = groupBy.map((node) => ({ node, bound: context.bind(node, input) }));
    this.keys = this.#groupKeys.map((key) => key.bound);
  }

  /** A whole expression that equals a key, as a tree, reads the key. */
  intercept(node: Expression, context: BindContext): BoundExpression | undefined {
    if (node.kind === 'call' && isRowFunction(node.name)) return undefined;
    const index = this.#groupKeys.findIndex((key) => this.#isKey(node, key, context));
    if (index === -1) return undefined;
    const type = (this.keys[index] as BoundExpression).type;
    return { kind: 'group-key', index, type, start: node.start, end: node.end };
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    const key = this.intercept(node, context);
    if (key !== undefined) return key;
    return this.#input.find?.(node, context) === undefined ? undefined : this.column(node, context);
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    if (this.#input.find?.(node, context) === undefined) {
      const outer = bindOuter(node, context);
      if (outer !== undefined) return outer;
    }
    const name = surfaceOf(node, context);
    throw bindingError(
      context.text,
      node,
      `variable '${name}' must appear in the GROUP BY clause or be used in an aggregate function`,
    );
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    if (node.modifiers?.over !== undefined) return undefined;
    if (node.table === undefined) {
      const aggregate = findAggregate(node, context);
      if (aggregate !== undefined) return this.#aggregate(node, aggregate, context);
      if (node.name === 'groupKeyElement' || node.name === 'group_key_element') {
        return this.#keyElement(node, context);
      }
      if (node.name.toLowerCase() === 'grouping') return this.#grouping(node, context);
      if (node.name === 'columnCount') return undefined;
    }
    return bindRowFunction(node, [], this, context) ?? this.#inputCall(node, context);
  }

  star(_star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    const text = this.surface;
    const message =
      place === 'item'
        ? 'Wildcard cannot be used with GROUP BY'
        : this.#explicit
          ? `Non-aggregator '${text}' with GROUP BY clause is not allowed`
          : `Mixing non-aggregator '${text}' with aggregators is not allowed`;
    throw bindingError(context.text, span, message);
  }

  #isKey(node: Expression, key: GroupKey, context: BindContext): boolean {
    if (equalNodes(node, key.node)) return true;
    if (node.kind !== 'column' || key.bound.kind !== 'column') return false;
    // A name of an open table may be any column; one that nobody has is told of where it is read.
    const bound = this.#input.find?.(node, context) ?? quietly(node, this.#input, context);
    return bound.kind === 'column' && samePath(bound.path, key.bound.path);
  }

  #aggregate(node: CallNode, aggregate: AggregateFunction, context: BindContext): BoundExpression {
    const { start, end } = node;
    let index = this.#calls.findIndex((call) => equalNodes(call.node, node));
    if (index === -1) {
      const call = bindAggregate(node, aggregate, this.#input, context);
      index = this.#calls.length;
      this.#calls.push({ node, type: aggregateType(aggregate, call.args) });
      this.aggregates.push(asCountDistinct(call));
      // Unlike count, count_distinct alone gives no row over nothing.
      if (this.aggregates[index] !== call && !this.#explicit) {
        this.#calls.push({
          node: { ...node, args: [], star: true, modifiers: undefined },
          type: ANY_TYPE,
        });
        this.aggregates.push({ ...call, args: [trueAt(node)], modifiers: undefined });
      }
    }
    const type = this.#calls[index]?.type ?? ANY_TYPE;
    return { kind: 'aggregate-result', index, type, start, end };
  }

  /** 1 for groups of sets without the key. */
  #grouping(node: CallNode, context: BindContext): BoundExpression {
    requireArity(node, 1, context);
    const arg = node.args[0] as Expression;
    const key = this.intercept(arg, context);
    if (key?.kind !== 'group-key') {
      const message = `GROUPING takes one of the expressions of GROUP BY, not '${surfaceOf(arg, context)}'`;
      throw bindingError(context.text, node, message);
    }
    const { start, end } = node;
    return { kind: 'grouping', index: key.index, type: atomType('integer'), start, end };
  }

  #keyElement(node: CallNode, context: BindContext): BoundExpression {
    requireArity(node, 1, context);
    const arg = context.bind(node.args[0] as Expression, this);
    return { kind: 'group-key-element', arg, type: ANY_TYPE, start: node.start, end: node.end };
  }

  /** Functions of the input's scope that a group does not have, such as leftRowName(). */
  #inputCall(node: CallNode, context: BindContext): BoundExpression | undefined {
    const bound = this.#input.call(node, context);
    if (bound === undefined) return undefined;
    const message = `function '${surfaceOf(node, context)}' must appear in the GROUP BY clause or be used in an aggregate function`;
    throw bindingError(context.text, node, message);
  }
}

/** Binds a name without a warning: it is only compared. */
function quietly(node: ColumnNode, scope: Scope, context: BindContext): BoundExpression {
  return scope.column(node, { ...context, warn: () => {} });
}

/** True when an aggregate is called somewhere in the expression. */
export function containsAggregate(node: Expression, context: BindContext): boolean {
  return containsCall(node, (call) => isAggregateCall(call, context));
}

export function isAggregateCall(node: CallNode, context: BindContext): boolean {
  return node.modifiers?.over === undefined && findAggregate(node, context) !== undefined;
}

/** True when a window function is called somewhere in the expression. */
export function containsWindow(node: Expression): boolean {
  return containsCall(node, (call) => call.modifiers?.over !== undefined);
}

/** True when the expression is the same for every row: it reads none, nor draws or asks anything. */
export function isFixed(node: Expression, context: BindContext): boolean {
  let fixed = true;
  walk(node, (candidate) => {
    const { kind } = candidate;
    const reads = kind === 'column' || kind === 'parameter' || isQuery(candidate);
    fixed &&= !reads && (kind !== 'call' || isPure(candidate, context));
    return fixed;
  });
  return fixed;
}

function isPure(call: CallNode, context: BindContext): boolean {
  const found = call.table === undefined ? findBuiltin(call.name, context) : undefined;
  return found?.kind === 'scalar' && found.volatility === 'immutable';
}

function containsCall(node: Expression, predicate: (call: CallNode) => boolean): boolean {
  let found = false;
  walk(node, (candidate) => {
    if (isQuery(candidate)) return false;
    found ||= candidate.kind === 'call' && predicate(candidate);
    return !found;
  });
  return found;
}

/** A builtin by its exact name, else by its name in any case. */
export function findBuiltin(name: string, context: BindContext): FunctionDeclaration | undefined {
  const { builtins } = context.namespace;
  return builtins.findFunction(name) ?? builtins.findInAnyCase(name);
}

function findAggregate(node: CallNode, context: BindContext): AggregateFunction | undefined {
  if (node.table !== undefined) return undefined;
  const declaration = findBuiltin(node.name, context);
  return declaration?.kind === 'aggregate' ? declaration : undefined;
}

function bindAggregate(
  node: CallNode,
  aggregate: AggregateFunction,
  input: Scope,
  context: BindContext,
): AggregateCall {
  const surface = surfaceOf(node, context);
  const { start, end } = node;
  const { name } = aggregate;
  const nested = node.args.find((arg) => containsAggregate(arg, context));
  if (nested !== undefined) {
    const message = `aggregate '${surfaceOf(nested, context)}' stands inside '${surface}': aggregate in a sub-select first`;
    throw bindingError(context.text, nested, message);
  }
  if (node.modifiers?.ignoreNulls === true) {
    throw bindingError(context.text, node, `${node.name}() does not take IGNORE NULLS`);
  }
  const modifiers = bindModifiers(node, input, context);
  const plain = { name, modifiers, surface, start, end };
  if (aggregate.name === 'count' && node.star) return { ...plain, args: [trueAt(node)] };
  const problem = node.star
    ? 'does not take *'
    : arityProblem(arityOf(aggregate.parameters), node.args.length);
  if (problem !== undefined) {
    throw bindingError(context.text, node, `function ${node.name} ${problem}`);
  }
  return { ...plain, args: node.args.map((arg) => context.bind(arg, input)) };
}

/** `count(DISTINCT x)` is an aggregate of its own, which has a kernel. */
function asCountDistinct(call: AggregateCall): AggregateCall {
  const { modifiers } = call;
  const plain = modifiers?.distinct === true && modifiers.filter === undefined;
  if (call.name !== 'count' || !plain || call.args.length !== 1) return call;
  return { ...call, name: 'count_distinct', modifiers: undefined };
}

/** DISTINCT, ORDER BY and FILTER of a call; undefined when it has none of them. */
export function bindModifiers(
  node: CallNode,
  input: Scope,
  context: BindContext,
): AggregateModifiers | undefined {
  if (node.modifiers === undefined) return undefined;
  const { distinct, orderBy, filter } = node.modifiers;
  if (!distinct && orderBy.length === 0 && filter === undefined) return undefined;
  if (distinct && node.star) {
    throw bindingError(
      context.text,
      node,
      `${node.name}(DISTINCT *) counts nothing in particular: name the expressions`,
    );
  }
  return {
    distinct,
    orderBy: orderBy.map((key) => ({
      expression: context.bind(key.expression, input),
      descending: key.descending,
      nulls: key.nulls,
    })),
    filter: filter === undefined ? undefined : context.bind(filter, input),
  };
}

function aggregateType(aggregate: AggregateFunction, args: readonly BoundExpression[]): ValueType {
  const [first] = args;
  if (aggregate.overRows && args.length === 1 && first?.type.kind !== 'atom') return ANY_TYPE;
  return aggregate.resultType(args.map((arg) => arg.type));
}

/** `count(*)` counts the constant true. */
export function trueAt({ start, end }: Span): BoundExpression {
  const value = constant(1);
  return { kind: 'constant', value, type: atomType('integer'), start, end };
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
