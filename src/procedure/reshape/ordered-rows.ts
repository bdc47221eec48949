// The rows of a query in the order of its ORDER BY, for procedures that only ask for that order.

import type { SortKey } from '../../plan/expression.ts';
import type { PlanNode, QueryPlan } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import type { Atom } from '../../value/atom.ts';
import { TableBuilder } from '../../value/column/table-builder.ts';
import type { Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { effectiveTs } from '../../value/value.ts';
import type { OutputDataset, ProcedureContext } from '../procedure-type.ts';

export interface OrderedRows {
  readonly names: readonly Path[];
  /** the latest timestamp of all values that the rows were ordered by; -Inf when there is none */
  readonly ts: number;
}

const ROWS_PER_REPORT = 1024;

/** @param report called with the rows read so far */
export function readOrderedRows(
  context: ProcedureContext,
  query: InputQuery,
  report: (rowCount: number) => void,
): OrderedRows {
  const prepared = context.query(query, selectSortKeys);
  const names: Path[] = [];
  let ts = MINUS_INFINITY;
  for (const { name, row } of prepared.run()) {
    if (names.length % ROWS_PER_REPORT === 0) {
      context.checkCancelled();
      report(names.length);
    }
    names.push(name);
    for (const value of row.values) {
      const own = effectiveTs(value);
      if (own !== ts) ts = laterOf(ts, own);
    }
  }
  return { names, ts };
}

/** The select list does not matter: the sort keys take its place. */
function selectSortKeys(plan: QueryPlan): QueryPlan {
  const { root } = plan;
  if (root.kind !== 'project') return plan;
  const keys = sortKeysBelow(root.input);
  const items = keys.map(({ expression }, index) => {
    const { start, end } = expression;
    return { kind: 'named', path: [String(index)], expression, start, end } as const;
  });
  return { ...plan, root: { ...root, items } };
}

function sortKeysBelow(node: PlanNode): readonly SortKey[] {
  switch (node.kind) {
    case 'limit':
    case 'distinct-on':
      return sortKeysBelow(node.input);
    case 'sort':
      return node.keys;
    default:
      return [];
  }
}

/** Records rows of one column, all of one time. */
export function recordColumn(
  context: ProcedureContext,
  output: OutputDataset,
  column: Path,
  ts: number,
  rows: Iterable<readonly [name: Path, atom: Atom]>,
): void {
  if (!output.takesDense) {
    for (const [name, atom] of rows) output.record({ name, cells: [[column, atom, ts]] });
    return;
  }
  const table = new TableBuilder(context.arenas);
  let index = -1;
  let count = 0;
  for (const [name, atom] of rows) {
    if (count++ % ROWS_PER_REPORT === 0) context.checkCancelled();
    if (index === -1) index = table.columnIndex(column);
    table.set(index, atom);
    table.endRow(name, ts);
  }
  output.recordColumns(table.seal(() => context.checkCancelled()));
}
