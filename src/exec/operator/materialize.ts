// Puts expressions about the rows of a pipeline into a table: by kernels where these know them, by
// closures over the columns that they read where they do not.
import type { BoundExpression } from '../../plan/expression.ts';
import { mapExpression } from '../../plan/map-expression.ts';
import { assert } from '../../util/assert.ts';
import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type {
  ChunkSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  Span,
} from '../../value/column/snapshot.ts';
import { int32Of } from '../../value/column/span-view.ts';
import { compareElements } from '../../value/natural-order.ts';
import { MINUS_INFINITY } from '../../value/timestamp.ts';
import { NULL_VALUE, Row, Scalar, type Value } from '../../value/value.ts';
import type { Compiler } from '../general/compiler.ts';
import { Frame } from '../general/frame.ts';
import { compileScalar } from '../scalar/compile.ts';
import { cutChunks } from '../vector/chunk-range.ts';
import type { DictionaryTables } from '../vector/dictionary-table.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { NO_LIMIT } from '../vector/order/least-words.ts';
import type { OrderWord } from '../vector/order/order-key.ts';
import type { LoweredCodes, LoweredNumbers } from '../vector/program/lower.ts';
import { buildSource } from './build.ts';
import {
  freeBatches,
  materializeJob,
  type NumberForm,
  type WrittenBatch,
  type WrittenColumn,
} from './materialize-job.ts';
import { suited } from './not-suited.ts';
import { madeOutputs } from './outputs.ts';
import { type Output, Pipeline, type Stage } from './pipeline.ts';
import type { RunMemory } from './run-memory.ts';
import { type MadeColumn, MadeTable } from './table/batch-table.ts';
import {
  columnOf,
  encodeAtoms,
  encodeDictionary,
  encodeNumberColumn,
} from './table/encode-column.ts';
import type { Trace } from './trace.ts';

/** What operators of a query share while it runs. */
export interface OperatorContext {
  readonly engine: VectorEngine;
  readonly compiler: Compiler;
  readonly tables: DictionaryTables;
  readonly memory: RunMemory;
  /** told what is done, for EXPLAIN; absent: nobody asks */
  readonly trace?: Trace | undefined;
  /** false: nobody looks at the timestamps of the result */
  readonly exactTimestamps: boolean;
}

export interface MaterializeOptions {
  /** only so many first rows are wanted */
  readonly rowCountMax?: number | undefined;
  /** rows beyond the first ones in this order may be left out */
  readonly top?: Top | undefined;
  /** the names of the rows can be asked for */
  readonly named: boolean;
}

export interface Top {
  /** lowered over the pipeline; rows that it does not tell apart are all kept */
  readonly word: OrderWord;
  readonly keep: number;
}

const UNIT_COUNT_MAX = 64;

/** For a row of what was materialized: the row of each table of the pipeline that it was made of. */
export type SourceRows = (row: number) => (table: number) => number | undefined;

/** Rows in a table, and where they are from when they are `named`. */
export interface MaterializedRows {
  readonly pipeline: Pipeline;
  readonly sourceRow: SourceRows;
}

/** @throws NotSuited when a value is no atom, and what expressions throw */
export function materialize(
  pipeline: Pipeline,
  outputs: readonly Output[],
  context: OperatorContext,
  { rowCountMax, named, top }: MaterializeOptions,
): Pipeline {
  const form = new TableForm(pipeline, outputs, context, named);
  // What closures evaluate may throw, for rows that are left out too.
  const options = { rowCountMax, top: form.isEvaluated ? undefined : top };
  return form.table(write(pipeline, form.written, context, options), context).pipeline;
}

