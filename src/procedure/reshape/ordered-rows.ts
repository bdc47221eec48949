// The rows of a query in the order of its ORDER BY, for procedures that only ask for that order.

import { orderedNumbers } from '../../exec/operator/ordered-numbers.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import type { SortKey } from '../../plan/expression.ts';
import type { PlanNode, ProjectNode, QueryPlan } from '../../plan/plan.ts';
import type { InputQuery } from '../../schema/declare.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { DictionaryBuilder } from '../../value/column/dictionary.ts';
import { codesColumn, gatherRowNames, numbersColumn } from '../../value/column/gather.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import type {
  ColumnarSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  RowNames,
} from '../../value/column/snapshot.ts';
import { rowNamesSpans } from '../../value/column/snapshot-memory.ts';
import { chunkRowCounts, TableBuilder } from '../../value/column/table-builder.ts';
import type { Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { effectiveTs } from '../../value/value.ts';
import type { OutputDataset, ProcedureContext } from '../procedure-type.ts';

export interface OrderedRows {
  readonly rowCount: number;
  /** the latest timestamp of all values that the rows were ordered by; -Inf when there is none */
  readonly ts: number;
  nameAt(position: number): Path;
  /** of rows that lie in columns: their numbers in order */
  readonly stored?: { readonly snapshot: ColumnarSnapshot; readonly numbers: Uint32Array };
}

/** What is recorded of each row: its position, or the name of the range in which it lies. */
export type PositionCells = 'position' | readonly PositionRange[];

/** Positions from one to before another; ranges do not overlap. */
export interface PositionRange {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

const ROWS_PER_REPORT = 1024;

/** @param report called with the rows read so far */
export function readOrderedRows(
  context: ProcedureContext,
  query: InputQuery,
  report: (rowCount: number) => void,
): OrderedRows {
  const prepared = context.query(query, selectSortKeys);
  const stored = storedRows(prepared.plan, context);
  if (stored !== undefined) return stored;
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
  return { rowCount: names.length, ts, nameAt: (position) => names[position] as Path };
}

/** Rows that lie in columns and are ordered by some of these; undefined for all others. */
function storedRows(plan: QueryPlan, context: ProcedureContext): OrderedRows | undefined {
  const { root } = plan;
  const { arenas, parallel, namespace, scope } = context;
  if (root.kind !== 'project' || !keepsNames(root)) return undefined;
  const keys = root.items.map((item) =>
    item.kind === 'named' && item.expression.kind === 'column' ? item.expression.path : undefined,
  );
  if (keys.some((path) => path === undefined)) return undefined;
  const engine = { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN };
  const stored = orderedNumbers(plan, { namespace, scope, engine });
  if (stored === undefined) return undefined;
  const { snapshot, numbers } = stored;
  const { timestamps } = snapshot;
  if (timestamps.kind !== 'constant') return undefined;
  const paths = new Set(keys.map((path) => JSON.stringify(path)));
  const columns = snapshot.columns.filter(({ path }) => paths.has(JSON.stringify(path)));
  const names = rowNamesView(snapshot.rowNames, snapshot.rowCount, arenas);
  const hasKey = columns.some((column) => hasValue(column, numbers, context));
  return {
    rowCount: numbers.length,
    ts: hasKey ? timestamps.ts : MINUS_INFINITY,
    nameAt: (position) => names.pathAt(numbers[position] as number),
    stored,
  };
}

function hasValue(
  column: ColumnSnapshot,
  rows: Uint32Array,
  { arenas }: ProcedureContext,
): boolean {
  if (column.nullCount === 0) return rows.length > 0;
  const view = new ColumnView(column, arenas);
  return rows.some((row) => !view.isNull(row));
}

function keepsNames({ name }: ProjectNode): boolean {
  return name === undefined || (name.kind === 'row-function' && name.function === 'rowPath');
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

/** Records one column of rows, of what their positions say; rows outside of all ranges are left out. */
export function recordPositions(
  context: ProcedureContext,
  output: OutputDataset,
  column: Path,
  ordered: OrderedRows,
  cells: PositionCells,
): void {
  const { ts, stored } = ordered;
  if (stored !== undefined && output.takesDense) {
    // Tables in columns have no name twice.
    const table = positionTable(context, stored, column, ts, cells);
    output.recordColumns(table, { namesDiffer: true });
    return;
  }
  if (!output.takesDense) {
    for (const [position, atom] of positionAtoms(ordered.rowCount, cells)) {
      output.record({ name: ordered.nameAt(position), cells: [[column, atom, ts]] });
    }
    return;
  }
  const table = new TableBuilder(context.arenas);
  let index = -1;
  let count = 0;
  for (const [position, atom] of positionAtoms(ordered.rowCount, cells)) {
    if (count++ % ROWS_PER_REPORT === 0) context.checkCancelled();
    if (index === -1) index = table.columnIndex(column);
    table.set(index, atom);
    table.endRow(ordered.nameAt(position), ts);
  }
  output.recordColumns(table.seal(() => context.checkCancelled()));
}

function* positionAtoms(
  rowCount: number,
  cells: PositionCells,
): Iterable<readonly [position: number, atom: Atom]> {
  if (cells === 'position') {
    for (let position = 0; position < rowCount; position++) yield [position, position];
    return;
  }
  for (const { name, from, to } of cells) {
    for (let position = from; position < to; position++) yield [position, name];
  }
}

/** The rows in stored order, so that names can be shared with the table that they are of. */
function positionTable(
  { arenas, checkCancelled }: ProcedureContext,
  { snapshot, numbers }: NonNullable<OrderedRows['stored']>,
  column: Path,
  ts: number,
  cells: PositionCells,
): ColumnarSnapshot {
  const check = () => checkCancelled();
  const { marks, dictionary } = marksOf(numbers, snapshot.rowCount, cells, arenas);
  check();
  let rowCount = 0;
  const rows = new Uint32Array(marks.length);
  for (let row = 0; row < marks.length; row++) if (marks[row] !== 0) rows[rowCount++] = row;
  const kept = rows.subarray(0, rowCount);
  const path = column.elements;
  const recorded =
    dictionary === undefined
      ? numbersColumn(path, 'number', rowCount, arenas, check, (out, _validity, from) => {
          for (let i = 0; i < out.length; i++) {
            out[i] = (marks[kept[from + i] as number] as number) - 1;
          }
          return false;
        })
      : codesColumn({ path, type: 'string', dictionary }, rowCount, arenas, check, (out, from) => {
          for (let i = 0; i < out.length; i++) out[i] = marks[kept[from + i] as number] as number;
        });
  return {
    layout: 'columnar',
    id: arenas.nextId(),
    rowCount,
    chunkRowCounts: chunkRowCounts(rowCount),
    columns: rowCount === 0 ? [] : [recorded],
    rowNames: namesOf(snapshot, kept, arenas, check),
    timestamps: { kind: 'constant', ts },
  };
}

/** By row: its position plus one, or the code of its range; 0: it is left out. */
function marksOf(
  numbers: Uint32Array,
  rowCount: number,
  cells: PositionCells,
  arenas: ArenaAllocator,
): { readonly marks: Uint32Array; readonly dictionary?: DictionarySnapshot } {
  const marks = new Uint32Array(rowCount);
  if (cells === 'position') {
    for (let i = 0; i < numbers.length; i++) marks[numbers[i] as number] = i + 1;
    return { marks };
  }
  const builder = new DictionaryBuilder(arenas);
  for (const { name, from, to } of cells) {
    const code = builder.add(name);
    for (let i = from; i < to; i++) marks[numbers[i] as number] = code;
  }
  return { marks, dictionary: builder.seal() };
}

/** Names of all rows are shared with the table, where they are cut as the new one is. */
function namesOf(
  { rowNames, rowCount }: ColumnarSnapshot,
  rows: Uint32Array,
  arenas: ArenaAllocator,
  check: () => void,
): RowNames {
  if (rows.length < rowCount || rowNames.kind === 'numbers') {
    return gatherRowNames(rowNames, rows, arenas, check);
  }
  for (const span of rowNamesSpans(rowNames)) arenas.retain(span);
  return rowNames;
}
