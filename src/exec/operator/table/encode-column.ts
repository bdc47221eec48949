// Values that operators made one by one, as the columns of a table.
import type { Atom } from '../../../value/atom.ts';
import {
  chunkNullCount,
  encodeCodes,
  encodeNumbers,
  nullChunk,
} from '../../../value/column/chunk-encoder.ts';
import { DictionaryBuilder } from '../../../value/column/dictionary.ts';
import type {
  ChunkSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
} from '../../../value/column/snapshot.ts';
import { Timestamp } from '../../../value/timestamp.ts';
import type { CodeColumn, KernelColumn } from '../../vector/group/group-column.ts';
import type { RunMemory } from '../run-memory.ts';
import type { MadeColumn } from './batch-table.ts';

export function columnOf(
  path: readonly string[],
  type: ColumnSnapshot['type'],
  chunks: readonly ChunkSnapshot[],
  dictionary?: DictionarySnapshot,
): ColumnSnapshot {
  const nullCount = chunks.reduce((sum, chunk) => sum + chunkNullCount(chunk), 0);
  return { path, type, chunks, nullCount, ...(dictionary === undefined ? {} : { dictionary }) };
}

/** Numbers or timestamps of rows that are cut into chunks; `nulls`: 1 where there is none. */
export function encodeNumberColumn(
  path: readonly string[],
  { values, nulls }: { readonly values: Float64Array; readonly nulls: Uint8Array | undefined },
  type: 'number' | 'timestamp',
  chunkRowCounts: readonly number[],
  memory: RunMemory,
): ColumnSnapshot {
  let start = 0;
  const chunks = chunkRowCounts.map((rowCount) => {
    const part = values.subarray(start, start + rowCount);
    const validity = nulls && validityOf(nulls, start, rowCount);
    start += rowCount;
    if (rowCount === 0) return nullChunk(0);
    return memory.holdChunk(
      encodeNumbers({ rowCount, values: part, validity }, type, memory.arenas),
    );
  });
  const isInteger = type === 'number' && chunks.every(holdsIntegers);
  return columnOf(path, isInteger ? 'integer' : type, chunks);
}

function holdsIntegers(chunk: ChunkSnapshot): boolean {
  switch (chunk.kind) {
    case 'constant':
      return chunk.atom === null || Number.isInteger(chunk.atom);
    case 'sparse':
      return holdsIntegers(chunk.values);
    default:
      return chunk.kind === 'int32';
  }
}

function validityOf(nulls: Uint8Array, start: number, rowCount: number): Uint8Array {
  const bits = new Uint8Array((rowCount + 7) >> 3);
  for (let i = 0; i < rowCount; i++) {
    if (nulls[start + i] === 0) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
  }
  return bits;
}

/** Any atoms of rows that are cut into chunks. */
export function encodeAtoms(
  path: readonly string[],
  atoms: readonly Atom[],
  chunkRowCounts: readonly number[],
  memory: RunMemory,
): ColumnSnapshot {
  const type = numericType(atoms);
  if (type === undefined) {
    const { codes, dictionary } = encodeDictionary(atoms, memory);
    return encodeCodeColumn(path, codes, dictionary, chunkRowCounts, memory);
  }
  const values = new Float64Array(atoms.length);
  const nulls = new Uint8Array(atoms.length);
  for (let i = 0; i < atoms.length; i++) {
    const atom = atoms[i] as Atom;
    if (atom === null) nulls[i] = 1;
    else values[i] = atom instanceof Timestamp ? atom.seconds : (atom as number);
  }
  return encodeNumberColumn(path, { values, nulls }, type, chunkRowCounts, memory);
}

function numericType(atoms: readonly Atom[]): 'number' | 'timestamp' | undefined {
  const [first] = atoms.filter((atom) => atom !== null).slice(0, 1);
  if (first instanceof Timestamp) {
    return atoms.every((atom) => atom === null || atom instanceof Timestamp)
      ? 'timestamp'
      : undefined;
  }
  const isNumeric = atoms.every((atom) => atom === null || typeof atom === 'number');
  return isNumeric ? 'number' : undefined;
}

/** A dictionary of atoms, and the code of each of them. */
export function encodeDictionary(
  atoms: readonly Atom[],
  memory: RunMemory,
): { readonly codes: Uint32Array; readonly dictionary: DictionarySnapshot } {
  const builder = new DictionaryBuilder(memory.arenas);
  // An atom that is no text changes the form of all entries: then they are entered once more.
  if (atoms.some((atom) => atom !== null && typeof atom !== 'string')) builder.promote();
  const codes = Uint32Array.from(atoms, (atom) => builder.add(atom));
  return { codes, dictionary: memory.holdDictionary(builder.seal()) };
}

export function encodeCodeColumn(
  path: readonly string[],
  codes: Uint32Array,
  dictionary: DictionarySnapshot,
  chunkRowCounts: readonly number[],
  memory: RunMemory,
): ColumnSnapshot {
  let start = 0;
  const chunks = chunkRowCounts.map((rowCount) => {
    const part = codes.subarray(start, start + rowCount);
    start += rowCount;
    return memory.holdChunk(encodeCodes(part, rowCount, memory.arenas));
  });
  return columnOf(path, dictionary.kind === 'text' ? 'string' : 'mixed', chunks, dictionary);
}

/** A key or an aggregate of groups that kernels made. */
export function encodeGroupColumn(
  path: readonly string[],
  column: KernelColumn,
  chunkRowCounts: readonly number[],
  memory: RunMemory,
): MadeColumn {
  const { ts } = column;
  if (column.kind === 'codes') {
    return { snapshot: encodeGroupCodes(path, column, chunkRowCounts, memory), ts };
  }
  const snapshot = encodeNumberColumn(path, column, column.result, chunkRowCounts, memory);
  const { timed, nulls } = column;
  if (timed === undefined || isSameAsValid(timed, nulls)) return { snapshot, ts };
  const times = { values: new Float64Array(timed.length), nulls: timed.map((one) => 1 - one) };
  return { snapshot, ts, timed: encodeNumberColumn(path, times, 'number', chunkRowCounts, memory) };
}

function isSameAsValid(timed: Uint8Array, nulls: Uint8Array | undefined): boolean {
  return timed.every((one, i) => one === 1 - (nulls?.[i] ?? 0));
}

function encodeGroupCodes(
  path: readonly string[],
  { codes, atom }: CodeColumn,
  chunkRowCounts: readonly number[],
  memory: RunMemory,
): ColumnSnapshot {
  const numbers = new Map<number, number>([[0, 0]]);
  const atoms: Atom[] = [];
  const positions = Uint32Array.from(codes, (code) => {
    let position = numbers.get(code);
    if (position === undefined) {
      position = atoms.push(atom(code));
      numbers.set(code, position);
    }
    return position;
  });
  if (numericType(atoms) !== undefined) {
    const all = Array.from(positions, (position) =>
      position === 0 ? null : (atoms[position - 1] as Atom),
    );
    return encodeAtoms(path, all, chunkRowCounts, memory);
  }
  const { codes: entries, dictionary } = encodeDictionary(atoms, memory);
  const stored = positions.map((position) =>
    position === 0 ? 0 : (entries[position - 1] as number),
  );
  return encodeCodeColumn(path, stored, dictionary, chunkRowCounts, memory);
}
