// GROUP BY over columns: dictionary codes and small ranges of integers number the groups directly,
// without a hash table, and kernels accumulate into one cell a group.
import type { BoundExpression, SortKey } from '../../../plan/expression.ts';
import type { AggregateNode } from '../../../plan/plan.ts';
import { assert } from '../../../util/assert.ts';
import type { Arena } from '../../../value/column/arena.ts';
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import { threadKernels } from '../../thread-memory.ts';
import { ArenaSpans } from '../arena-spans.ts';
import { cutChunks } from '../chunk-range.ts';
import type { DictionaryTables } from '../dictionary-table.ts';
import type { VectorEngine } from '../engine.ts';
import type { BlockSource } from '../program/block-compiler.ts';
import type { LoweredCodes, Lowering } from '../program/lower.ts';
import { cellSize, type Measure, mergeCells } from '../program/measure.ts';
import type { TruthProgram } from '../program/program.ts';
import { runWholeTable } from '../whole-table.ts';
import { COUNTS, lowerAggregate, type Reader } from './aggregate-output.ts';
import { cellCountOf, DenseKeys } from './dense-keys.ts';
import { GroupCells } from './group-cells.ts';
import type { KernelColumn } from './group-column.ts';
import { type GroupJobArgs, type GroupSource, groupJob } from './group-job.ts';
import type { GroupKeys } from './group-key.ts';
import { orderGroups, wordsOfColumn } from './group-order.ts';
import { GroupTable } from './group-table.ts';
import { planSparseKeys, SparseKeys, type SparseKeysPlan } from './sparse-keys.ts';

/** Cells of all measures and units of a query; beyond it groups are left to the general path. */
const CELLS_SIZE_MAX = 512 * 1024 * 1024;
const DENSE_CELL_COUNT_MAX = 1 << 22;
/** So few cells cost nothing, however few rows there are. */
const DENSE_CELL_COUNT_FREE = 1 << 16;
/** More cells for each row than this are not worth their memory. */
const DENSE_CELLS_PER_ROW = 4;

/** The groups that are wanted, and their order. */
export interface GroupSelection {
  /** keys and aggregates of the groups; ties go by the keys of the groups */
  readonly sortKeys: readonly SortKey[];
  /** only so many first ones; undefined: all */
  readonly keep: number | undefined;
  /** false: they may come in any order, and there are no sort keys */
  readonly isOrdered: boolean;
}

/** Rows that a query groups; `build` after its expressions have asked for their columns. */
export interface GroupRows {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly arena: number;
  /** whether its rows are those of one table */
  readonly canBeNumbered: boolean;
  /** its columns, by the numbers that programs use */
  readonly columns: readonly ColumnSnapshot[];
  build(engine: VectorEngine): { readonly source: GroupSource; readonly spans: readonly Span[] };
  /** The rows for block programs; undefined when they are not for these. */
  blocks(
    engine: VectorEngine,
  ): { readonly source: BlockSource; readonly spans: readonly Span[] } | undefined;
}

type KeyPlan =
  | { readonly kind: 'dense'; readonly keys: readonly LoweredCodes[] }
  | { readonly kind: 'sparse'; readonly plan: SparseKeysPlan };

/** What is grouped, and how expressions about it are lowered. */
export interface GroupedRows {
  readonly rows: GroupRows;
  readonly lowering: Lowering;
  readonly filter: TruthProgram | undefined;
}

/** Groups of rows by kernels; `isLowered`: whether these know its expressions. */
export class GroupQuery {
  readonly #rows: GroupRows;
  readonly #explicit: boolean;
  readonly #filter: TruthProgram | undefined;
  readonly #keys: KeyPlan | undefined;
  readonly #measures: Measure[] = [];
  readonly #readers: Reader[] = [];
  readonly #countsEmpty: boolean;
  readonly #rowsMeasure: number;
  readonly isLowered: boolean;

