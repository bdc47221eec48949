// Melts rows that lie in columns without making them: values are interleaved as typed arrays.

import type { NumberForm } from '../../exec/operator/materialize-job.ts';
import { ArenaSpans } from '../../exec/vector/arena-spans.ts';
import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import { type ExtractedFeature, extractColumns } from '../../exec/vector/extract.ts';
import { integerBounds } from '../../exec/vector/program/integer-bounds.ts';
import type { QueryPlan } from '../../plan/plan.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { chunkNullCount } from '../../value/column/chunk-encoder.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { DictionaryBuilder, dictionaryView } from '../../value/column/dictionary.ts';
import type {
  ChunkSnapshot,
  ColumnarSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
  RowNames,
  Span,
} from '../../value/column/snapshot.ts';
import { dictionarySpans } from '../../value/column/snapshot-memory.ts';
import { bytesOf, uint32Of } from '../../value/column/span-view.ts';
import { Path } from '../../value/path.ts';
import { utf8Bytes } from '../../value/utf8.ts';
import type { ProcedureContext } from '../procedure-type.ts';
import {
  type MeltArgs,
  type MeltedBlock,
  type MeltedUnit,
  type MeltNames,
  type MeltPlace,
  type MeltSource,
  meltJob,
} from './melt-job.ts';

export interface MeltedTable {
  readonly table: ColumnarSnapshot;
  /** true: names of rows, or those of columns, are of one element, so no two make the same name */
  readonly namesDiffer: boolean;
}

const COLUMN_COUNT_MAX = 65_536;
const ROW_COUNT_MAX = 2 ** 31;

/** Undefined where rows have to be made: only plain columns of one table in columns are melted here. */
export function meltColumns(
  context: ProcedureContext,
  plan: QueryPlan,
  { key, value }: { readonly key: Path; readonly value: Path },
): MeltedTable | undefined {
  const { arenas, parallel, namespace, scope } = context;
  const engine = { arenas, parallel, rowCountMin: VECTOR_ROW_COUNT_MIN };
  const extract = (row: string) =>
    extractColumns(plan, { row, scalars: {}, namespace, scope, engine });
  const kept = keptNulls(plan, 'to_fix');
  const explicit = keptNulls(plan, 'to_melt');
  if (kept === undefined || explicit === undefined) return undefined;
  const fixed = extract('to_fix');
  const melted = fixed && extract('to_melt');
  if (fixed === undefined || melted === undefined) return undefined;
  const { snapshot, selection } = melted;
  const { timestamps, rowCount } = snapshot;
  if (rowCount < VECTOR_ROW_COUNT_MIN || timestamps.kind !== 'constant') return undefined;
  if (melted.features.length === 0 || melted.features.length > COLUMN_COUNT_MAX) return undefined;
  if (rowCount * melted.features.length > ROW_COUNT_MAX) return undefined;
  const isNamed = (names: ReadonlySet<string>, path: Path) => names.has(path.toString());
  const hasAll = (names: ReadonlySet<string>, features: readonly { readonly path: Path }[]) =>
    [...names].every((name) => features.some(({ path }) => path.toString() === name));
  // What a name stands for is one column that is there.
  if (!hasAll(kept, fixed.features) || !hasAll(explicit, melted.features)) return undefined;
  const rowsMayDiffer = fixed.features.some(
    ({ path, column }) => !isNamed(kept, path) && column.nullCount > 0,
  );
  const taken = new Set([key, value, ...fixed.features.map(({ path }) => path)].map(String));
  if (rowsMayDiffer || taken.size < fixed.features.length + 2) return undefined;
  const sources = [...fixed.features, ...melted.features].map(({ column }) => column);
  // A row of nulls alone has no time.
  if (!sources.some(({ nullCount }) => nullCount === 0)) return undefined;
  const columns = melted.features.map(({ path, column }): MeltedFeature => {
    return { path, column, skipsNulls: !isNamed(explicit, path) && column.nullCount > 0 };
  });
  const table = new MeltedTableMaker(context, snapshot, selection).make(
    fixed.features,
    columns,
    key,
    value,
  );
  const namesDiffer =
    snapshot.rowNames.kind !== 'paths' || columns.every(({ path }) => path.length === 1);
  return { table, namesDiffer };
}

