// The groups of a query as columns: rows are made only for operators that want rows.
import type { BoundExpression, NamedProjectItem, SortKey } from '../../plan/expression.ts';
import type { Atom } from '../../value/atom.ts';
import { compareElements } from '../../value/natural-order.ts';
import type { Path } from '../../value/path.ts';
import { hashPath } from '../../value/path-hash.ts';
import { MINUS_INFINITY, Timestamp } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { ColumnRows, type ColumnValues, type RowColumn } from '../column-rows.ts';
import { GroupRow } from '../general/row.ts';

/** A key of all groups: codes and what they stand for; code 0 is NULL. */
export interface GroupKey {
  readonly codes: ArrayLike<number>;
  atom(code: number): Atom;
  /** the timestamp of its values, in seconds */
  readonly ts: number;
}

/** An aggregate of all groups. */
export interface GroupAggregate {
  readonly values: Float64Array;
  /** 1: the result has the timestamp `ts`, in seconds; else -Inf */
  readonly timed: Uint8Array;
  readonly ts: number;
  /** 1: null instead of the number; absent: nowhere */
  readonly nulls: Uint8Array | undefined;
  readonly result: 'number' | 'timestamp';
}

export interface Groups {
  readonly rowCount: number;
  readonly keys: readonly GroupKey[];
  readonly aggregates: readonly GroupAggregate[];
}

export class GroupTable implements Iterable<GroupRow> {
  readonly #groups: Groups;
  /** positions in the columns of the groups; absent: all, as they lie */
  readonly #order: Uint32Array | undefined;
  readonly rowCount: number;

  constructor(groups: Groups, order?: Uint32Array) {
    this.#groups = groups;
    this.#order = order;
    this.rowCount = order?.length ?? groups.rowCount;
  }

  *[Symbol.iterator](): Iterator<GroupRow> {
    for (let index = 0; index < this.rowCount; index++) yield this.at(index);
  }