  constructor(
    node: Pick<AggregateNode, 'keys' | 'aggregates' | 'explicit'>,
    { rows, lowering, filter }: GroupedRows,
    dictionaries: DictionaryTables,
  ) {
    this.#rows = rows;
    this.#explicit = node.explicit;
    this.#countsEmpty = node.aggregates.some(({ name }) => COUNTS.has(name));
    this.#filter = filter;
    const readers = node.aggregates.map((call) =>
      lowerAggregate(call, lowering, (measure) => this.#measure(measure)),
    );
    this.#rowsMeasure = this.#measure({ kind: 'rows' });
    if (!isFull(readers)) {
      this.isLowered = false;
      return;
    }
    this.#readers.push(...readers);
    this.#keys = this.#planKeys(node.keys, lowering, dictionaries);
    this.isLowered = this.#keys !== undefined;
  }

  #planKeys(
    keys: readonly BoundExpression[],
    lowering: Lowering,
    dictionaries: DictionaryTables,
  ): KeyPlan | undefined {
    const { rowCount, canBeNumbered } = this.#rows;
    const codes = keys.map((key) => lowering.codes(key));
    if (isFull(codes)) {
      const cellCount = cellCountOf(codes);
      const wanted = canBeNumbered
        ? Math.max(DENSE_CELL_COUNT_FREE, rowCount * DENSE_CELLS_PER_ROW)
        : DENSE_CELL_COUNT_MAX;
      const isDense = cellCount <= Math.min(wanted, DENSE_CELL_COUNT_MAX);
      if (isDense && this.#cellsSize(cellCount) <= CELLS_SIZE_MAX) {
        return { kind: 'dense', keys: codes };
      }
    }
    const plan = canBeNumbered ? planSparseKeys(keys, lowering, dictionaries) : undefined;
    return plan && { kind: 'sparse', plan };
  }

