// GROUP BY over columns: dictionary codes and small ranges of integers number the groups directly,
// without a hash table, and kernels accumulate into one cell a group.
import type { BoundExpression } from '../../plan/expression.ts';
import type {
  AggregateCall,
  AggregateNode,
  FilterNode,
  PlanNode,
  ScanNode,
} from '../../plan/plan.ts';
import { assert } from '../../util/assert.ts';
import type { Arena } from '../../value/arena.ts';
import type { ColumnSnapshot, Span } from '../../value/snapshot.ts';
import { Scalar, type Value } from '../../value/value.ts';
import type { Compiler } from '../general/compiler.ts';
import { Frame } from '../general/frame.ts';
import { threadKernels } from '../thread-memory.ts';
import { cutChunks, homeArena } from './chunk-range.ts';
import { DictionaryTables } from './dictionary-table.ts';
import type { VectorEngine } from './engine.ts';
import { type GroupJobArgs, groupJob } from './group-job.ts';
import { type GroupAggregate, GroupTable } from './group-table.ts';
import { type LoweredCodes, Lowering, type Timed } from './lower.ts';
import { cellSize, type Measure, mergeCells } from './measure.ts';
import type { TruthProgram } from './program.ts';
import { VectorTable } from './table.ts';

/** Cells of all measures and units of a query; beyond it groups are hashed by the general path. */
const CELLS_SIZE_MAX = 512 * 1024 * 1024;
const CELL_COUNT_MAX = 1 << 22;

/** The scan below an aggregate, with the filter between them. */
export interface FilteredScan {
  readonly scan: ScanNode;
  readonly filter: FilterNode | undefined;
}

export function matchFilteredScan(node: PlanNode): FilteredScan | undefined {
  if (node.kind === 'scan')
    return node.lookup === undefined ? { scan: node, filter: undefined } : undefined;
  if (node.kind !== 'filter' || node.input.kind !== 'scan') return undefined;
  return node.input.lookup === undefined ? { scan: node.input, filter: node } : undefined;
}

/**
 * Groups of an aggregate over a scan. Undefined when the data or an expression does not suit
 * vectors: the caller then runs the general operator, which gives the same rows.
 */
export function vectorGroups(
  node: AggregateNode,
  compiler: Compiler,
  engine: VectorEngine,
): GroupTable | undefined {
  const input = matchFilteredScan(node.input);
  if (input === undefined) return undefined;
  const table = VectorTable.of(compiler.runtime.catalog.dataset(input.scan.dataset));
  if (table === undefined || table.snapshot.rowCount < Math.max(1, engine.rowCountMin)) {
    return undefined;
  }
  const tables = new DictionaryTables(engine.arenas, (expression) =>
    rowFunction(expression, compiler),
  );
  try {
    const query = new GroupQuery(node, input.filter?.condition, table, tables);
    return query.isLowered ? query.run(engine) : undefined;
  } finally {
    tables.release();
  }
}

/** An expression as a function of a row, for evaluation over dictionaries. */
export function rowFunction(expression: BoundExpression, compiler: Compiler) {
  const evaluate = compiler.evaluator(expression);
  const frame = new Frame();
  return (row: Value) => {
    frame.row = row as typeof frame.row;
    return evaluate(frame);
  };
}

/** How an aggregate is read from the cells of a group. */
interface Output {
  /** the number that it is, or that is in it */
  read(cell: number): number;
  /** whether a value was counted that has the timestamp of the table */
  isTimed(cell: number): boolean;
  /** present: whether the group has no value, which gives null instead of the number */
  isNull?(cell: number): boolean;
  readonly result: 'number' | 'timestamp';
}

/** Reads one group's cells once they are merged; `at` gives the address of a measure's cells. */
type Reader = (memory: Arena, at: (measure: number) => number) => Output;

