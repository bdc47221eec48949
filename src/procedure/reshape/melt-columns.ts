// Melts rows that lie in columns without making them: values are interleaved as typed arrays.

import { VECTOR_ROW_COUNT_MIN } from '../../exec/vector/engine.ts';
import { extractColumns } from '../../exec/vector/extract.ts';
import { Scratch } from '../../exec/vector/scratch.ts';
import type { QueryPlan } from '../../plan/plan.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import { DictionaryBuilder, dictionaryView } from '../../value/column/dictionary.ts';
import {
  codesColumn,
  type FlatColumn,
  flattenColumn,
  gatherColumn,
  numbersColumn,
} from '../../value/column/gather.ts';
import type { ColumnarSnapshot, ColumnSnapshot, RowNames } from '../../value/column/snapshot.ts';
import { uint32Of } from '../../value/column/span-view.ts';
import { chunkRowCounts } from '../../value/column/table-builder.ts';
import { Path } from '../../value/path.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { utf8Bytes } from '../../value/utf8.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** A column that is melted. */
interface MeltedColumn {
  readonly path: Path;
  readonly column: ColumnSnapshot;
  readonly flat: FlatColumn;
  readonly view: ColumnView;
  /** true: rows without a value have an explicit null */
  readonly keepsNulls: boolean;
}

export interface MeltedTable {
  readonly table: ColumnarSnapshot;
  /** true: names of rows, or those of columns, are of one element, so no two make the same name */
  readonly namesDiffer: boolean;
}

/** Which row and column each row of the output is of. */
interface Cells {
  readonly rows: Uint32Array;
  readonly columns: Uint16Array;
}

const COLUMN_COUNT_MAX = 65_536;
const ROW_COUNT_MAX = 2 ** 31;
const ROWS_PER_CHECK = 65_536;

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
  const check = () => context.checkCancelled();
  const columns = melted.features.map(({ path, column }): MeltedColumn => {
    const view = new ColumnView(column, arenas);
    const flat = flattenColumn(view, check);
    return { path, column, flat, view, keepsNulls: isNamed(explicit, path) };
  });
  const sources = [...fixed.features, ...columns].map(({ column }) => column);
  // A row of nulls alone has no time.
  if (!sources.some(({ nullCount }) => nullCount === 0)) return undefined;
  const rows = selection ?? Int32Array.from({ length: rowCount }, (_, row) => row);
  const cells = cellsOf(rows, columns, check);
  if (cells === undefined) return undefined;
  const valueColumn = interleaved(value, columns, cells, arenas, check);
  const names = new DictionaryBuilder(arenas);
  for (const { path } of columns) names.add(path.toString());
  const keys = { path: key.elements, type: 'string', dictionary: names.seal() } as const;
  const count = cells.rows.length;
  const table: ColumnarSnapshot = {
    layout: 'columnar',
    id: arenas.nextId(),
    rowCount: count,
    chunkRowCounts: chunkRowCounts(count),
    columns: [
      ...fixed.features.map(({ path, column }) =>
        gatherColumn({ ...column, path: path.elements }, cells.rows, arenas, check),
      ),
      codesColumn(keys, count, arenas, check, (out, from) => {
        for (let i = 0; i < out.length; i++) out[i] = (cells.columns[from + i] as number) + 1;
      }),
      valueColumn,
    ],
    rowNames: meltedNames(snapshot, cells, columns, arenas, check),
    timestamps,
  };
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

/** Row by row the columns that each has. */
function cellsOf(
  rows: Int32Array,
  columns: readonly MeltedColumn[],
  check: () => void,
): Cells | undefined {
  const lacking = columns.map(({ column, keepsNulls, view }) =>
    keepsNulls || column.nullCount === 0 ? undefined : view,
  );
  const countMax = rows.length * columns.length;
  if (countMax > ROW_COUNT_MAX) return undefined;
  const rowAt = new Uint32Array(countMax);
  const columnAt = new Uint16Array(countMax);
  let count = 0;
  for (let i = 0; i < rows.length; i++) {
    if (i % ROWS_PER_CHECK === 0) check();
    const row = rows[i] as number;
    for (let column = 0; column < columns.length; column++) {
      if (lacking[column]?.isNull(row) === true) continue;
      rowAt[count] = row;
      columnAt[count++] = column;
    }
  }
  return { rows: rowAt.subarray(0, count), columns: columnAt.subarray(0, count) };
}