  at(index: number): GroupRow {
    const { keys, aggregates } = this.#groups;
    const position = this.#positionOf(index);
    return new GroupRow(
      keys.map((key) => this.#keyAt(key, position)),
      aggregates.map((aggregate) => this.#aggregateAt(aggregate, position)),
    );
  }

  slice(from: number, to: number): GroupTable {
    const order = this.#order ?? Uint32Array.from({ length: this.rowCount }, (_, i) => i);
    return new GroupTable(this.#groups, order.subarray(from, to));
  }

  /** The rows of a select list; undefined when an item is more than a key or an aggregate. */
  project(items: readonly NamedProjectItem[]): ColumnRows | undefined {
    const columns: RowColumn[] = [];
    for (const { path, expression } of items) {
      const column = this.#column(path[0] as string, expression);
      if (column === undefined) return undefined;
      columns.push(column);
    }
    columns.sort((a, b) => compareElements(a.name, b.name));
    return new ColumnRows(this.rowCount, columns, (index) => this.#nameAt(index));
  }

  /**
   * The first `keep` groups in an order, ties by the hash of their names. Undefined when a key is
   * no plain number or has values that are none.
   */
  sort(keys: readonly SortKey[], keep: number | undefined): GroupTable | undefined {
    const columns: { values: ArrayLike<number>; sign: number }[] = [];
    for (const { expression, descending } of keys) {
      const values = this.#comparable(expression);
      if (values === undefined) return undefined;
      columns.push({ values, sign: descending ? -1 : 1 });
    }
    const compare = (a: number, b: number): number => {
      for (const { values, sign } of columns) {
        const difference = (values[a] as number) - (values[b] as number);
        if (difference !== 0) return difference * sign;
      }
      return 0;
    };
    const hashes = new Map<number, bigint>();
    const hashOf = (position: number): bigint => {
      let hash = hashes.get(position);
      if (hash === undefined) {
        hash = hashPath(this.#rowAt(position).name);
        hashes.set(position, hash);
      }
      return hash;
    };
    const compareTies = (a: number, b: number): number => {
      const order = compare(a, b);
      if (order !== 0 || a === b) return order;
      return hashOf(a) < hashOf(b) ? -1 : 1;
    };
    const positions = Uint32Array.from({ length: this.rowCount }, (_, i) => this.#positionOf(i));
    const wanted = keep === undefined ? positions : firstOf(positions, keep, compare);
    return new GroupTable(this.#groups, wanted.sort(compareTies).subarray(0, keep));
  }

  #positionOf(index: number): number {
    return this.#order === undefined ? index : (this.#order[index] as number);
  }

  #rowAt(position: number): GroupRow {
    const keys = this.#groups.keys.map((key) => this.#keyAt(key, position));
    return new GroupRow(keys, []);
  }

  #nameAt(index: number): Path {
    return this.#rowAt(this.#positionOf(index)).name;
  }

  #keyAt({ codes, atom, ts }: GroupKey, position: number): Scalar {
    const code = codes[position] as number;
    return new Scalar(atom(code), code === 0 ? MINUS_INFINITY : ts);
  }

  #aggregateAt(aggregate: GroupAggregate, position: number): Scalar {
    return new Scalar(atomOf(aggregate, position), tsOf(aggregate, position));
  }

  #column(name: string, expression: BoundExpression): RowColumn | undefined {
    if (expression.kind === 'group-key') {
      const { codes, atom, ts } = this.#groups.keys[expression.index] as GroupKey;
      const inOrder = this.#inOrder(codes);
      return {
        name,
        values: { kind: 'codes', codes: inOrder, atom },
        tsAt: (index) => (inOrder[index] === 0 ? MINUS_INFINITY : ts),
      };
    }
    if (expression.kind !== 'aggregate-result') return undefined;
    const aggregate = this.#groups.aggregates[expression.index] as GroupAggregate;
    return {
      name,
      values: this.#aggregateValues(aggregate),
      tsAt: (index) => tsOf(aggregate, this.#positionOf(index)),
    };
  }

  #aggregateValues(aggregate: GroupAggregate): ColumnValues {
    if (aggregate.result === 'number' && aggregate.nulls === undefined) {
      return { kind: 'numbers', values: this.#inOrder(aggregate.values) };
    }
    return { kind: 'atoms', atomAt: (index) => atomOf(aggregate, this.#positionOf(index)) };
  }

  #inOrder(values: ArrayLike<number>): ArrayLike<number> {
    const order = this.#order;
    if (order === undefined) return values;
    return Float64Array.from(order, (position) => values[position] as number);
  }

  /** Numbers that compare as the values of an expression do. */
  #comparable(expression: BoundExpression): ArrayLike<number> | undefined {
    if (expression.kind === 'group-key') {
      // Groups lie in the order of their keys, but only the first key's numbers rise.
      const { codes, atom } = this.#groups.keys[expression.index] as GroupKey;
      return numbersOf(this.#groups.rowCount, (position) => atom(codes[position] as number));
    }
    if (expression.kind !== 'aggregate-result') return undefined;
    const aggregate = this.#groups.aggregates[expression.index] as GroupAggregate;
    if (aggregate.nulls !== undefined) return undefined;
    return aggregate.values.some(Number.isNaN) ? undefined : aggregate.values;
  }
}

function tsOf({ timed, ts }: GroupAggregate, position: number): number {
  return timed[position] === 1 ? ts : MINUS_INFINITY;
}

/** Undefined when an atom is no number that is equal to itself. */
function numbersOf(count: number, atomAt: (position: number) => Atom): Float64Array | undefined {
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const atom = atomAt(i);
    if (typeof atom !== 'number' || Number.isNaN(atom)) return undefined;
    values[i] = atom;
  }
  return values;
}

function atomOf(aggregate: GroupAggregate, position: number): Atom {
  if (aggregate.nulls?.[position] === 1) return null;
  const value = aggregate.values[position] as number;
  return aggregate.result === 'timestamp' ? new Timestamp(value) : value;
}

/** The positions that may be among the first `keep`: those, and all that equal the last of them. */
function firstOf(
  positions: Uint32Array,
  keep: number,
  compare: (a: number, b: number) => number,
): Uint32Array {
  if (keep === 0) return positions.subarray(0, 0);
  let kept: number[] = [];
  let capacity = 4 * keep + 1024;
  let limit: number | undefined;
  for (const position of positions) {
    if (limit !== undefined && compare(position, limit) > 0) continue;
    kept.push(position);
    if (kept.length < capacity) continue;
    kept.sort(compare);
    const last = kept[keep - 1] as number;
    const end = kept.findIndex((candidate, i) => i >= keep && compare(candidate, last) > 0);
    if (end !== -1) kept = kept.slice(0, end);
    limit = last;
    // Many equal ones all stay, and are not sorted again each time.
    capacity = Math.max(capacity, 2 * kept.length);
  }
  return Uint32Array.from(kept);
}
