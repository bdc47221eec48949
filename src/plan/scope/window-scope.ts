// The scope of clauses that may call window functions: the select list, QUALIFY and ORDER BY.
import { equalNodes } from '../../sql/equal.ts';
import type {
  CallNode,
  ColumnNode,
  Expression,
  FrameBoundNode,
  FrameNode,
  NamedWindow,
  OrderKey,
  SelectItem,
  Span,
  Star,
  WildcardItem,
  WindowNode,
} from '../../sql/node.ts';
import { surfaceOf } from '../bind/bind-call.ts';
import type { BindContext, Scope, WildcardPlace } from '../bind/context.ts';
import type { ColumnOrder } from '../column-order.ts';
import { bindingError } from '../error.ts';
import type { BoundExpression, SortKey } from '../expression.ts';
import { isConstant } from '../fold.ts';
import type { StarPattern } from '../pattern.ts';
import type { FrameBound, WindowCall, WindowFrame } from '../plan.ts';
import { arityOf, arityProblem } from '../type/arity.ts';
import { isAtomType, type ValueType } from '../type/type.ts';
import { bindModifiers, findBuiltin, trueAt } from './group-scope.ts';

export class WindowScope implements Scope {
  readonly columns = 'input';
  readonly builtinsOnly = false;
  /** the calls that were met, in the order of their numbers */
  readonly calls: WindowCall[] = [];
  readonly #input: Scope;
  readonly #windows: readonly NamedWindow[];
  readonly #nodes: { readonly node: CallNode; readonly type: ValueType }[] = [];

  constructor(input: Scope, windows: readonly NamedWindow[]) {
    this.#input = input;
    this.#windows = windows;
  }

  get order(): ColumnOrder {
    return this.#input.order as ColumnOrder;
  }

  get listed(): Scope['listed'] {
    return this.#input.listed;
  }

  column(node: ColumnNode, context: BindContext): BoundExpression {
    return this.#input.column(node, context);
  }

  find(node: ColumnNode, context: BindContext): BoundExpression | undefined {
    return this.#input.find?.(node, context);
  }

  intercept(node: Expression, context: BindContext): BoundExpression | undefined {
    return this.#input.intercept?.(node, context);
  }

  star(star: Star, span: Span, place: WildcardPlace, context: BindContext): StarPattern {
    return this.#input.star(star, span, place, context);
  }

  expandStar(item: WildcardItem): readonly SelectItem[] | undefined {
    return this.#input.expandStar?.(item);
  }

  excluded(path: readonly string[]): readonly string[] {
    return this.#input.excluded?.(path) ?? path;
  }

  call(node: CallNode, context: BindContext): BoundExpression | undefined {
    const over = node.modifiers?.over;
    if (over === undefined) return this.#input.call(node, context);
    const { start, end } = node;
    let index = this.#nodes.findIndex((known) => equalNodes(known.node, node));
    if (index === -1) {
      const { call, type } = this.#bind(node, over, context);
      index = this.#nodes.push({ node, type }) - 1;
      this.calls.push(call);
    }
    const type = this.#nodes[index]?.type as ValueType;
    return { kind: 'window-result', index, type, start, end };
  }