/**
 * Names of the items of a row expression that give a null where there is no value; undefined when
 * there is no such row, or an item is no column.
 */
function keptNulls({ root }: QueryPlan, name: string): ReadonlySet<string> | undefined {
  if (root.kind !== 'project' || root.name !== undefined) return undefined;
  const found = root.items.filter(
    (item) => item.kind === 'named' && item.path.length === 1 && item.path[0] === name,
  );
  const [item] = found;
  if (found.length !== 1 || item?.kind !== 'named' || item.expression.kind !== 'row') {
    return undefined;
  }
  const names = new Set<string>();
  for (const each of item.expression.items) {
    if (each.kind === 'named') names.add(new Path(each.path).toString());
    else if (each.kind !== 'wildcard') return undefined;
  }
  return names;
}

/** A column that is melted. */
interface MeltedFeature {
  readonly path: Path;
  readonly column: ColumnSnapshot;
  readonly skipsNulls: boolean;
}

class MeltedTableMaker {
  readonly #context: ProcedureContext;
  readonly #snapshot: ColumnarSnapshot;
  readonly #selection: Int32Array | undefined;

  constructor(
    context: ProcedureContext,
    snapshot: ColumnarSnapshot,
    selection: Int32Array | undefined,
  ) {
    this.#context = context;
    this.#snapshot = snapshot;
    this.#selection = selection;
  }

