// Rows as wholes: DISTINCT over unknown columns, UNION, EXCEPT, INTERSECT.
import type { DistinctNode, SetOperationNode } from '../../../plan/plan.ts';
import { type CanonicalKey, keyOfTuple, keyOfValue } from '../../../value/canonical-key.ts';
import { Path } from '../../../value/path.ts';
import { compareValues, NULL_VALUE, Row, type Value } from '../../../value/value.ts';
import { isNull, latestAmong, latestVersions, valuesAt } from '../call/lookup.ts';
import type { Runtime } from '../compiler.ts';
import { type ExecRow, GroupRow, TableRow } from '../row.ts';
import { comparingWithCancellation, type RowSource, withCancellation } from './source.ts';

/** What tells rows apart: their columns in order, or all that they have. */
interface Identity {
  keyOf(row: Row): CanonicalKey;
  valuesOf(row: Row): readonly Value[];
}

function identityBy(columns: readonly (readonly string[])[] | undefined): Identity {
  const valuesOf = (row: Row): readonly Value[] => {
    if (columns === undefined) return [withoutNulls(row)];
    return columns.map((path) => latestAmong(valuesAt(row, path)) ?? NULL_VALUE);
  };
  return {
    valuesOf,
    keyOf: (row) => {
      const values = valuesOf(row);
      return values.length === 1 ? keyOfValue(values[0] as Value) : keyOfTuple(values);
    },
  };
}

/** Without columns that are null, which is the same as not having them. */
function withoutNulls(row: Row): Row {
  const latest = latestVersions(row) as Row;
  if (!latest.values.some(isNull)) return latest;
  const kept = latest.names.flatMap((_, index) =>
    isNull(latest.values[index] as Value) ? [] : index,
  );
  return new Row(
    kept.map((index) => latest.names[index] as string),
    kept.map((index) => latest.values[index] as Value),
  );
}

interface Tuple {
  readonly values: readonly Value[];
  readonly row: Row;
}

/** Distinct rows, named like groups, in the order of their values. */
function* groupsOf(tuples: Iterable<Tuple>, runtime: Runtime): Iterable<ExecRow> {
  const compare = comparingWithCancellation((a: Tuple, b: Tuple) => {
    for (let i = 0; i < a.values.length; i++) {
      const order = compareValues(a.values[i] as Value, b.values[i] as Value);
      if (order !== 0) return order;
    }
    return 0;
  }, runtime.scope);
  for (const { values, row } of [...tuples].sort(compare)) {
    yield new TableRow(new GroupRow(values, []).name, row);
  }
}

export function compileDistinct(node: DistinctNode, input: RowSource, runtime: Runtime): RowSource {
  const identity = identityBy(node.columns);
  return function* () {
    const tuples = new Map<CanonicalKey, Tuple>();
    addDistinct(withCancellation(input(), runtime), identity, tuples);
    yield* groupsOf(tuples.values(), runtime);
  };
}

function addDistinct(
  rows: Iterable<ExecRow>,
  identity: Identity,
  into: Map<CanonicalKey, Tuple>,
): void {
  for (const { row } of rows) {
    const key = identity.keyOf(row);
    if (!into.has(key)) into.set(key, { values: identity.valuesOf(row), row });
  }
}

export function compileSetOperation(
  node: SetOperationNode,
  left: RowSource,
  right: RowSource,
  runtime: Runtime,
): RowSource {
  const identity = identityBy(node.columns);
  const rowsOf = (source: RowSource) => withCancellation(source(), runtime);
  if (!node.all) {
    return function* () {
      const tuples = new Map<CanonicalKey, Tuple>();
      addDistinct(rowsOf(left), identity, tuples);
      if (node.operator === 'union') {
        addDistinct(rowsOf(right), identity, tuples);
        yield* groupsOf(tuples.values(), runtime);
        return;
      }
      const others = new Set<CanonicalKey>();
      for (const { row } of rowsOf(right)) others.add(identity.keyOf(row));
      const wanted = node.operator === 'intersect';
      const kept = [...tuples].filter(([key]) => others.has(key) === wanted);
      yield* groupsOf(
        kept.map(([, tuple]) => tuple),
        runtime,
      );
    };
  }
  if (node.operator === 'union') {
    return function* () {
      for (const row of rowsOf(left)) yield sideRow('0', row);
      for (const row of rowsOf(right)) yield sideRow('1', row);
    };
  }
  return function* () {
    const counts = new Map<CanonicalKey, number>();
    for (const { row } of rowsOf(right)) {
      const key = identity.keyOf(row);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const wanted = node.operator === 'intersect';
    for (const row of rowsOf(left)) {
      const key = identity.keyOf(row.row);
      const count = counts.get(key) ?? 0;
      if (count > 0) counts.set(key, count - 1);
      if (count > 0 === wanted) yield sideRow('0', row);
    }
  };
}

/** A row under the number of its side. */
function sideRow(side: string, { name, row }: ExecRow): ExecRow {
  return new TableRow(new Path([side, ...name.elements]), row);
}