class GroupQuery {
  readonly #table: VectorTable;
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
    table: VectorTable,
    tables: DictionaryTables,
  ) {
    this.#table = table;
    this.#lowering = new Lowering(table, tables);
    this.#explicit = node.explicit;
    this.#countsEmpty = node.aggregates.some(({ name }) => COUNTS.has(name));
    const filter = condition && this.#lowering.truth(condition);
    this.#filter = filter;
    const keys = node.keys.map((key) => this.#lowering.codes(key));
    const readers = node.aggregates.map((call) => this.#lowerAggregate(call));
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
    const { snapshot, columns } = this.#table;
    const arena = homeArena(columns);
    const cellCount = this.#cellCount();
    const ranges = cutChunks(snapshot.chunkRowCounts.length, unitCountFor(cellCount));
    const cells: Span[][] = [];
    try {
      for (const _ of ranges) cells.push(this.#allocateCells(engine, arena, cellCount));
      const args: GroupJobArgs = {
        arena,
        columns,
        chunkRowCounts: snapshot.chunkRowCounts,
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
      for (const span of cells.flat()) engine.arenas.free(span);
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
    const found = this.#cellsInOrder(memory.u32, rows);
    if (found.length === 0 && this.#keys.length === 0) return this.#emptyResult(outputs);
    const keys = this.#keys.map((key, depth) => ({
      codes: this.#codesOf(found, depth),
      atom: key.atom,
    }));
    const aggregates = outputs.map((output) => readOutput(output, found));
    return new GroupTable({ rowCount: found.length, keys, aggregates, ts: this.#table.ts });
  }

  /** Cells of groups that have rows, in the order of their keys. */
  #cellsInOrder(u32: Uint32Array, rows: number): Int32Array {
    const isMet = (cell: number) =>
      u32[rows + cell * 2] !== 0 || u32[rows + cell * 2 + 1] !== 0 ? 1 : 0;
    let prefixes = Int32Array.of(0);
    const last = this.#keys.length - 1;
    if (last === -1) return prefixes.slice(0, isMet(0));
    this.#keys.forEach((key, depth) => {
      const { cardinality } = key.program;
      const order = key.order();
      const next = new Int32Array(prefixes.length * cardinality);
      let count = 0;
      for (const prefix of prefixes) {
        const base = prefix * cardinality;
        for (const code of order) {
          next[count] = base + code;
          count += depth === last ? isMet(base + code) : 1;
        }
      }
      prefixes = next.slice(0, count);
    });
    return prefixes;
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
    return new GroupTable({ rowCount: cells.length, keys: [], aggregates, ts: this.#table.ts });
  }

  #measure(measure: Measure): number {
    const text = JSON.stringify(measure);
    const known = this.#measures.findIndex((each) => JSON.stringify(each) === text);
    return known !== -1 ? known : this.#measures.push(measure) - 1;
  }

  #lowerAggregate(call: AggregateCall): Reader | undefined {
    const [arg, ...others] = call.args;
    const lower = Object.hasOwn(AGGREGATES, call.name) ? AGGREGATES[call.name] : undefined;
    if (lower === undefined || arg === undefined || others.length > 0) return undefined;
    return lower({
      arg,
      table: this.#table,
      lowering: this.#lowering,
      measure: (measure) => this.#measure(measure),
    });
  }
}

/** Aggregates that give a row over no rows. */
const COUNTS: ReadonlySet<string> = new Set(['count', 'vertical_count']);

interface AggregateContext {
  readonly arg: BoundExpression;
  readonly table: VectorTable;
  readonly lowering: Lowering;
  measure(measure: Measure): number;
}

type LowerAggregate = (context: AggregateContext) => Reader | undefined;

const lowerCount: LowerAggregate = ({ arg, lowering, measure, table }) => {
  if (arg.kind === 'constant' && arg.value instanceof Scalar && arg.value.atom !== null) {
    const rows = measure({ kind: 'rows' });
    return countReader(rows, false);
  }
  if (arg.kind !== 'column') return undefined;
  const column = table.find(arg.path);
  if (typeof column !== 'number') return undefined;
  const { nullCount } = table.columns[column] as ColumnSnapshot;
  if (lowering.numbers(arg) === undefined && lowering.codes(arg) === undefined) return undefined;
  return countReader(measure(nullCount === 0 ? { kind: 'rows' } : { kind: 'count', column }), true);
};

function countReader(measure: number, readsColumn: boolean): Reader {
  return (memory, at) => {
    const counts = at(measure);
    const read = (cell: number) => readInt64(memory, counts + cell * 8);
    return { result: 'number', read, isTimed: (cell) => readsColumn && read(cell) > 0 };
  };
}

function lowerSum(finish: (sum: number, count: number) => number): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const exact = numbers.isInteger;
    const timed = lowerTimed(numbers.timed, measure);
    const sums = measure({ kind: 'sum', numbers: numbers.program, exact });
    return (memory, at) => {
      const start = at(sums);
      return {
        result: 'number',
        isTimed: timed(memory, at, (cell) => readInt64(memory, start + cell * 16)),
        read(cell) {
          const address = start + cell * 16;
          const count = readInt64(memory, address);
          const sum = exact
            ? readInt64(memory, address + 8)
            : (memory.f64[address / 8 + 1] as number);
          return finish(sum, count) + 0;
        },
      };
    };
  };
}

