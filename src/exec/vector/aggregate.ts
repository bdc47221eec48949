// GROUP BY over columns: dictionary codes and small ranges of integers number the groups directly,
// without a hash table, and kernels accumulate into one cell a group.
import type { BoundExpression } from '../../plan/expression.ts';
import type { AggregateNode, FilterNode, PlanNode } from '../../plan/plan.ts';
import { assert } from '../../util/assert.ts';
import type { Arena } from '../../value/arena.ts';
import type { ColumnSnapshot, Span } from '../../value/snapshot.ts';
import type { Compiler } from '../general/compiler.ts';
import { threadKernels } from '../thread-memory.ts';
import {
  COUNTS,
  lowerAggregate,
  type Output,
  type Reader,
  readOutput,
} from './aggregate-output.ts';
import { type BlockSource, chunkColumn } from './block-compiler.ts';
import { cellsInOrder } from './cell-order.ts';
import { cutChunks, homeArena } from './chunk-range.ts';
import { DictionaryTables } from './dictionary-table.ts';
import type { VectorEngine } from './engine.ts';
import { type FilteredScan, matchFilteredScan } from './filtered-scan.ts';
import { type GroupJobArgs, type GroupSource, groupJob } from './group-job.ts';
import { GroupTable } from './group-table.ts';
import { matchScanJoin, prepareJoin, type ScanJoin } from './join.ts';
import { type LoweredCodes, Lowering } from './lower.ts';
import { cellSize, type Measure, mergeCells } from './measure.ts';
import type { TruthProgram } from './program.ts';
import { rowFunction } from './row-function.ts';
import { type ColumnScope, VectorTable } from './table.ts';
import { runWholeTable } from './whole-table.ts';

/** Cells of all measures and units of a query; beyond it groups are hashed by the general path. */
const CELLS_SIZE_MAX = 512 * 1024 * 1024;
const CELL_COUNT_MAX = 1 << 22;

/** What an aggregate reads: rows of one table or of a join of two, perhaps filtered. */
type GroupInput =
  | (FilteredScan & { readonly join: undefined })
  | { readonly join: ScanJoin; readonly filter: FilterNode | undefined };

export function matchGroupInput(node: PlanNode): GroupInput | undefined {
  const scan = matchFilteredScan(node);
  if (scan !== undefined) return { ...scan, join: undefined };
  const filter = node.kind === 'filter' ? node : undefined;
  const join = matchScanJoin(filter?.input ?? node);
  return join && { join, filter };
}

/**
 * Groups of an aggregate over columns. Undefined when the data or an expression does not suit
 * vectors: the caller then runs the general operator, which gives the same rows.
 */
export function vectorGroups(
  node: AggregateNode,
  compiler: Compiler,
  engine: VectorEngine,
): GroupTable | undefined {
  const input = matchGroupInput(node.input);
  if (input === undefined) return undefined;
  const dictionaries = new DictionaryTables(engine.arenas, (expression) =>
    rowFunction(expression, compiler),
  );
  try {
    const rows = openRows(input, compiler, dictionaries);
    if (rows === undefined || rows.rowCount < Math.max(1, engine.rowCountMin)) return undefined;
    const query = new GroupQuery(node, input.filter?.condition, rows, dictionaries);
    return query.isLowered ? query.run(engine) : undefined;
  } finally {
    dictionaries.release();
  }
}

/** Rows that a query groups; `build` after its expressions have asked for their columns. */
interface GroupRows {
  readonly scope: ColumnScope;
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly arena: number;
  build(engine: VectorEngine): { readonly source: GroupSource; readonly spans: readonly Span[] };
  /** The rows for block programs; undefined when they are not for these. */
  blocks(
    engine: VectorEngine,
  ): { readonly source: BlockSource; readonly spans: readonly Span[] } | undefined;
}

function openRows(
  input: GroupInput,
  compiler: Compiler,
  dictionaries: DictionaryTables,
): GroupRows | undefined {
  if (input.join !== undefined) {
    const join = prepareJoin(input.join, compiler, dictionaries);
    return (
      join && {
        scope: join.scope,
        rowCount: join.rowCount,
        chunkRowCounts: join.chunkRowCounts,
        get arena() {
          return join.arena;
        },
        build(engine) {
          const { source, spans } = join.build(engine);
          return { source: { kind: 'join', join: source }, spans };
        },
        blocks: (engine) => join.blocks(engine),
      }
    );
  }
  const table = VectorTable.of(compiler.runtime.catalog.dataset(input.scan.dataset));
  return (
    table && {
      scope: table,
      rowCount: table.snapshot.rowCount,
      chunkRowCounts: table.snapshot.chunkRowCounts,
      get arena() {
        return homeArena(table.columns);
      },
      build: () => ({ source: { kind: 'scan', columns: table.columns }, spans: [] }),
      blocks: () => ({ source: blockSourceOf(table.columns), spans: [] }),
    }
  );
}

function blockSourceOf(columns: readonly ColumnSnapshot[]): BlockSource {
  return {
    columns: columns.map(chunkColumn),
    chunkColumns: columns,
    key: undefined,
    filter: undefined,
    present: undefined,
  };
}

class GroupQuery {
  readonly #rows: GroupRows;
  readonly #lowering: Lowering;
  readonly #explicit: boolean;
  readonly #filter: TruthProgram | undefined;
  readonly #keys: readonly LoweredCodes[] = [];
  readonly #measures: Measure[] = [];
  readonly #readers: Reader[] = [];
  readonly #countsEmpty: boolean;
  #rowsMeasure = 0;
  readonly isLowered: boolean;