/** What is written of the rows of a pipeline, and the table that it becomes. */
export class TableForm {
  readonly #pipeline: Pipeline;
  readonly #plan: WritePlan;
  readonly #columns: readonly {
    readonly name: string;
    readonly path: readonly string[];
    readonly column: KernelColumn | ClosureColumn;
  }[];
  readonly #nameColumns: readonly { readonly table: number; readonly index: number }[];

  /** @throws NotSuited when a column cannot be written */
  constructor(
    pipeline: Pipeline,
    outputs: readonly Output[],
    { memory }: OperatorContext,
    named: boolean,
  ) {
    this.#pipeline = pipeline;
    this.#plan = new WritePlan(pipeline, memory);
    this.#columns = outputs.map(({ path, expression }) => ({
      name: path.join('\u0000'),
      path,
      column: this.#plan.add(expression),
    }));
    this.#nameColumns = named ? this.#plan.addRowNumbers() : [];
  }

  /** columns of each batch */
  get written(): readonly WrittenColumn[] {
    return this.#plan.columns;
  }

  /** whether closures make values of what was written */
  get isEvaluated(): boolean {
    return this.#columns.some(({ column }) => 'evaluate' in column);
  }

  /** @throws NotSuited when a value is no atom, and what expressions throw */
  table(written: readonly WrittenBatch[], context: OperatorContext): MaterializedRows {
    const chunkRowCounts = written.length > 0 ? written.map(({ rowCount }) => rowCount) : [0];
    const chunksOf = (index: number): ChunkSnapshot[] =>
      written.length > 0
        ? written.map(({ chunks }) => chunks[index] as ChunkSnapshot)
        : [{ kind: 'constant', rowCount: 0, atom: null }];
    const makers = new Map<string, () => MadeColumn | undefined>();
    for (const { name, path, column } of this.#columns) {
      makers.set(name, () =>
        'evaluate' in column
          ? evaluateColumn(path, column, { chunkRowCounts, chunksOf, context })
          : this.#plan.made(path, column, chunksOf),
      );
    }
    const rowNumbers = this.#nameColumns.map(({ table, index }) => {
      return { table, numbers: copyNumbers(chunksOf(index), context.memory.arenas) };
    });
    const { namer, builds } = this.#pipeline;
    const sourceRow: SourceRows = (row) => (table) => {
      const numbers = rowNumbers.find((each) => each.table === table)?.numbers;
      assert(numbers !== undefined, `rows of table ${table} were not kept`);
      const number = numbers[row] as number;
      return number === builds[table - 1]?.table.rowCount ? undefined : number;
    };
    const nameAt = (row: number) => namer(sourceRow(row));
    const table = new MadeTable(chunkRowCounts, makers, (row) => nameAt(row).name);
    // Errors and values that are no atoms come now, while the reference can still take over.
    for (const { name, column } of this.#columns) {
      if ('evaluate' in column) suited(table.find([name]));
    }
    const pipeline = new Pipeline(
      table,
      madeOutputs(table),
      (rowOf) => nameAt(rowOf(0) as number),
      context.tables,
    );
    return { pipeline, sourceRow };
  }
}