  run(engine: VectorEngine, selection: GroupSelection): GroupTable | undefined {
    const spans = new ArenaSpans(engine, this.#rows.arena);
    try {
      return (
        this.#runAsWhole(engine, selection, spans) ?? this.#runByCells(engine, selection, spans)
      );
    } finally {
      spans.release();
    }
  }

  /** One group over everything, by a program of one kernel. */
  #runAsWhole(
    engine: VectorEngine,
    selection: GroupSelection,
    spans: ArenaSpans,
  ): GroupTable | undefined {
    if (this.#keys?.kind !== 'dense' || this.#keys.keys.length > 0) return undefined;
    const known = this.#readStatistics(engine, selection, spans);
    if (known !== undefined) return known;
    const blocks = this.#rows.blocks(engine);
    if (blocks === undefined) return undefined;
    const { arena, chunkRowCounts } = this.#rows;
    const made = [...blocks.spans];
    try {
      const { source } = blocks;
      const measures = this.#measures;
      const whole = runWholeTable(
        { source, arena, chunkRowCounts, filter: this.#filter, measures },
        engine,
      );
      if (whole === undefined) return undefined;
      made.push(whole.span);
      const memory = engine.arenas.get(arena);
      this.#merge(memory, whole.cells, 1);
      const merged = whole.cells[0] as readonly Span[];
      return this.#readGroups(new DenseKeys([], memory, spans), merged, selection, engine, spans);
    } finally {
      for (const span of made) engine.arenas.free(span);
    }
  }

  /** Counts of all rows, and of values in a column, are known without a look at them. */
  #readStatistics(
    engine: VectorEngine,
    selection: GroupSelection,
    spans: ArenaSpans,
  ): GroupTable | undefined {
    const { canBeNumbered, rowCount, columns } = this.#rows;
    if (this.#filter !== undefined || !canBeNumbered) return undefined;
    const counts: number[] = [];
    for (const measure of this.#measures) {
      if (measure.kind === 'rows') counts.push(rowCount);
      else if (measure.kind === 'count') {
        counts.push(rowCount - (columns[measure.column] as ColumnSnapshot).nullCount);
      } else return undefined;
    }
    const memory = engine.arenas.get(spans.arena);
    const cells = counts.map((count) => {
      const span = spans.allocateZeroed(16);
      memory.i64[span.offset / 8] = BigInt(count);
      return span;
    });
    return this.#readGroups(new DenseKeys([], memory, spans), cells, selection, engine, spans);
  }

  #runByCells(
    engine: VectorEngine,
    selection: GroupSelection,
    spans: ArenaSpans,
  ): GroupTable | undefined {
    const { chunkRowCounts, arena } = this.#rows;
    const { source, spans: built } = this.#rows.build(engine);
    try {
      const memory = engine.arenas.get(arena);
      const keys = this.#makeKeys(source, engine, spans);
      const { cellCount } = keys;
      if (this.#cellsSize(cellCount) > CELLS_SIZE_MAX) return undefined;
      const ranges = cutChunks(chunkRowCounts.length, unitCountFor(cellCount));
      const cells = ranges.map(() =>
        this.#measures.map((measure) => spans.allocateZeroed((cellCount + 1) * cellSize(measure))),
      );
      const args: GroupJobArgs = {
        arena,
        source,
        chunkRowCounts,
        ranges,
        // Rows without a number have been dropped already.
        filter: this.#keys?.kind === 'sparse' ? undefined : this.#filter,
        keys: keys.programs,
        cellCount,
        measures: this.#measures,
        cells,
      };
      engine.parallel.run(groupJob, args, ranges.length);
      const [merged] = cells;
      assert(merged !== undefined, 'a table without rows is not for vectors');
      this.#merge(memory, cells, cellCount);
      return this.#readGroups(keys, merged, selection, engine, spans);
    } finally {
      for (const span of built) engine.arenas.free(span);
    }
  }

  #makeKeys(source: GroupSource, engine: VectorEngine, spans: ArenaSpans): GroupKeys {
    assert(this.#keys !== undefined, 'keys were lowered');
    if (this.#keys.kind === 'dense') {
      return new DenseKeys(this.#keys.keys, engine.arenas.get(spans.arena), spans);
    }
    assert(source.kind === 'scan', 'rows of a table can be numbered');
    const { chunkRowCounts, rowCount } = this.#rows;
    const table = { columns: source.columns, chunkRowCounts, rowCount, filter: this.#filter };
    return new SparseKeys(this.#keys.plan, table, engine, spans);
  }

  /** Bytes of the cells of all units. */
  #cellsSize(cellCount: number): number {
    const size = this.#measures.reduce((sum, measure) => sum + cellSize(measure), 0);
    return (cellCount + 1) * size * unitCountFor(cellCount);
  }

  #merge(memory: Arena, cells: readonly (readonly Span[])[], cellCount: number): void {
    const kernels = threadKernels(memory.id);
    const [target, ...others] = cells as readonly [readonly Span[], ...(readonly Span[])[]];
    this.#measures.forEach((measure, index) => {
      const { offset } = target[index] as Span;
      for (const unit of others) {
        mergeCells(kernels, memory, measure, offset, (unit[index] as Span).offset, cellCount);
      }
    });
  }

  /** Columns are read only of the groups that are wanted. */
  #readGroups(
    keys: GroupKeys,
    merged: readonly Span[],
    selection: GroupSelection,
    engine: VectorEngine,
    spans: ArenaSpans,
  ): GroupTable {
    const addressOf = (measure: number) => (merged[measure] as Span).offset;
    const memory = engine.arenas.get(spans.arena);
    const { isOrdered } = selection;
    const found = keys.cells(addressOf(this.#rowsMeasure), isOrdered);
    let { count } = found;
    if (count === 0 && !this.#explicit && this.#countsEmpty) {
      // No row was read: an implied group exists only if an aggregate counts nothing too.
      memory.i32[found.address / 4] = 0;
      count = 1;
    }
    const all = new GroupCells(memory, found.address, count, spans);
    const words = this.#sortWords(keys, all, { addressOf, spans }, selection.sortKeys);
    if (isOrdered) words.push(...keys.words(all));
    const { keep } = selection;
    let groups = keep === undefined ? all : all.first(keep);
    if (words.length > 0) groups = all.pick(orderGroups(words, count, keep, engine, spans));
    const aggregates = this.#readers.map((read) => read(groups, addressOf));
    return new GroupTable(groups.count, keys.columns(groups), aggregates);
  }

  #sortWords(
    keys: GroupKeys,
    groups: GroupCells,
    { addressOf, spans }: { addressOf(measure: number): number; spans: ArenaSpans },
    sortKeys: readonly SortKey[],
  ): Span[] {
    let keyColumns: readonly KernelColumn[] | undefined;
    return sortKeys.map(({ expression, descending }) => {
      if (expression.kind === 'aggregate-result') {
        const read = this.#readers[expression.index] as Reader;
        return wordsOfColumn(read(groups, addressOf), descending, groups.memory, spans);
      }
      assert(expression.kind === 'group-key', 'groups are ordered by their columns');
      keyColumns ??= keys.columns(groups);
      const column = keyColumns[expression.index] as KernelColumn;
      return wordsOfColumn(column, descending, groups.memory, spans);
    });
  }

  #measure(measure: Measure): number {
    const text = JSON.stringify(measure);
    const known = this.#measures.findIndex((each) => JSON.stringify(each) === text);
    return known !== -1 ? known : this.#measures.push(measure) - 1;
  }
}

/** Few units when cells are many: each unit has its own. */
export function unitCountFor(cellCount: number): number {
  return cellCount <= 4096 ? 32 : cellCount <= 1 << 18 ? 4 : 2;
}

function isFull<T>(list: readonly (T | undefined)[]): list is readonly T[] {
  return !list.includes(undefined);
}
