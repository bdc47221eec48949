// What a column is in files whose columns have types: the narrowest that holds every value.

import type { Atom } from '../../value/atom.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { atomText } from '../../value/text.ts';
import { Timestamp } from '../../value/timestamp.ts';

export type FileColumnType = 'int64' | 'uint64' | 'double' | 'timestamp' | 'binary' | 'text';

const INT64_MAX = 2n ** 63n - 1n;

/** The type that holds all values of a column; of mixed ones their distinct values decide. */
export function fileColumnType(column: ColumnSnapshot, arenas: ArenaAllocator): FileColumnType {
  switch (column.type) {
    case 'integer':
      return 'int64';
    case 'number':
      return 'double';
    case 'timestamp':
      return 'timestamp';
    case 'null':
    case 'string':
      return 'text';
    default:
      return mixedType(new ColumnView(column, arenas));
  }
}

function mixedType({ dictionary }: ColumnView): FileColumnType {
  let type: FileColumnType | undefined;
  let hasNegative = false;
  for (let code = 1; code <= (dictionary?.count ?? 0); code++) {
    const atom = dictionary?.atom(code) as Exclude<Atom, null>;
    const own = typeOf(atom);
    hasNegative ||= (typeof atom === 'number' || typeof atom === 'bigint') && atom < 0;
    if (type === undefined || type === own) type = own;
    else if (isNumeric(type) && isNumeric(own)) {
      type = type === 'double' || own === 'double' ? 'double' : 'uint64';
    } else return 'text';
  }
  return type === 'uint64' && hasNegative ? 'double' : (type ?? 'text');
}

function isNumeric(type: FileColumnType): boolean {
  return type === 'int64' || type === 'uint64' || type === 'double';
}

function typeOf(atom: Exclude<Atom, null>): FileColumnType {
  if (typeof atom === 'bigint') return atom > INT64_MAX ? 'uint64' : 'int64';
  if (typeof atom === 'number') return Number.isSafeInteger(atom) ? 'int64' : 'double';
  if (atom instanceof Timestamp) return 'timestamp';
  return atom instanceof Uint8Array ? 'binary' : 'text';
}

/** A cell as the file has it: null, an integer, a double, microseconds, bytes or text. */
export type FileCell = null | number | bigint | string | Uint8Array;

/** What a cell is in a column of a type. */
export function fileCell(atom: Atom, type: FileColumnType): FileCell {
  if (atom === null) return null;
  switch (type) {
    case 'int64':
    case 'uint64':
      return BigInt(atom as number | bigint);
    case 'double':
      return Number(atom);
    case 'timestamp': {
      const { seconds } = atom as Timestamp;
      if (!Number.isFinite(seconds)) return null;
      const whole = Math.floor(seconds);
      return BigInt(whole) * 1_000_000n + BigInt(Math.round((seconds - whole) * 1e6));
    }
    case 'binary':
      return atom as Uint8Array;
    case 'text':
      return atomText(atom);
  }
}