/** Row numbers outlive the memory that jobs wrote them to: names may be asked for much later. */
function copyNumbers(chunks: readonly ChunkSnapshot[], arenas: ArenaAllocator): Int32Array {
  const parts = chunks.map((chunk) =>
    'data' in chunk ? int32Of(arenas, chunk.data).subarray(0, chunk.rowCount) : NO_NUMBERS,
  );
  const all = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const NO_NUMBERS = new Int32Array(0);

/** The rows of a pipeline, gone through once more where nobody knows how many there are. */
export function countRows(
  stage: Stage,
  context: Pick<OperatorContext, 'engine' | 'memory'>,
): number {
  if (stage.builds.length === 0 && stage.filter === undefined) return stage.base.rowCount;
  return write(stage, [], context, {}).reduce((sum, { rowCount }) => sum + rowCount, 0);
}

function write(
  pipeline: Stage,
  columns: readonly WrittenColumn[],
  { engine, memory }: Pick<OperatorContext, 'engine' | 'memory'>,
  { rowCountMax = Number.POSITIVE_INFINITY, top }: Omit<MaterializeOptions, 'named'>,
): WrittenBatch[] {
  const { chunkRowCounts } = pipeline.base;
  const isNarrowed = top !== undefined;
  const { source, arena, spans } = buildSource(pipeline, engine, pipeline.filter, isNarrowed);
  let limit: Span | undefined;
  try {
    if (top !== undefined) {
      limit = engine.arenas.allocateIn(arena, 8);
      engine.arenas.get(arena).i64[limit.offset / 8] = NO_LIMIT;
    }
    const topRows = limit && top && { ...top, limit };
    const firstRows: number[] = [];
    let first = 0;
    for (const rowCount of chunkRowCounts) {
      firstRows.push(first);
      first += rowCount;
    }
    const all: WrittenBatch[] = [];
    let rowCount = 0;
    // With a limit a few chunks first, then more and more.
    let size = rowCountMax === Number.POSITIVE_INFINITY ? chunkRowCounts.length : 1;
    for (let from = 0; from < chunkRowCounts.length && rowCount < rowCountMax; size *= 2) {
      const count = Math.min(size, chunkRowCounts.length - from);
      const ranges = cutChunks(count, UNIT_COUNT_MAX).map((range) => ({
        from: range.from + from,
        to: range.to + from,
      }));
      const args = { arena, source, chunkRowCounts, firstRows, ranges, columns, first: topRows };
      for (const batch of engine.parallel.run(materializeJob, args, ranges.length).flat()) {
        if (rowCount >= rowCountMax) freeBatches([batch], memory.arenas);
        else {
          for (const chunk of batch.chunks) memory.holdChunk(chunk);
          all.push(batch);
          rowCount += batch.rowCount;
        }
      }
      from += count;
    }
    return all;
  } finally {
    for (const span of spans) engine.arenas.free(span);
    if (limit !== undefined) engine.arenas.free(limit);
  }
}

/** A column that kernels write; `timed`: the one that is valid where its values have `ts`. */
interface KernelColumn {
  readonly index: number;
  readonly ts: number;
  readonly timed: number | undefined;
  readonly type: ColumnSnapshot['type'];
  dictionary(): DictionarySnapshot | undefined;
}

/** A column of values that closures make of the columns `inputs`, by their names. */
interface ClosureColumn {
  readonly evaluate: BoundExpression;
  /** the same about the columns of the pipeline, and these */
  readonly source: BoundExpression;
  readonly read: readonly ColumnSnapshot[];
  readonly inputs: readonly { readonly name: string; readonly column: KernelColumn }[];
}

class WritePlan {
  readonly columns: WrittenColumn[] = [];
  readonly #pipeline: Pipeline;
  readonly #memory: RunMemory;
  readonly #known = new Map<string, KernelColumn>();

  constructor(pipeline: Pipeline, memory: RunMemory) {
    this.#pipeline = pipeline;
    this.#memory = memory;
  }

  add(expression: BoundExpression): KernelColumn | ClosureColumn {
    return this.#byKernels(expression) ?? this.#byClosures(expression);
  }

  addRowNumbers(): { readonly table: number; readonly index: number }[] {
    return [undefined, ...this.#pipeline.builds.keys()].map((step) => ({
      table: step === undefined ? 0 : step + 1,
      index: this.columns.push({ kind: 'rows', step }) - 1,
    }));
  }

  made(
    path: readonly string[],
    column: KernelColumn,
    chunksOf: (index: number) => ChunkSnapshot[],
  ): MadeColumn {
    const snapshot = columnOf(path, column.type, chunksOf(column.index), column.dictionary());
    const { ts } = column;
    if (column.timed === undefined) return { snapshot, ts };
    return { snapshot, ts, timed: columnOf(path, 'number', chunksOf(column.timed)) };
  }

  #byKernels(expression: BoundExpression): KernelColumn | undefined {
    const key = expression.kind === 'column' ? expression.path.join('\u0000') : undefined;
    const known = key === undefined ? undefined : this.#known.get(key);
    if (known !== undefined) return known;
    const { lowering } = this.#pipeline;
    const numbers = lowering.numbers(expression);
    let column: KernelColumn | undefined;
    if (numbers?.timedNulls === 'mixed') return undefined;
    if (numbers !== undefined) column = this.#numbers(numbers, expression);
    else {
      const codes = lowering.codes(expression);
      if (codes !== undefined) column = this.#codes(codes);
    }
    if (key !== undefined && column !== undefined) this.#known.set(key, column);
    return column;
  }

  #numbers(lowered: LoweredNumbers, expression: BoundExpression): KernelColumn {
    const { program, isTimestamp, timedNulls } = lowered;
    const timed = typeof timedNulls === 'object' ? timedNulls : lowered.timed;
    const isInteger = this.#pipeline.lowering.integerBounds(expression) !== undefined;
    const form: NumberForm = isTimestamp ? 'timestamp' : isInteger ? 'int32' : 'float64';
    const index = this.columns.push({ kind: 'numbers', numbers: program, form }) - 1;
    return {
      index,
      ts: timed === false ? MINUS_INFINITY : lowered.ts,
      timed:
        typeof timed === 'boolean'
          ? undefined
          : this.columns.push({ kind: 'numbers', numbers: timed, form: 'float64' }) - 1,
      type: isTimestamp ? 'timestamp' : isInteger ? 'integer' : 'number',
      dictionary: () => undefined,
    };
  }

  #codes({ program, ts, atom }: LoweredCodes): KernelColumn {
    const stored =
      program.op === 'codes' ? this.#pipeline.scope.columns[program.column]?.dictionary : undefined;
    if (stored !== undefined) {
      const index = this.columns.push({ kind: 'codes', codes: program }) - 1;
      const type = stored.kind === 'text' ? 'string' : 'mixed';
      return { index, ts, timed: undefined, type, dictionary: () => stored };
    }
    const atoms = Array.from({ length: program.cardinality - 1 }, (_, i) => atom(i + 1));
    const { dictionary } = encodeDictionary(atoms, this.#memory);
    assert(dictionary.count === atoms.length, 'the atoms of codes are distinct');
    const index = this.columns.push({ kind: 'codes', codes: program }) - 1;
    const type = dictionary.kind === 'text' ? 'string' : 'mixed';
    return { index, ts, timed: undefined, type, dictionary: () => dictionary };
  }

  #byClosures(expression: BoundExpression): ClosureColumn {
    const names = new Map<string, { readonly name: string; readonly column: KernelColumn }>();
    const { scope } = this.#pipeline;
    const read: ColumnSnapshot[] = [];
    const evaluate = mapExpression(expression, (part) => {
      if (part.kind !== 'column') return part;
      const key = part.path.join('\u0000');
      let input = names.get(key);
      if (input === undefined) {
        input = { name: `c${names.size}`, column: suited(this.#byKernels(part)) };
        names.set(key, input);
        const column = scope.find(part.path);
        if (typeof column === 'number') read.push(scope.columns[column] as ColumnSnapshot);
      }
      return { ...part, path: [input.name] };
    });
    const inputs = [...names.values()].sort((a, b) => compareElements(a.name, b.name));
    return { evaluate, source: expression, read, inputs };
  }
}

