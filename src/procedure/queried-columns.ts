// The columns of a query that only picks columns: those of the dataset where they lie in columns and
// all rows are wanted, else columns built from the rows.

import type { RecordedCell } from '../dataset/recorded-row.ts';
import type { QueryPlan } from '../plan/plan.ts';
import type { InputQuery } from '../schema/declare.ts';
import type { ColumnSnapshot } from '../value/column/snapshot.ts';
import { freeSnapshot } from '../value/column/snapshot-memory.ts';
import { TableBuilder } from '../value/column/table-builder.ts';
import type { Path } from '../value/path.ts';
import { flatten, latestOf, Scalar } from '../value/value.ts';
import { knownItemColumns } from './export/export-columns.ts';
import type { ProcedureContext } from './procedure-type.ts';

export interface QueriedColumns {
  readonly rowCount: number;
  readonly columns: readonly ColumnSnapshot[];
  /** Gives back what was built. */
  release(): void;
}

const ROWS_PER_CHECK = 512;

/**
 * The columns of an input query; those that were built belong to the arenas of the context.
 * @throws what is wrong with the query
 */
export function queriedColumns(context: ProcedureContext, query: InputQuery): QueriedColumns {
  let known: readonly Path[] = [];
  let stored: QueriedColumns | undefined;
  const prepared = context.query(query, (plan) => {
    const items = knownItemColumns(plan, context.namespace);
    known = items.flatMap((paths) => paths ?? []);
    stored = storedColumns(plan, items, context);
    return plan;
  });
  if (stored !== undefined) return stored;
  const table = new TableBuilder(context.arenas);
  for (const path of known) table.columnIndex(path);
  let rowCount = 0;
  for (const { name, row } of prepared.run()) {
    if (rowCount++ % ROWS_PER_CHECK === 0) context.checkCancelled();
    const points = new Map<string, { path: Path; values: Scalar[] }>();
    flatten(row, [], (path, atom, ts) => {
      const key = path.toString();
      const cell = points.get(key);
      if (cell === undefined) points.set(key, { path, values: [new Scalar(atom, ts)] });
      else cell.values.push(new Scalar(atom, ts));
    });
    const cells = [...points.values()].map(({ path, values }): RecordedCell => {
      const { atom, ts } = latestOf(values);
      return [path, atom, ts];
    });
    table.addRow(name, cells);
  }
  const snapshot = table.seal(() => context.checkCancelled());
  return {
    rowCount,
    columns: snapshot.columns.filter((column) => !isAboveOthers(column, snapshot.columns)),
    release: () => freeSnapshot(snapshot, context.arenas),
  };
}

/** A name that only stands for columns below it. */
function isAboveOthers(column: ColumnSnapshot, columns: readonly ColumnSnapshot[]): boolean {
  return (
    column.type === 'null' &&
    columns.some(
      ({ path }) =>
        path.length > column.path.length &&
        column.path.every((element, index) => path[index] === element),
    )
  );
}

/** The columns of a dataset that a plan picks; undefined where rows have to be made. */
export function storedColumns(
  { root }: QueryPlan,
  items: readonly (readonly Path[] | undefined)[],
  { namespace }: ProcedureContext,
): QueriedColumns | undefined {
  if (root.kind !== 'project' || root.input.kind !== 'scan') return undefined;
  if (root.input.lookup !== undefined || items.some((paths) => paths === undefined)) {
    return undefined;
  }
  const { snapshot } = namespace.dataset(root.input.dataset);
  if (snapshot?.layout !== 'columnar') return undefined;
  const byPath = new Map(snapshot.columns.map((column) => [JSON.stringify(column.path), column]));
  const columns: ColumnSnapshot[] = [];
  for (const [index, item] of root.items.entries()) {
    const paths = items[index] ?? [];
    if (item.kind === 'wildcard') {
      // A wildcard that renames is left to the rows.
      if (item.pattern.rename.kind !== 'keep') return undefined;
      for (const path of paths) {
        const column = byPath.get(JSON.stringify(path.elements));
        if (column === undefined) return undefined;
        columns.push(column);
      }
    } else {
      if (item.kind !== 'named' || item.expression.kind !== 'column') return undefined;
      const source = item.expression.path;
      for (const path of paths) {
        const below = path.elements.slice(item.path.length);
        const column = byPath.get(JSON.stringify([...source, ...below]));
        const nulls = snapshot.chunkRowCounts.map(
          (rowCount) => ({ kind: 'constant', rowCount, atom: null }) as const,
        );
        columns.push(
          column === undefined
            ? { path: path.elements, type: 'null', chunks: nulls, nullCount: snapshot.rowCount }
            : { ...column, path: path.elements },
        );
      }
    }
  }
  return { rowCount: snapshot.rowCount, columns, release() {} };
}