/** The values of all columns, one a row. */
function interleaved(
  path: Path,
  columns: readonly MeltedColumn[],
  { rows, columns: columnAt }: Cells,
  arenas: ArenaAllocator,
  check: () => void,
): ColumnSnapshot {
  const flats = columns.map(({ flat }) => flat);
  const typed = flats.filter((_, index) => columns[index]?.column.type !== 'null');
  const [first] = typed;
  const type = first?.kind === 'numbers' ? first.type : 'number';
  if (typed.every((flat) => flat.kind === 'numbers' && flat.type === type)) {
    const values = flats.map((flat) => (flat.kind === 'numbers' ? flat.values : EMPTY));
    const valid = flats.map((flat) => (flat.kind === 'numbers' ? flat.valid : undefined));
    const hasNulls = columns.some(({ column }) => column.nullCount > 0);
    return numbersColumn(path.elements, type, rows.length, arenas, check, (out, bits, from) => {
      for (let i = 0; i < out.length; i++) {
        const at = from + i;
        const column = columnAt[at] as number;
        out[i] = (values[column] as Float64Array)[rows[at] as number] as number;
      }
      if (!hasNulls) return false;
      for (let i = 0; i < out.length; i++) {
        const at = from + i;
        const known = valid[columnAt[at] as number];
        if (known !== undefined && known[rows[at] as number] === 0) continue;
        bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
      }
      return true;
    });
  }
  return encoded(path, columns, { rows, columns: columnAt }, arenas, check);
}

const EMPTY = new Float64Array(0);

/** Values of any kinds, as codes of one dictionary. */
function encoded(
  path: Path,
  columns: readonly MeltedColumn[],
  { rows, columns: columnAt }: Cells,
  arenas: ArenaAllocator,
  check: () => void,
): ColumnSnapshot {
  const builder = new DictionaryBuilder(arenas);
  const isText = columns.every(
    ({ column, flat }) =>
      column.type === 'null' || (flat.kind === 'codes' && column.dictionary?.kind === 'text'),
  );
  if (!isText) builder.promote();
  const coders = columns.map(({ column, flat, view }): ((row: number) => number) => {
    if (flat.kind === 'mixed') return (row) => builder.add(view.atomAt(row));
    if (flat.kind === 'codes' && column.dictionary !== undefined) {
      const entries = dictionaryView(column.dictionary, arenas);
      const known = new Uint32Array(column.dictionary.count + 1);
      return (row) => {
        const code = flat.codes[row] as number;
        if (code !== 0 && known[code] === 0) known[code] = builder.add(entries.atom(code));
        return known[code] as number;
      };
    }
    if (flat.kind === 'codes') return () => 0;
    const { values, valid, type } = flat;
    return (row) => {
      if (valid !== undefined && valid[row] === 0) return 0;
      const number = values[row] as number;
      return builder.add(type === 'timestamp' ? new Timestamp(number) : number);
    };
  });
  const codes = new Uint32Array(rows.length);
  for (let i = 0; i < codes.length; i++) {
    if (i % ROWS_PER_CHECK === 0) check();
    const code = coders[columnAt[i] as number] as (row: number) => number;
    codes[i] = code(rows[i] as number);
  }
  const dictionary = builder.seal();
  const type = dictionary.kind === 'text' ? 'string' : 'mixed';
  const column = { path: path.elements, type, dictionary } as const;
  return codesColumn(column, codes.length, arenas, check, (out, from) =>
    out.set(codes.subarray(from, from + out.length)),
  );
}

