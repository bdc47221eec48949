// The scope of a grouped query: keys, aggregates and functions of the group.
import { equalNodes } from '../sql/equal.ts';
import type { CallNode, ColumnNode, Expression, Span, Star } from '../sql/node.ts';
import { walk } from '../sql/walk.ts';
import { constant } from '../value/value.ts';
import { arityOf, arityProblem, requireArity } from './arity.ts';
import { surfaceOf } from './bind-call.ts';
import type { BindContext, Scope, WildcardPlace } from './context.ts';
import { bindingError } from './error.ts';
import type { BoundExpression } from './expression.ts';
import type { AggregateFunction } from './function.ts';
import type { StarPattern } from './pattern.ts';
import type { AggregateCall } from './plan.ts';
import { bindRowFunction, isRowFunction } from './row-function.ts';
import { ANY_TYPE, atomType, type ValueType } from './type.ts';

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

  constructor(input: Scope, groupBy: readonly Expression[], context: BindContext) {
    this.#input = input;
    this.#explicit = groupBy.length > 0;
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

  column(node: ColumnNode, context: BindContext): BoundExpression {
    const name = surfaceOf(node, context);
    throw bindingError(
      context.text,
      node,
      `variable '${name}' must appear in the GROUP BY clause or be used in an aggregate function`,
    );
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    if (node.table === undefined) {
      const aggregate = findAggregate(node, context);
      if (aggregate !== undefined) return this.#aggregate(node, aggregate, context);
      if (node.name === 'groupKeyElement' || node.name === 'group_key_element') {
        return this.#keyElement(node, context);
      }
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
    if (node.kind !== 'column') return equalNodes(node, key.node);
    if (key.bound.kind !== 'column') return false;
    const bound = this.#input.column(node, context);
    return bound.kind === 'column' && samePath(bound.path, key.bound.path);
  }

  #aggregate(node: CallNode, aggregate: AggregateFunction, context: BindContext): BoundExpression {
    const { start, end } = node;
    let index = this.#calls.findIndex((call) => equalNodes(call.node, node));
    if (index === -1) {
      const call = bindAggregate(node, aggregate, this.#input, context);
      index = this.#calls.length;
      this.#calls.push({ node, type: aggregateType(aggregate, call.args) });
      this.aggregates.push(call);
    }
    const type = this.#calls[index]?.type ?? ANY_TYPE;
    return { kind: 'aggregate-result', index, type, start, end };
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

/** True when an aggregate is called somewhere in the expression. */
export function containsAggregate(node: Expression, context: BindContext): boolean {
  let found = false;
  walk(node, (candidate) => {
    if (candidate.kind === 'query') return false;
    found ||= candidate.kind === 'call' && findAggregate(candidate, context) !== undefined;
    return !found;
  });
  return found;
}

function findAggregate(node: CallNode, context: BindContext): AggregateFunction | undefined {
  if (node.table !== undefined) return undefined;
  const declaration = context.catalog.builtins.findFunction(node.name);
  return declaration?.kind === 'aggregate' ? declaration : undefined;
}

function bindAggregate(
  node: CallNode,
  aggregate: AggregateFunction,
  input: Scope,
  context: BindContext,
): AggregateCall {
  const surface = surfaceOf(node, context);
  const { name, start, end } = node;
  const countsRows = aggregate.name === 'count' && node.star;
  if (countsRows) return { name, args: [trueAt(node)], surface, start, end };
  const problem = node.star
    ? 'does not take *'
    : arityProblem(arityOf(aggregate.parameters), node.args.length);
  if (problem !== undefined) {
    throw bindingError(context.text, node, `function ${name} ${problem}`);
  }
  const args = node.args.map((arg) => context.bind(arg, input));
  return { name, args, surface, start, end };
}

function aggregateType(aggregate: AggregateFunction, args: readonly BoundExpression[]): ValueType {
  const [first] = args;
  if (aggregate.overRows && args.length === 1 && first?.type.kind !== 'atom') return ANY_TYPE;
  return aggregate.resultType(args.map((arg) => arg.type));
}

/** `count(*)` counts the constant true. */
function trueAt({ start, end }: Span): BoundExpression {
  const value = constant(1);
  return { kind: 'constant', value, type: atomType('integer'), start, end };
}

function samePath(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
