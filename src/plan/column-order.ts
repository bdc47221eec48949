// The order in which the columns of rows are presented. Rows themselves keep natural order.
import { compareElements } from '../value/natural-order.ts';
import type { ValueType } from './type/type.ts';

/**
 * Columns in their order; each path stands for itself and, in natural order, for everything below
 * it. Columns that no path covers come at position `rest` among the paths, in natural order.
 */
export interface ColumnOrder {
  readonly paths: readonly (readonly string[])[];
  /** undefined: there are no other columns */
  readonly rest: number | undefined;
}

export const OPEN_ORDER: ColumnOrder = { paths: [], rest: 0 };

/** Several orders, one after the other; the first mention of a column decides. */
export function concatOrders(orders: readonly ColumnOrder[]): ColumnOrder {
  const paths: (readonly string[])[] = [];
  const seen = new Set<string>();
  let rest: number | undefined;
  for (const order of orders) {
    order.paths.forEach((path, index) => {
      if (order.rest === index) rest ??= paths.length;
      const key = JSON.stringify(path);
      if (seen.has(key)) return;
      seen.add(key);
      paths.push(path);
    });
    if (order.rest === order.paths.length) rest ??= paths.length;
  }
  return { paths, rest };
}

/** The order of columns below a name. */
export function orderBelow(name: string, order: ColumnOrder): ColumnOrder {
  if (order.rest !== undefined && order.paths.length === 0) {
    return { paths: [[name]], rest: undefined };
  }
  const paths = order.paths.map((path) => [name, ...path]);
  // What else there is below the name comes where it would come in the order itself.
  if (order.rest !== undefined) paths.splice(order.rest, 0, [name]);
  return { paths, rest: undefined };
}

/** The columns of a value under a path: members that are known, in natural order. */
export function orderOfValue(path: readonly string[], type: ValueType): ColumnOrder {
  if (type.kind !== 'row' || type.open || type.members.length === 0) {
    return { paths: [path], rest: undefined };
  }
  return concatOrders(
    type.members.map(({ name, type: inner }) => orderOfValue([...path, name], inner)),
  );
}

/** True when the columns are all known, each under one name. */
export function isClosed(order: ColumnOrder): boolean {
  return order.rest === undefined;
}

/**
 * Ranks columns by an order.
 * @returns a comparer of column paths
 */
export function comparerOf(
  order: ColumnOrder,
): (a: readonly string[], b: readonly string[]) => number {
  const ranks = new Map<string, number>();
  order.paths.forEach((path, index) => {
    const key = keyOf(path);
    if (!ranks.has(key)) ranks.set(key, index);
  });
  const lengthMax = order.paths.reduce((max, path) => Math.max(max, path.length), 0);
  const rest = (order.rest ?? order.paths.length) - 0.5;
  const findRank = (path: readonly string[]): number => {
    for (let length = Math.min(path.length, lengthMax); length > 0; length--) {
      const rank = ranks.get(keyOf(length === path.length ? path : path.slice(0, length)));
      if (rank !== undefined) return rank;
    }
    return rest;
  };
  // A sort asks for the same paths again and again.
  const known = new WeakMap<readonly string[], number>();
  const rankOf = (path: readonly string[]): number => {
    let rank = known.get(path);
    if (rank === undefined) {
      rank = findRank(path);
      known.set(path, rank);
    }
    return rank;
  };
  return (a, b) => rankOf(a) - rankOf(b) || compareNaturally(a, b);
}

/** U+0000 cannot occur in an element. */
function keyOf(path: readonly string[]): string {
  return path.length === 1 ? (path[0] as string) : path.join('\u0000');
}

function compareNaturally(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareElements(a[i] as string, b[i] as string);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