  constructor(
    node: AggregateNode,
    condition: BoundExpression | undefined,
    rows: GroupRows,
    dictionaries: DictionaryTables,
  ) {
    this.#rows = rows;
    this.#lowering = new Lowering(rows.scope, dictionaries);
    this.#explicit = node.explicit;
    this.#countsEmpty = node.aggregates.some(({ name }) => COUNTS.has(name));
    const filter = condition && this.#lowering.truth(condition);
    this.#filter = filter;
    const keys = node.keys.map((key) => this.#lowering.codes(key));
    const readers = node.aggregates.map((call) =>
      lowerAggregate(call, this.#lowering, (measure) => this.#measure(measure)),
    );
    if ((condition !== undefined && filter === undefined) || !isFull(keys) || !isFull(readers)) {
      this.isLowered = false;
      return;
    }
    this.#keys = keys;
    this.#readers.push(...readers);
    this.#rowsMeasure = this.#measure({ kind: 'rows' });
    const cellCount = this.#cellCount();
    const size = this.#measures.reduce((sum, measure) => sum + cellSize(measure), 0);
    const unitCount = unitCountFor(cellCount);
    this.isLowered =
      cellCount <= CELL_COUNT_MAX && (cellCount + 1) * size * unitCount <= CELLS_SIZE_MAX;
  }

  run(engine: VectorEngine): GroupTable {
    return this.#runAsWhole(engine) ?? this.#runByCells(engine);
  }

  /** One group over everything, by a program of one kernel. */
  #runAsWhole(engine: VectorEngine): GroupTable | undefined {
    if (this.#keys.length > 0) return undefined;
    const blocks = this.#rows.blocks(engine);
    if (blocks === undefined) return undefined;
    const { arena, chunkRowCounts } = this.#rows;
    const spans = [...blocks.spans];
    try {
      const { source } = blocks;
      const measures = this.#measures;
      const whole = runWholeTable(
        { source, arena, chunkRowCounts, filter: this.#filter, measures },
        engine,
      );
      if (whole === undefined) return undefined;
      spans.push(whole.span);
      const memory = engine.arenas.get(arena);
      this.#merge(memory, whole.cells, 1);
      return this.#readGroups(memory, whole.cells[0] as readonly Span[]);
    } finally {
      for (const span of spans) engine.arenas.free(span);
    }
  }

  #runByCells(engine: VectorEngine): GroupTable {
    const { chunkRowCounts, arena } = this.#rows;
    const cellCount = this.#cellCount();
    const ranges = cutChunks(chunkRowCounts.length, unitCountFor(cellCount));
    const { source, spans } = this.#rows.build(engine);
    const cells: Span[][] = [];
    try {
      for (const _ of ranges) cells.push(this.#allocateCells(engine, arena, cellCount));
      const args: GroupJobArgs = {
        arena,
        source,
        chunkRowCounts,
        ranges,
        filter: this.#filter,
        keys: this.#keys.map((key) => key.program),
        cellCount,
        measures: this.#measures,
        cells,
      };
      engine.parallel.run(groupJob, args, ranges.length);
      const [merged] = cells;
      assert(merged !== undefined, 'a table without rows is not for vectors');
      this.#merge(engine.arenas.get(arena), cells, cellCount);
      return this.#readGroups(engine.arenas.get(arena), merged);
    } finally {
      for (const span of [...spans, ...cells.flat()]) engine.arenas.free(span);
    }
  }

  #cellCount(): number {
    return this.#keys.reduce((product, { program }) => product * program.cardinality, 1);
  }

  #allocateCells(engine: VectorEngine, arena: number, cellCount: number): Span[] {
    return this.#measures.map((measure) => {
      const span = engine.arenas.allocateIn(arena, (cellCount + 1) * cellSize(measure) + 64);
      engine.arenas.get(arena).u8.fill(0, span.offset, span.offset + span.sizeBytes);
      return span;
    });
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

  #readGroups(memory: Arena, cells: readonly Span[]): GroupTable {
    const outputs = this.#readers.map((read) =>
      read(memory, (measure) => (cells[measure] as Span).offset),
    );
    const rows = (cells[this.#rowsMeasure] as Span).offset / 4;
    const { u32 } = memory;
    const found = cellsInOrder(
      this.#keys.map(({ program, order }) => ({
        cardinality: program.cardinality,
        codes: order(),
      })),
      (cell) => u32[rows + cell * 2] !== 0 || u32[rows + cell * 2 + 1] !== 0,
    );
    if (found.length === 0 && this.#keys.length === 0) return this.#emptyResult(outputs);
    const keys = this.#keys.map((key, depth) => ({
      codes: this.#codesOf(found, depth),
      atom: key.atom,
      ts: key.ts,
    }));
    const aggregates = outputs.map((output) => readOutput(output, found));
    return new GroupTable({ rowCount: found.length, keys, aggregates });
  }

  /** The digit of cell numbers that is the code of a key. */
  #codesOf(cells: Int32Array, depth: number): Int32Array {
    const { cardinality } = (this.#keys[depth] as LoweredCodes).program;
    const divisor = this.#keys
      .slice(depth + 1)
      .reduce((product, { program }) => product * program.cardinality, 1);
    const codes = new Int32Array(cells.length);
    for (let i = 0; i < cells.length; i++) {
      codes[i] = (((cells[i] as number) / divisor) | 0) % cardinality;
    }
    return codes;
  }

  /** No row was read: an implied group exists only if an aggregate counts nothing too. */
  #emptyResult(outputs: readonly Output[] = []): GroupTable {
    const isThere = !this.#explicit && this.#countsEmpty;
    const cells = new Int32Array(isThere ? 1 : 0);
    const aggregates = outputs.map((output) => readOutput(output, cells));
    return new GroupTable({ rowCount: cells.length, keys: [], aggregates });
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
