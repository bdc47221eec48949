// ORDER BY of rows that memory has no room for: ranges of the order go to a scratch file, and each is
// sorted by itself when its first row is read. See Knuth, "The Art of Computer Programming", vol. 3, 5.4.
import type { SortKey } from '../../../plan/expression.ts';
import { ChunkStarts, ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { typicalAtomsOf } from '../../../value/column/typical-atoms.ts';
import { comparePaths, Path } from '../../../value/path.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { ColumnRows, type RowColumn } from '../../column-rows.ts';
import type { ExecRow } from '../../general/row.ts';
import { ArenaSpans } from '../../vector/arena-spans.ts';
import type { ScratchRoom } from '../../vector/engine.ts';
import { lowerOrder } from '../../vector/order/order-key.ts';
import { sortWords } from '../../vector/order/sort-job.ts';
import { VectorTable } from '../../vector/table.ts';
import { withOutputNames } from '../join/join.ts';
import { type OperatorContext, type SourceRows, TableForm } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { tableColumn } from '../outputs.ts';
import { type Output, Pipeline } from '../pipeline.ts';
import { RunMemory } from '../run-memory.ts';
import type { BatchTable, MadeTable } from '../table/batch-table.ts';
import { valuesOf } from '../table/column-values.ts';
import type { PartWord } from './partition-job.ts';
import { Parts } from './parts.ts';

/** The rows of a part that is in memory, in their order. */
interface LoadedPart {
  readonly part: number;
  readonly table: MadeTable;
  readonly order: Uint32Array;
  readonly sourceRow: SourceRows;
  readonly views: Map<string, ColumnView>;
  release(): void;
}

/**
 * The rows of a pipeline in the order of keys, those with equal keys by the hashes of their names when
 * `byName`, else as they come. They can only be read one by one. @throws NotSuited, DISK_FULL
 */
export function sortedParts(
  pipeline: Pipeline,
  keys: readonly SortKey[],
  byName: boolean,
  room: ScratchRoom,
  context: OperatorContext,
): Pipeline {
  const list = suited(pipeline.outputs.list());
  const resolved = keys.map((key) => ({
    ...key,
    expression: suited(pipeline.resolve(key.expression)),
  }));
  const words: PartWord[] = suited(lowerOrder(resolved, pipeline.lowering, context.tables)).map(
    (word) => ({ kind: 'order', word }),
  );
  if (byName) {
    const { base, isPlain } = pipeline;
    if (!isPlain || !(base instanceof VectorTable)) throw new NotSuited();
    const { rowNames, rowCount } = base.snapshot;
    words.push({ kind: 'name', rowNames, rowCount });
  }
  const form = new TableForm(pipeline, list, context, true);
  // Values that closures make would be made, and fail, while rows leave.
  if (form.isEvaluated) throw new NotSuited();
  context.memory.isLasting = true;
  const parts = new Parts(pipeline, { room, form, words, keepsWords: true }, context);
  const table = new SortedParts(parts, list, pipeline, context);
  room.atEnd(() => table.release());
  const names = list.map(({ path }) => path.join('\u0000'));
  const sorted = new Pipeline(
    table,
    {
      column: ([name = '']) => (names.includes(name) ? tableColumn([name]) : 'absent'),
      list: () => names.map((name) => ({ path: [name], expression: tableColumn([name]) })),
    },
    (rowOf) => table.rowAt(rowOf(0) as number),
    context.tables,
  );
  return withOutputNames(pipeline, sorted);
}

export class SortedParts implements BatchTable {
  readonly rowCount: number;
  readonly chunkRowCounts: readonly number[];
  readonly #parts: Parts;
  readonly #starts: ChunkStarts;
  readonly #list: readonly Output[];
  readonly #source: Pipeline;
  readonly #context: OperatorContext;
  #loaded: LoadedPart | undefined;

  constructor(parts: Parts, list: readonly Output[], source: Pipeline, context: OperatorContext) {
    this.#parts = parts;
    this.#starts = new ChunkStarts(parts.rowCounts);
    this.#list = list;
    this.#source = source;
    this.#context = context;
    this.chunkRowCounts = parts.rowCounts;
    this.rowCount = parts.rowCount;
  }

  /** Kernels would want all parts at a time. */
  get columns(): readonly ColumnSnapshot[] {
    throw new NotSuited();
  }

  find([name = '']: readonly string[]): number | 'absent' {
    const found = this.#list.findIndex(({ path }) => path.join('\u0000') === name);
    return found === -1 ? 'absent' : found;
  }

  pathOf(): never {
    throw new NotSuited();
  }

  tsOf(): never {
    throw new NotSuited();
  }

  timedOf(): never {
    throw new NotSuited();
  }

  hasNulls(): boolean {
    return true;
  }

  rowAt(index: number): ExecRow {
    const { order, sourceRow } = this.#at(index);
    const row = order[index - this.#start] as number;
    return this.#source.namer(sourceRow(row));
  }

  /** Columns of the rows, one value at a time. */
  rowColumn(path: Path, name: string, isOptional: boolean): RowColumn {
    const { expression } = this.#list[this.find([name]) as number] as Output;
    const stored = this.#storedColumn(expression);
    const { engine, compiler } = this.#context;
    const look = () => compiler.runtime.scope.checkCancelled();
    const view = (index: number) => this.#view(index, name);
    const rowOf = (index: number) => this.#loaded?.order[index - this.#start] as number;
    const isNull = (index: number) => view(index).isNull(rowOf(index));
    const reader = {
      atomAt: (index: number) => view(index).atomAt(rowOf(index)),
      codeAt: (index: number) => view(index).codeAt(rowOf(index)),
      numberAt: (index: number) => view(index).numberAt(rowOf(index)),
      isNull,
    };
    const first = this.rowCount > 0 ? view(0) : undefined;
    return {
      path,
      isOptional,
      occurs: isOptional && stored !== undefined ? stored.nullCount < this.rowCount : undefined,
      typicalAtoms: stored && (() => typicalAtomsOf(stored, engine.arenas, look)),
      values: first === undefined ? { kind: 'atoms', atomAt: () => null } : valuesOf(first, reader),
      tsAt: (index) => {
        const { table } = this.#at(index);
        const column = table.find([name]) as number;
        return isNull(index) ? MINUS_INFINITY : table.tsOf(column);
      },
    };
  }

  release(): void {
    this.#loaded?.release();
    this.#loaded = undefined;
  }

  get #start(): number {
    return this.#starts.startOf(this.#loaded?.part ?? 0);
  }

  /** The column of a dataset all of whose values are sorted. */
  #storedColumn(expression: Output['expression']): ColumnSnapshot | undefined {
    const { base, isPlain, filter } = this.#source;
    if (!isPlain || filter !== undefined || !(base instanceof VectorTable)) return undefined;
    if (expression.kind !== 'column') return undefined;
    const column = base.find(expression.path.slice(1));
    return typeof column === 'number' ? base.columns[column] : undefined;
  }

  #view(index: number, name: string): ColumnView {
    const { table, views } = this.#at(index);
    let view = views.get(name);
    if (view === undefined) {
      const column = suited(table.find([name])) as number;
      view = new ColumnView(table.columns[column] as ColumnSnapshot, this.#context.engine.arenas);
      views.set(name, view);
    }
    return view;
  }

  #at(index: number): LoadedPart {
    const part = this.#starts.chunkOf(index);
    if (this.#loaded?.part === part) return this.#loaded;
    this.release();
    const { engine } = this.#context;
    const memory = new RunMemory(engine.arenas);
    const spans = new ArenaSpans(engine, this.#parts.arena);
    try {
      const context = { ...this.#context, memory };
      const { pipeline, sourceRow, words } = this.#parts.load(part, context, spans);
      const order = sortWords(words, pipeline.base.rowCount, engine, spans);
      this.#loaded = {
        ...{ part, order, sourceRow, views: new Map() },
        table: pipeline.base as MadeTable,
        release: () => memory.release(),
      };
      return this.#loaded;
    } catch (thrown) {
      memory.release();
      throw thrown;
    } finally {
      spans.release();
    }
  }
}

/** Rows of sorted parts; undefined when an output is more than one of their columns. */
export function sortedRows(
  parts: SortedParts,
  { namer }: Pipeline,
  outputs: readonly Output[],
  leavesOutNulls: boolean,
  look: () => void,
): ColumnRows | undefined {
  const columns: RowColumn[] = [];
  for (const { path, expression, presence } of outputs) {
    if (expression.kind !== 'column') return undefined;
    const name = expression.path.slice(1).join('\u0000');
    if (parts.find([name]) === 'absent') return undefined;
    const isOptional = leavesOutNulls || presence === 'valued';
    columns.push(parts.rowColumn(new Path(path), name, isOptional));
  }
  columns.sort((a, b) => comparePaths(a.path, b.path));
  return new ColumnRows(parts.rowCount, columns, (index) => namer(() => index).name, look);
}
