// Semi and anti joins whose left side has few rows read of their right side only the rows with keys of
// the left one: the left side runs once, and its keys are pushed down the right side, below its groups.
// A semi join over joins goes down to the table that it asks about, where that has fewer rows.
// "Sideways information passing": Ives and Taylor, "Sideways information passing for push-style query
// processing", ICDE 2008; here by a shared sub-select, so that every engine can run it.
import { someExpression } from '../children.ts';
import type { BoundExpression, JoinSide } from '../expression.ts';
import { expressionsOf, inputsOf, mapInputs } from '../map-plan.ts';
import type { Namespace } from '../namespace.ts';
import type { JoinEquality, JoinInput, JoinNode, PlanNode, QueryPlan } from '../plan.ts';
import { estimateRows } from './estimate.ts';
import type { PlanRule } from './rule.ts';

/** Fewer rows are joined as they are. */
const ROW_COUNT_MIN = 1024;
/** Rows of the right side for each one of the left, at least. */
const RATIO_MIN = 6;

export const reduceSemiJoins: PlanRule = {
  name: 'reduce-semi-joins',
  apply(plan, { namespace }) {
    const reduction = new Reduction(plan, namespace);
    const root = reduction.rewrite(plan.root);
    plan.subqueries.forEach((subquery, number) => {
      reduction.subqueries[number] = reduction.rewrite(subquery);
    });
    return { root, subqueries: reduction.subqueries };
  },
};

class Reduction {
  readonly subqueries: PlanNode[];
  readonly #namespace: Namespace;

  constructor({ subqueries }: QueryPlan, namespace: Namespace) {
    this.subqueries = [...subqueries];
    this.#namespace = namespace;
  }