  make(
    fixed: readonly ExtractedFeature[],
    melted: readonly MeltedFeature[],
    key: Path,
    value: Path,
  ): ColumnarSnapshot {
    const { arenas, parallel } = this.#context;
    const { chunkRowCounts, timestamps } = this.#snapshot;
    const spans = new ArenaSpans(
      { arenas },
      roomyArena(this.#snapshot.rowCount * melted.length, arenas),
    );
    try {
      const { sources: values, form, dictionary } = this.#values(melted, spans);
      const args: MeltArgs = {
        arena: spans.arena,
        chunkRowCounts,
        fixed: fixed.map(({ column }) => ({ column, source: sourceOf(column) })),
        melted: melted.map(({ column, skipsNulls }, index) => {
          return { column, skipsNulls, source: values[index] as MeltSource };
        }),
        valueForm: form,
        names: this.#names(melted, spans),
        ...this.#selected(spans),
      };
      const run = (more: MeltArgs) => parallel.run(meltJob, more, chunkRowCounts.length);
      // What there is of names tells where those of each unit go.
      const counts = run(args);
      const { places, rowCount, nameSize } = placesOf(counts);
      const rowNames = emptyNames(rowCount, nameSize, spans.arena, arenas);
      const names = { ...args.names, ...addressesOf(rowNames) };
      const blocks = run({ ...args, names, places }).flatMap((unit) => unit.blocks);
      const columnAt = (
        path: readonly string[],
        source: Pick<ColumnSnapshot, 'type' | 'dictionary'>,
        chunkOf: (block: MeltedBlock) => ChunkSnapshot,
      ) => madeColumn({ ...source, path }, blocks.map(chunkOf), arenas);
      return {
        layout: 'columnar',
        id: arenas.nextId(),
        rowCount,
        chunkRowCounts: blocks.map((block) => block.rowCount),
        columns: [
          ...fixed.map(({ path, column }, index) => {
            for (const span of dictionarySpans(column.dictionary)) arenas.retain(span);
            return columnAt(path.elements, column, (block) => block.fixed[index] as ChunkSnapshot);
          }),
          columnAt(
            key.elements,
            { type: 'string', dictionary: this.#keys(melted) },
            (block) => block.key,
          ),
          columnAt(
            value.elements,
            dictionary ?? { type: numberType(melted) },
            (block) => block.value,
          ),
        ],
        rowNames: rowCount === 0 ? noNames(rowNames, arenas) : sealed(rowNames, nameSize, arenas),
        timestamps,
      };
    } finally {
      spans.release();
    }
  }

  /** How the values of the melted columns are read, and what they become together. */
  #values(
    melted: readonly MeltedFeature[],
    spans: ArenaSpans,
  ): {
    readonly sources: readonly MeltSource[];
    readonly form: NumberForm | 'codes';
    readonly dictionary?: Pick<ColumnSnapshot, 'type' | 'dictionary'>;
  } {
    const typed = melted.map(({ column }) => column).filter(({ type }) => type !== 'null');
    const forms = new Set(typed.map((column) => column.dictionary === undefined && formOf(column)));
    const isTimestamps = forms.size === 1 && forms.has('timestamp');
    if (isTimestamps || !(forms.has(false) || forms.has('timestamp'))) {
      const form = isTimestamps ? 'timestamp' : forms.has('float64') ? 'float64' : 'int32';
      return { sources: melted.map(() => ({ kind: 'numbers', form })), form };
    }
    const { arenas } = this.#context;
    const builder = new DictionaryBuilder(arenas);
    if (typed.some(({ dictionary }) => dictionary?.kind !== 'text')) builder.promote();
    const sources = melted.map(({ column }) => this.#codes(column, builder, spans));
    const dictionary = builder.seal();
    const type = dictionary.kind === 'text' ? 'string' : 'mixed';
    return { sources, form: 'codes', dictionary: { type, dictionary } };
  }

  /** Enters the values of a column into a dictionary. */
  #codes(column: ColumnSnapshot, builder: DictionaryBuilder, spans: ArenaSpans): MeltSource {
    const { arenas } = this.#context;
    if (column.type === 'null') return { kind: 'nulls' };
    if (column.dictionary !== undefined) {
      const { count } = column.dictionary;
      const entries = dictionaryView(column.dictionary, arenas);
      const remap = spans.allocateZeroed((count + 1) * 4);
      const codes = uint32Of(arenas, remap);
      for (let code = 1; code <= count; code++) {
        if (code % ROWS_PER_CHECK === 0) this.#context.checkCancelled();
        codes[code] = builder.addEntry(entries, code);
      }
      return { kind: 'codes', remap };
    }
    const view = new ColumnView(column, arenas);
    const span = spans.allocate(view.rowCount * 4);
    const codes = uint32Of(arenas, span);
    for (let row = 0; row < view.rowCount; row++) {
      if (row % ROWS_PER_CHECK === 0) this.#context.checkCancelled();
      codes[row] = builder.add(view.atomAt(row));
    }
    return { kind: 'coded', codes: span };
  }

  #keys(melted: readonly MeltedFeature[]): DictionarySnapshot {
    const names = new DictionaryBuilder(this.#context.arenas);
    for (const { path } of melted) names.add(path.toString());
    return names.seal();
  }

  #selected(spans: ArenaSpans): Pick<MeltArgs, 'selection'> {
    if (this.#selection === undefined) return {};
    const selection = this.#selection;
    const starts = [0];
    let end = 0;
    let lastRow = 0;
    for (const rowCount of this.#snapshot.chunkRowCounts) {
      lastRow += rowCount;
      while (end < selection.length && (selection[end] as number) < lastRow) end++;
      starts.push(end);
    }
    return { selection: { rows: this.#put(selection, spans), starts } };
  }

  #names(melted: readonly MeltedFeature[], spans: ArenaSpans): MeltNames {
    const { arenas } = this.#context;
    const { rowNames, rowCount } = this.#snapshot;
    const suffixes = melted.map(({ path }) => utf8Bytes(`.${path}`));
    const suffixOffsets = new Uint32Array(suffixes.length + 1);
    suffixes.forEach(({ length }, index) => {
      suffixOffsets[index + 1] = (suffixOffsets[index] as number) + length;
    });
    const none = { first: 0, numbers: 0, bytes: 0, offsets: 0, out: 0, outOffsets: 0 };
    const common = {
      ...none,
      suffixes: this.#put(Buffer.concat(suffixes), spans),
      suffixOffsets: this.#put(suffixOffsets, spans),
    };
    switch (rowNames.kind) {
      case 'sequence':
        return { ...common, first: rowNames.first };
      case 'numbers': {
        const column = {
          path: [],
          type: 'integer',
          chunks: rowNames.chunks,
          nullCount: 0,
        } as const;
        const view = new ColumnView(column, arenas);
        const numbers = Float64Array.from({ length: rowCount }, (_, row) => view.numberAt(row));
        return { ...common, numbers: this.#put(numbers, spans) };
      }
      case 'paths':
        return {
          ...common,
          bytes: this.#here(rowNames.bytes, spans),
          offsets: this.#here(rowNames.offsets, spans),
        };
    }
  }

  /** The address of the bytes of a span in the arena of the job. */
  #here(span: Span, spans: ArenaSpans): number {
    if (span.arena === spans.arena) return span.offset;
    return this.#put(bytesOf(this.#context.arenas, span), spans);
  }

  #put(values: Uint8Array | Uint32Array | Int32Array | Float64Array, spans: ArenaSpans): number {
    const { arenas } = this.#context;
    const { buffer, byteOffset, byteLength } = values;
    const { offset } = spans.allocate(byteLength);
    arenas.get(spans.arena).u8.set(new Uint8Array(buffer, byteOffset, byteLength), offset);
    return offset;
  }
}

const ROWS_PER_CHECK = 65_536;
/** What kernels may write behind the last name. */
const NAME_MARGIN = 16;

function formOf(column: ColumnSnapshot): NumberForm {
  if (column.type === 'timestamp') return 'timestamp';
  return column.type === 'null' || integerBounds(column) !== undefined ? 'int32' : 'float64';
}

function sourceOf(column: ColumnSnapshot): MeltSource {
  return column.dictionary === undefined
    ? { kind: 'numbers', form: formOf(column) }
    : { kind: 'codes' };
}

function numberType(melted: readonly MeltedFeature[]): ColumnSnapshot['type'] {
  const types = new Set(melted.map(({ column }) => column.type));
  if (types.has('timestamp')) return 'timestamp';
  return types.has('number') ? 'number' : 'integer';
}

function placesOf(counts: readonly MeltedUnit[]) {
  let [rowCount, nameSize] = [0, 0];
  const places = counts.map((unit): MeltPlace => {
    const place = { firstRow: rowCount, nameStart: nameSize };
    rowCount += unit.rowCount;
    nameSize += unit.nameSize;
    return place;
  });
  return { places, rowCount, nameSize };
}

function emptyNames(rowCount: number, nameSize: number, arena: number, arenas: ArenaAllocator) {
  return {
    kind: 'paths',
    bytes: arenas.allocateIn(arena, nameSize + NAME_MARGIN),
    offsets: arenas.allocateIn(arena, (rowCount + 1) * 4),
  } as const;
}

function addressesOf({ bytes, offsets }: { readonly bytes: Span; readonly offsets: Span }) {
  return { out: bytes.offset, outOffsets: offsets.offset };
}

function sealed(
  { bytes, offsets }: { readonly bytes: Span; readonly offsets: Span },
  nameSize: number,
  arenas: ArenaAllocator,
): RowNames {
  return { kind: 'paths', bytes: arenas.shrink(bytes, nameSize), offsets };
}

function noNames(
  { bytes, offsets }: { readonly bytes: Span; readonly offsets: Span },
  arenas: ArenaAllocator,
): RowNames {
  arenas.free(bytes);
  arenas.free(offsets);
  return { kind: 'sequence', first: 0 };
}

/** An arena with room for the output; what is read lies in most cases there too. */
function roomyArena(cellCount: number, arenas: ArenaAllocator): number {
  const span = arenas.allocate(cellCount * BYTES_PER_CELL_MIN);
  arenas.free(span);
  return span.arena;
}

/** A value, the place of a name and a short name. */
const BYTES_PER_CELL_MIN = 12;

/** A column of chunks that were made; the hold on the dictionary is the column's. */
function madeColumn(
  { path, type, dictionary }: Pick<ColumnSnapshot, 'path' | 'type' | 'dictionary'>,
  chunks: readonly ChunkSnapshot[],
  arenas: ArenaAllocator,
): ColumnSnapshot {
  const nullCount = chunks.reduce((sum, chunk) => sum + chunkNullCount(chunk), 0);
  const isNull = chunks.every((chunk) => chunk.kind === 'constant' && chunk.atom === null);
  if (!isNull && dictionary !== undefined) return { path, type, chunks, nullCount, dictionary };
  for (const span of dictionarySpans(dictionary)) arenas.free(span);
  return { path, type: isNull ? 'null' : type, chunks, nullCount };
}