interface EvaluationInput {
  readonly chunkRowCounts: readonly number[];
  readonly context: OperatorContext;
  chunksOf(index: number): ChunkSnapshot[];
}

const ROWS_PER_CHECK = 1024;

function evaluateColumn(
  path: readonly string[],
  { evaluate: expression, source, read, inputs }: ClosureColumn,
  { chunkRowCounts, chunksOf, context }: EvaluationInput,
): MadeColumn | undefined {
  const { compiler, memory, exactTimestamps } = context;
  const views = inputs.map(({ column }) => {
    const snapshot = columnOf([], column.type, chunksOf(column.index), column.dictionary());
    return new ColumnView(snapshot, memory.arenas);
  });
  const rowCount = chunkRowCounts.reduce((sum, count) => sum + count, 0);
  const atoms = new Array<Atom>(rowCount);
  const program = exactTimestamps
    ? undefined
    : compileScalar(expression, compiler.runtime.namespace.builtins);
  const { scope } = compiler.runtime;
  const way = program === undefined ? 'closure' : 'generated JavaScript';
  context.trace?.evaluated(source, way, read);
  if (program !== undefined) {
    const columns = program.columns.map(([name]) => {
      return views[inputs.findIndex((input) => input.name === name)] as ColumnView;
    });
    const cells = new Array<Atom>(columns.length).fill(null);
    for (let row = 0; row < rowCount; row++) {
      if (row % ROWS_PER_CHECK === 0) scope.checkCancelled();
      for (let i = 0; i < cells.length; i++) cells[i] = (columns[i] as ColumnView).atomAt(row);
      atoms[row] = program.evaluate(cells);
    }
    return { snapshot: encodeAtoms(path, atoms, chunkRowCounts, memory), ts: MINUS_INFINITY };
  }
  const times = new Timestamps(rowCount);
  const evaluate = compiler.evaluator(expression);
  const frame = new Frame();
  const names = inputs.map(({ name }) => name);
  const timed = inputs.map(({ column }) =>
    column.timed === undefined
      ? undefined
      : new ColumnView(columnOf([], 'number', chunksOf(column.timed)), memory.arenas),
  );
  for (let row = 0; row < rowCount; row++) {
    if (row % ROWS_PER_CHECK === 0) scope.checkCancelled();
    const cells = views.map((view, i): Value => {
      const atom = view.atomAt(row);
      if (atom === null) return NULL_VALUE;
      const hasTime = timed[i] === undefined || !timed[i].isNull(row);
      return new Scalar(atom, hasTime ? (inputs[i]?.column.ts ?? 0) : MINUS_INFINITY);
    });
    frame.row = new Row(names, cells);
    const value = evaluate(frame);
    if (!(value instanceof Scalar)) return undefined;
    atoms[row] = value.atom;
    if (value.atom === null ? value.ts !== MINUS_INFINITY : !times.add(row, value.ts)) {
      return undefined;
    }
  }
  const snapshot = encodeAtoms(path, atoms, chunkRowCounts, memory);
  const { ts, untimed } = times;
  if (untimed === undefined) return { snapshot, ts };
  const marks = { values: new Float64Array(rowCount), nulls: untimed };
  return { snapshot, ts, timed: encodeNumberColumn(path, marks, 'number', chunkRowCounts, memory) };
}

/** The timestamps of values, of which at most one is not -Inf. */
class Timestamps {
  ts = MINUS_INFINITY;
  readonly #untimed: Uint8Array;
  #untimedCount = 0;

  constructor(rowCount: number) {
    this.#untimed = new Uint8Array(rowCount);
  }

  /** 1 where a value has the timestamp -Inf; undefined: all have `ts` */
  get untimed(): Uint8Array | undefined {
    return this.#untimedCount === 0 || this.ts === MINUS_INFINITY ? undefined : this.#untimed;
  }

  /** @returns false when it is another one than those before */
  add(row: number, ts: number): boolean {
    if (ts === MINUS_INFINITY) {
      this.#untimed[row] = 1;
      this.#untimedCount++;
      return true;
    }
    if (this.ts === MINUS_INFINITY) this.ts = ts;
    return this.ts === ts;
  }
}