  rewrite(node: PlanNode): PlanNode {
    // What a recursion or the row around a part is at, differs from run to run.
    if (node.kind === 'recursive' || node.kind === 'lateral') return node;
    const moved = this.#moved(node);
    const below = mapInputs(moved, (input) => this.rewrite(input));
    return isSemi(below) ? (this.#reduced(below) ?? below) : below;
  }

  /** The semi join on the one table of its left side that it asks about. */
  #moved(node: PlanNode): PlanNode {
    if (!isSemi(node) || node.residual !== undefined || node.own.left !== undefined) return node;
    const { equalities, left } = node;
    if (equalities.length === 0) return node;
    const keys = equalities.map((equality) => equality.left);
    const rowCount = this.#rows(left.input);
    const place = (target: PlanNode, own: readonly BoundExpression[]): PlanNode | undefined => {
      if (this.#rows(target) >= rowCount) return undefined;
      return {
        ...node,
        left: sideOf(target),
        equalities: equalities.map((equality, index) => {
          return { ...equality, left: own[index] as BoundExpression };
        }),
      };
    };
    return intoJoin(left.input, keys, place) ?? node;
  }

  /** Undefined when the right side has not so many rows more than the left one. */
  #reduced(node: SemiJoinNode): PlanNode | undefined {
    const { left, right, equalities } = node;
    const rowCount = this.#rows(left.input);
    if (left.input.kind === 'shared' || !isStored(left.input, this.#namespace)) return undefined;
    const number = this.subqueries.length;
    const shared: PlanNode = { kind: 'shared', subquery: number, rowCount };
    const least = Math.max(ROW_COUNT_MIN, rowCount * RATIO_MIN);
    const filtered = (target: PlanNode, pairs: readonly JoinEquality[]): PlanNode | undefined => {
      if (this.#rows(target) < least || !isStored(target, this.#namespace)) return undefined;
      return {
        ...{ kind: 'join', joinKind: 'semi', left: sideOf(target) },
        right: { ...left, input: shared, alias: undefined },
        equalities: pairs.map((pair) => ({ left: pair.right, right: pair.left })),
        ...{ own: {}, residual: undefined, order: 'any' },
      };
    };
    const input = below(right.input, equalities, filtered);
    if (input === undefined) return undefined;
    this.subqueries.push(left.input);
    return { ...node, left: { ...left, input: shared }, right: { ...right, input } };
  }

  #rows(node: PlanNode): number {
    return estimateRows(node, this.#namespace);
  }
}

type SemiJoinNode = JoinNode & { readonly joinKind: 'semi' | 'anti' };

function isSemi(node: PlanNode): node is SemiJoinNode {
  return node.kind === 'join' && (node.joinKind === 'semi' || node.joinKind === 'anti');
}

/** Whether all that is read lies here, and is the same whenever it is read. */
function isStored(node: PlanNode, namespace: Namespace): boolean {
  if (node.kind === 'shared') return true;
  if (node.kind === 'scan') {
    const { snapshot } = namespace.dataset(node.dataset);
    return node.lookup === undefined && snapshot?.layout === 'columnar';
  }
  const inputs = inputsOf(node);
  if (inputs.length === 0 || !KEEPING.has(node.kind)) return false;
  const isOpen = (part: BoundExpression) => part.kind === 'outer' || part.kind === 'row-function';
  return (
    !expressionsOf(node).some((expression) => someExpression(expression, isOpen)) &&
    inputs.every((input) => isStored(input, namespace))
  );
}

const KEEPING: ReadonlySet<PlanNode['kind']> = new Set([
  ...(['filter', 'project', 'join', 'aggregate', 'rejoin'] as const),
]);

type Place = (target: PlanNode, pairs: readonly JoinEquality[]) => PlanNode | undefined;

/**
 * A right side with another node at its lowest place where the keys can be read.
 * @param pairs `right`: about the rows of the node
 */
function below(node: PlanNode, pairs: readonly JoinEquality[], place: Place): PlanNode | undefined {
  if (pairs.length === 0) return undefined;
  switch (node.kind) {
    case 'project': {
      const inner = mapKeys(pairs, (key) => {
        const item = node.items.find(
          (each) => each.kind === 'named' && key.kind === 'column' && isSame(each.path, key.path),
        );
        return item?.kind === 'named' ? item.expression : undefined;
      });
      const input = below(node.input, inner, place);
      return input && { ...node, input };
    }
    case 'aggregate': {
      const inner = mapKeys(pairs, (key) =>
        key.kind === 'group-key' ? node.keys[key.index] : undefined,
      );
      const input = below(node.input, inner, place);
      return input && { ...node, input };
    }
    case 'filter': {
      // The scan leaves rows out first, which costs less than looking a key up.
      if (node.input.kind === 'scan') return place(node, columnsOnly(pairs));
      const input = below(node.input, pairs, place);
      return input && { ...node, input };
    }
    case 'scan':
      return place(node, columnsOnly(pairs));
    case 'join': {
      if (isSemi(node)) {
        const input = below(node.left.input, pairs, place);
        return input && { ...node, left: { ...node.left, input } };
      }
      const keys = columnsOnly(pairs);
      const into = (target: PlanNode, own: readonly BoundExpression[]) =>
        below(
          target,
          keys.map((pair, index) => ({ ...pair, right: own[index] as BoundExpression })),
          place,
        );
      return intoJoin(
        node,
        keys.map((pair) => pair.right),
        into,
      );
    }
    default:
      return undefined;
  }
}

function mapKeys(
  pairs: readonly JoinEquality[],
  map: (key: BoundExpression) => BoundExpression | undefined,
): JoinEquality[] {
  return pairs.flatMap((pair) => {
    const right = map(pair.right);
    return right === undefined ? [] : [{ ...pair, right }];
  });
}

/** Rows are looked up by what lies in columns; what is computed of them could fail. */
function columnsOnly(pairs: readonly JoinEquality[]): readonly JoinEquality[] {
  return pairs.filter(({ right }) => right.kind === 'column');
}

/**
 * Inner joins with another node instead of the one table that has all of some columns.
 * @param replace is given the table and the columns as it names them
 */
function intoJoin(
  node: PlanNode,
  keys: readonly BoundExpression[],
  replace: (target: PlanNode, own: readonly BoundExpression[]) => PlanNode | undefined,
): PlanNode | undefined {
  if (node.kind !== 'join' || node.joinKind !== 'inner' || keys.length === 0) return undefined;
  for (const name of ['left', 'right'] as const) {
    const side = node[name];
    const own = keysOfSide(node, name, keys);
    if (own === undefined) continue;
    const input =
      side.alias === undefined ? intoJoin(side.input, own, replace) : replace(side.input, own);
    return input && { ...node, [name]: { ...side, input } };
  }
  return undefined;
}

/** The columns as a side names them; undefined when it has not all of them. */
function keysOfSide(
  { left, right }: JoinNode,
  name: JoinSide,
  keys: readonly BoundExpression[],
): BoundExpression[] | undefined {
  const side = name === 'left' ? left : right;
  const own: BoundExpression[] = [];
  for (const key of keys) {
    if (key.kind !== 'column') return undefined;
    const [alias = ''] = key.path;
    if (!aliasesOf(side).has(alias)) return undefined;
    own.push(side.alias === undefined ? key : { ...key, path: key.path.slice(1) });
  }
  return own;
}

/** What the first elements of the columns of a side may be. */
function aliasesOf({ alias, input }: JoinInput): ReadonlySet<string> {
  if (alias !== undefined) return new Set([alias]);
  if (input.kind !== 'join') return new Set();
  if (isSemi(input)) return aliasesOf(input.left);
  return new Set([...aliasesOf(input.left), ...aliasesOf(input.right)]);
}

function sideOf(input: PlanNode): JoinInput {
  return { input, alias: undefined, tableCount: tableCountOf(input) };
}

function tableCountOf(node: PlanNode): number {
  if (node.kind === 'filter') return tableCountOf(node.input);
  if (node.kind !== 'join') return 1;
  return node.left.tableCount + (isSemi(node) ? 0 : node.right.tableCount);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((element, index) => element === b[index]);
}