/** Digits of an integer that is the name of a row, and its sign. */
const NUMBER_NAME_SIZE_MAX = 16;
const NAMES_PER_CHECK = 1 << 20;
/** What kernels may write behind the last name. */
const NAME_MARGIN = 16;

/** The name of the row, a dot and the name of the column. */
function meltedNames(
  { rowNames, rowCount }: ColumnarSnapshot,
  { rows, columns: columnAt }: Cells,
  columns: readonly MeltedColumn[],
  arenas: ArenaAllocator,
  check: () => void,
): RowNames {
  const count = rows.length;
  if (count === 0) return { kind: 'sequence', first: 0 };
  const suffixes = columns.map(({ path }) => utf8Bytes(`.${path}`));
  const suffixOffsets = new Uint32Array(suffixes.length + 1);
  suffixes.forEach(({ length }, index) => {
    suffixOffsets[index + 1] = (suffixOffsets[index] as number) + length;
  });
  const nameSizeOf = nameSizes(rowNames, rowCount, arenas);
  let size = NAME_MARGIN;
  for (let i = 0; i < count; i++) {
    if (i % ROWS_PER_CHECK === 0) check();
    size += nameSizeOf(rows[i] as number) + (suffixes[columnAt[i] as number] as Uint8Array).length;
  }
  const heap = arenas.allocate(size);
  const offsets = arenas.allocateIn(heap.arena, (count + 1) * 4);
  const scratch = new Scratch(heap.arena);
  try {
    const { arena, kernels } = scratch;
    const put = ({ buffer, byteOffset, byteLength }: Uint8Array | Uint16Array | Uint32Array) => {
      const at = scratch.take(byteLength);
      arena.u8.set(new Uint8Array(buffer, byteOffset, byteLength), at);
      return at;
    };
    const isPaths = rowNames.kind === 'paths';
    const [rowsAt, columnsAt] = [put(rows), put(columnAt)];
    const names = [
      rowNames.kind === 'sequence' ? rowNames.first : 0,
      rowNames.kind === 'numbers' ? putNumbers(rowNames, rowCount, scratch, arenas) : 0,
      isPaths ? scratch.addressOf(rowNames.bytes) : 0,
      isPaths ? scratch.addressOf(rowNames.offsets) : 0,
      put(Buffer.concat(suffixes)),
      put(suffixOffsets),
      heap.offset,
    ] as const;
    let written = 0;
    for (let from = 0; from < count; from += NAMES_PER_CHECK) {
      check();
      const cells = [rowsAt + from * 4, columnsAt + from * 2] as const;
      const length = Math.min(NAMES_PER_CHECK, count - from);
      const at = offsets.offset + from * 4;
      written = kernels.joinedNames(...cells, length, ...names, written, at) >>> 0;
    }
    return { kind: 'paths', bytes: arenas.shrink(heap, written), offsets };
  } finally {
    scratch.release();
  }
}

/** Room for the name of a row. */
function nameSizes(
  names: RowNames,
  rowCount: number,
  arenas: ArenaAllocator,
): (row: number) => number {
  if (names.kind === 'sequence') {
    const { first } = names;
    const size = Math.max(`${first}`.length, `${first + rowCount}`.length);
    return () => size;
  }
  if (names.kind === 'numbers') return () => NUMBER_NAME_SIZE_MAX;
  const offsets = uint32Of(arenas, names.offsets);
  return (row) => (offsets[row + 1] as number) - (offsets[row] as number);
}

function putNumbers(
  { chunks }: Extract<RowNames, { kind: 'numbers' }>,
  rowCount: number,
  scratch: Scratch,
  arenas: ArenaAllocator,
): number {
  const view = new ColumnView({ path: [], type: 'integer', chunks, nullCount: 0 }, arenas);
  const at = scratch.take(rowCount * 8);
  const { f64 } = scratch.arena;
  for (let row = 0; row < rowCount; row++) f64[at / 8 + row] = view.numberAt(row);
  return at;
}