  #bind(
    node: CallNode,
    over: WindowNode,
    context: BindContext,
  ): { call: WindowCall; type: ValueType } {
    const declaration = node.table === undefined ? findBuiltin(node.name, context) : undefined;
    if (declaration?.kind !== 'window' && declaration?.kind !== 'aggregate') {
      const message = `'${node.name}' is neither a window function nor an aggregate: it cannot stand before OVER`;
      throw bindingError(context.text, node, message);
    }
    const counts = node.star && declaration.name === 'count';
    const problem = node.star
      ? counts
        ? undefined
        : 'does not take *'
      : arityProblem(arityOf(declaration.parameters), node.args.length);
    if (problem !== undefined) {
      throw bindingError(context.text, node, `function ${node.name} ${problem}`);
    }
    const args = counts ? [trueAt(node)] : node.args.map((arg) => context.bind(arg, this.#input));
    const modifiers = bindModifiers(node, this.#input, context);
    const ignoreNulls = node.modifiers?.ignoreNulls === true;
    if (declaration.kind === 'window') {
      if (modifiers?.distinct === true || (modifiers?.orderBy.length ?? 0) > 0) {
        const message = `${declaration.name}() takes neither DISTINCT nor ORDER BY inside its parentheses: the order stands behind OVER`;
        throw bindingError(context.text, node, message);
      }
      if (modifiers?.filter !== undefined) {
        const message = `${declaration.name}() takes no FILTER: only aggregates do`;
        throw bindingError(context.text, node, message);
      }
    }
    if (ignoreNulls && !(declaration.kind === 'window' && declaration.takesNulls)) {
      throw bindingError(context.text, node, `${node.name}() does not take IGNORE NULLS`);
    }
    const parts = this.#window(over, context, new Set());
    const partitionBy = parts.partitionBy.map((key) => context.bind(key, this.#input));
    const orderBy = parts.orderBy.map((key) => this.#sortKey(key, context));
    const types = args.map((arg) => arg.type);
    const call: WindowCall = {
      name: declaration.name,
      args,
      modifiers,
      ignoreNulls,
      partitionBy: partitionBy.filter((key) => !isConstant(key)),
      orderBy,
      frame: this.#frame(parts.frame, orderBy, context),
      surface: surfaceOf(node, context),
      start: node.start,
      end: node.end,
    };
    return { call, type: declaration.resultType(types) };
  }

  #sortKey(key: OrderKey, context: BindContext): SortKey {
    const expression = context.bind(key.expression, this.#input);
    return { expression, descending: key.descending, nulls: key.nulls };
  }

  /** A window with what it takes over from the one it names. */
  #window(
    node: WindowNode,
    context: BindContext,
    met: Set<string>,
  ): Pick<WindowNode, 'partitionBy' | 'orderBy' | 'frame'> {
    if (node.base === undefined) return node;
    const { base } = node;
    const named = this.#windows.find(({ name }) => name === base);
    if (named === undefined || met.has(base)) {
      const known = this.#windows.map(({ name }) => name).join(', ');
      const message = `there is no window '${base}'; ${known === '' ? 'name one by WINDOW w AS (…)' : `accepted are ${known}`}`;
      throw bindingError(context.text, node, message);
    }
    met.add(base);
    const inherited = this.#window(named.window, context, met);
    if (node.partitionBy.length > 0) {
      const message = `a window that begins with '${base}' has its PARTITION BY from there`;
      throw bindingError(context.text, node, message);
    }
    if (node.orderBy.length > 0 && inherited.orderBy.length > 0) {
      const message = `window '${base}' has an ORDER BY already`;
      throw bindingError(context.text, node, message);
    }
    return {
      partitionBy: inherited.partitionBy,
      orderBy: node.orderBy.length > 0 ? node.orderBy : inherited.orderBy,
      frame: node.frame ?? inherited.frame,
    };
  }

  #frame(
    node: FrameNode | undefined,
    orderBy: readonly SortKey[],
    context: BindContext,
  ): WindowFrame {
    if (node === undefined) {
      const to: FrameBound = { kind: orderBy.length > 0 ? 'current-row' : 'unbounded' };
      return { unit: 'range', from: { kind: 'unbounded' }, to, exclude: 'no others' };
    }
    refuseReversed(node, context);
    const bound = (part: FrameBoundNode) => this.#bound(part, node, orderBy, context);
    return { unit: node.unit, from: bound(node.from), to: bound(node.to), exclude: node.exclude };
  }

  #bound(
    { place, offset }: FrameBoundNode,
    frame: FrameNode,
    orderBy: readonly SortKey[],
    context: BindContext,
  ): FrameBound {
    if (place === 'current-row') return { kind: 'current-row' };
    if (offset === undefined) return { kind: 'unbounded' };
    const bound = context.bind(offset, this.#input);
    const refuse = (message: string) => bindingError(context.text, offset, message);
    if (frame.unit !== 'range') {
      const value = isConstant(bound) && 'atom' in bound.value ? bound.value.atom : undefined;
      if (!Number.isInteger(value) || (value as number) < 0) {
        throw refuse(
          `the offset of a ${frame.unit.toUpperCase()} frame must be a constant integer of at least 0`,
        );
      }
    } else {
      const [key] = orderBy;
      if (key === undefined || orderBy.length > 1) {
        throw refuse('a RANGE frame with an offset needs exactly one ORDER BY expression');
      }
      const { type } = key.expression;
      if (isAtomType(type) && 'atom' in type && NOT_RANGED.has(type.atom)) {
        throw refuse(
          `a RANGE frame with an offset orders numbers or timestamps, not values of type ${type.atom}`,
        );
      }
      if (!isConstant(bound)) throw refuse('the offset of a frame must be a constant');
    }
    const kind = place === 'preceding' ? 'preceding' : 'following';
    return { kind, offset: bound };
  }
}

const NOT_RANGED: ReadonlySet<string> = new Set(['string', 'blob', 'path', 'interval']);

const PLACES = [
  'unbounded-preceding',
  'preceding',
  'current-row',
  'following',
  'unbounded-following',
] as const;

function refuseReversed(node: FrameNode, context: BindContext): void {
  const { from, to } = node;
  const order = PLACES.indexOf(from.place) - PLACES.indexOf(to.place);
  const legal =
    from.place !== 'unbounded-following' && to.place !== 'unbounded-preceding' && order <= 0;
  if (legal) return;
  const message =
    'the frame ends before it begins: write BETWEEN the earlier bound AND the later one';
  throw bindingError(context.text, node as Span, message);
}
