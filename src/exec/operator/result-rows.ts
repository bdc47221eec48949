// The rows of a result as columns that writers read.
import { ColumnView } from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { typicalAtomsOf } from '../../value/column/typical-atoms.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { ColumnRows, type RowColumn } from '../column-rows.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { isPaged, PickedBlocks, PickedColumn } from '../vector/picked-column.ts';
import { VectorTable } from '../vector/table.ts';
import type { Output, Pipeline } from './pipeline.ts';
import { selectRows } from './select-rows.ts';
import { isInScratch } from './spill/scratch-table.ts';
import { SortedParts, sortedRows } from './spill/sorted-parts.ts';
import { type Reader, valuesOf } from './table/column-values.ts';
import { PickedTable } from './table/picked-table.ts';

/** For EXPLAIN, which reads none. */
export const NO_ROWS = new ColumnRows(0, [], () => new Path([]));

interface ResultContext {
  readonly engine: VectorEngine;
  readonly look: () => void;
}

interface StoredOptions extends ResultContext {
  readonly first: number | undefined;
  /** rows do not have the columns that they have no values for; absent: as the outputs say */
  readonly leavesOutNulls?: boolean;
}

/**
 * Columns of a dataset, or of a scratch file, as they lie, of the rows that the filter leaves: nothing is
 * copied.
 * Undefined when an output is more than such a column.
 */
export function storedRows(
  pipeline: Pipeline,
  outputs: readonly Output[],
  { engine, look, first, leavesOutNulls = false }: StoredOptions,
): ColumnRows | undefined {
  const { base, isPlain, filter, namer } = pipeline;
  if (base instanceof SortedParts) return sortedRows(base, pipeline, outputs, leavesOutNulls, look);
  const table = base instanceof PickedTable ? base.base : base;
  if (!isPlain || (table !== base && filter !== undefined)) return undefined;
  const columns: {
    readonly path: Path;
    readonly column: number;
    readonly isOptional: boolean;
  }[] = [];
  for (const { path, expression, presence } of outputs) {
    // The first element is the number of the table in the pipeline.
    const column = expression.kind === 'column' ? table.find(expression.path.slice(1)) : undefined;
    if (typeof column !== 'number' || table.timedOf(column) !== true) return undefined;
    const isOptional = leavesOutNulls || presence === 'valued';
    columns.push({ path: new Path(path), column, isOptional });
  }
  if (!(table instanceof VectorTable) && !isInScratch(table)) return undefined;
  const selected =
    base instanceof PickedTable
      ? base.rows
      : filter === undefined
        ? undefined
        : selectRows(pipeline, filter, engine, first);
  const rowAt = selected === undefined ? same : (index: number) => selected[index] as number;
  const picked =
    base instanceof PickedTable
      ? new PickedBlocks(base.rows, table.chunkRowCounts, columns.length)
      : undefined;
  const made = columns.map(({ path, column, isOptional }): RowColumn => {
    const snapshot = table.columns[column] as ColumnSnapshot;
    const isWhole = selected === undefined;
    const view = new ColumnView(snapshot, engine.arenas);
    const ts = table.tsOf(column);
    const isPicked = picked !== undefined && isPaged(view);
    const shift = () => (isWhole ? view : shifted(view, rowAt));
    const reader = isPicked ? new PickedColumn(view, picked, look) : shift();
    return {
      path,
      isOptional,
      occurs: isOptional && isWhole ? snapshot.nullCount < table.rowCount : undefined,
      // Only the rows that are left tell what an optional column is.
      typicalAtoms:
        isOptional && !isWhole ? undefined : () => typicalAtomsOf(snapshot, engine.arenas, look),
      values: valuesOf(view, reader),
      tsAt: (index) => (reader.isNull(index) ? MINUS_INFINITY : ts),
    };
  });
  made.sort((a, b) => comparePaths(a.path, b.path));
  const rowCount = selected?.length ?? base.rowCount;
  // The namer of picked rows counts these.
  const rowOf = table === base ? rowAt : same;
  const nameAt = (index: number) => namer(() => rowOf(index)).name;
  return new ColumnRows(rowCount, made, nameAt, look);
}

function same(index: number): number {
  return index;
}

function shifted(view: ColumnView, rowAt: (index: number) => number): Reader {
  return {
    atomAt: (index) => view.atomAt(rowAt(index)),
    codeAt: (index) => view.codeAt(rowAt(index)),
    isNull: (index) => view.isNull(rowAt(index)),
    numberAt: (index) => view.numberAt(rowAt(index)),
  };
}

/** Values are copied: what operators made is given back before the rows are read. */
export function madeRows(
  outputs: readonly Output[],
  { base, namer }: Pipeline,
  { engine, look }: ResultContext,
): ColumnRows | undefined {
  const columns: RowColumn[] = [];
  for (const { path, presence } of outputs) {
    const column = base.find([path.join('\u0000')]);
    if (typeof column !== 'number') return undefined;
    const atomsOf = (number: number) => [
      ...new ColumnView(base.columns[number] as ColumnSnapshot, engine.arenas).atoms(),
    ];
    const atoms = atomsOf(column);
    const ts = base.tsOf(column);
    const timed = base.timedOf(column);
    const times = timed === true ? atoms : atomsOf(timed);
    columns.push({
      path: new Path(path),
      isOptional: presence === 'valued',
      values: { kind: 'atoms', atomAt: (row) => atoms[row] ?? null },
      tsAt: (row) => (times[row] === null ? MINUS_INFINITY : ts),
    });
  }
  columns.sort((a, b) => comparePaths(a.path, b.path));
  return new ColumnRows(base.rowCount, columns, (row) => namer(() => row).name, look);
}