function lowerExtreme(kind: 'min' | 'max'): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined) return undefined;
    const extremes = measure({ kind, numbers: numbers.program });
    // The timestamp is that of the extreme value itself, wherever it was.
    if (typeof numbers.timed !== 'boolean') return undefined;
    const timed = lowerTimed(numbers.timed, measure);
    return (memory, at) => {
      const start = at(extremes);
      const count = (cell: number) => readInt64(memory, start + cell * 16);
      return {
        result: numbers.isTimestamp ? 'timestamp' : 'number',
        isNull: (cell) => count(cell) === 0,
        isTimed: timed(memory, at, count),
        read: (cell) => (memory.f64[start / 8 + cell * 2 + 1] as number) + 0,
      };
    };
  };
}

function lowerMoments(finish: (variance: number) => number): LowerAggregate {
  return ({ arg, lowering, measure }) => {
    const numbers = lowering.numbers(arg);
    if (numbers === undefined || numbers.isTimestamp) return undefined;
    const moments = measure({ kind: 'moments', numbers: numbers.program });
    const timed = lowerTimed(numbers.timed, measure);
    return (memory, at) => {
      const start = at(moments) / 8;
      return {
        result: 'number',
        isTimed: timed(memory, at, (cell) => memory.f64[start + cell * 4] as number),
        read(cell) {
          const word = start + cell * 4;
          const count = memory.f64[word] as number;
          return finish(count < 2 ? Number.NaN : (memory.f64[word + 2] as number) / (count - 1));
        },
      };
    };
  };
}

const lowerDistinct: LowerAggregate = ({ arg, lowering, measure }) => {
  const codes = lowering.codes(arg);
  if (codes === undefined) return undefined;
  const { cardinality } = codes.program;
  const presence = measure({ kind: 'distinct', codes: codes.program });
  return (memory, at) => {
    const start = at(presence);
    const kernels = threadKernels(memory.id);
    // Code 0 is NULL, which is not counted.
    const read = (cell: number) =>
      kernels.countBytes(start + cell * cardinality + 1, cardinality - 1);
    return { result: 'number', read, isTimed: (cell) => read(cell) > 0 };
  };
};

/** Whether a group counted a value that has a timestamp, given how many values it counted. */
type TimedReader = (
  memory: Arena,
  at: (measure: number) => number,
  count: (cell: number) => number,
) => (cell: number) => boolean;

function lowerTimed(timed: Timed, measure: AggregateContext['measure']): TimedReader {
  if (timed === false) return () => () => false;
  if (timed === true) return (_memory, _at, count) => (cell) => count(cell) > 0;
  const values = measure({ kind: 'values', numbers: timed });
  return (memory, at) => {
    const start = at(values);
    return (cell) => readInt64(memory, start + cell * 8) > 0;
  };
}

const sum = lowerSum((total) => total);
const average = lowerSum((total, count) => total / count);
const variance = lowerMoments((value) => value);
const deviation = lowerMoments(Math.sqrt);

const AGGREGATES: Readonly<Record<string, LowerAggregate>> = {
  count: lowerCount,
  vertical_count: lowerCount,
  sum,
  vertical_sum: sum,
  avg: average,
  vertical_avg: average,
  min: lowerExtreme('min'),
  vertical_min: lowerExtreme('min'),
  max: lowerExtreme('max'),
  vertical_max: lowerExtreme('max'),
  variance,
  vertical_variance: variance,
  stddev: deviation,
  vertical_stddev: deviation,
  count_distinct: lowerDistinct,
};

/** The results of groups, taken out of cells that are about to be freed. */
function readOutput(output: Output, cells: Int32Array): GroupAggregate {
  const values = new Float64Array(cells.length);
  const timed = new Uint8Array(cells.length);
  const nulls = output.isNull === undefined ? undefined : new Uint8Array(cells.length);
  for (let i = 0; i < cells.length; i++) {
    const cell = cells[i] as number;
    values[i] = output.read(cell);
    timed[i] = output.isTimed(cell) ? 1 : 0;
    if (nulls !== undefined) nulls[i] = output.isNull?.(cell) === true ? 1 : 0;
  }
  return { values, timed, result: output.result, nulls: nulls?.includes(1) ? nulls : undefined };
}

/** A 64-bit integer as the nearest double. */
function readInt64(memory: Arena, address: number): number {
  const word = address / 4;
  return (memory.i32[word + 1] as number) * 2 ** 32 + (memory.u32[word] as number);
}

/** Few units when cells are many: each unit has its own. */
function unitCountFor(cellCount: number): number {
  return cellCount <= 4096 ? 32 : cellCount <= 1 << 18 ? 4 : 2;
}

function isFull<T>(list: readonly (T | undefined)[]): list is readonly T[] {
  return !list.includes(undefined);
}
