// How each column lies in a dataset file, so that it comes back exactly as it was: plain JSON.

import type { Atom } from '../value/atom.ts';
import { encodeAtom, encodeDouble, readAtom } from '../value/atom-codec.ts';
import type {
  ChunkSnapshot,
  ColumnSnapshot,
  DictionarySnapshot,
} from '../value/column/snapshot.ts';

/** The Arrow type of a whole column; chunks of a column can have different forms in memory. */
export type ColumnEncoding =
  | 'null'
  | 'int32'
  | 'float64'
  /** microseconds since the epoch, where every value is a whole number of them */
  | 'micros'
  | 'codes';

export interface ColumnDescription {
  readonly path: readonly string[];
  readonly type: ColumnSnapshot['type'];
  readonly nullCount: number;
  readonly encoding: ColumnEncoding;
  readonly dictionary?: DictionaryDescription;
  readonly chunks: readonly ChunkDescription[];
}

export interface DictionaryDescription {
  readonly kind: DictionarySnapshot['kind'];
  readonly count: number;
  readonly sorted: boolean;
  /** the Arrow id of the dictionary batch */
  readonly id: number;
}

/** A chunk's form; numbers that JSON lacks are text. */
export type ChunkDescription =
  | { readonly kind: 'constant'; readonly rowCount: number; readonly atom: string }
  | {
      readonly kind: 'int32' | 'float64' | 'timestamp';
      readonly rowCount: number;
      readonly nullCount: number;
      readonly min?: string;
      readonly max?: string;
    }
  | {
      readonly kind: 'codes';
      readonly rowCount: number;
      readonly nullCount: number;
      readonly width: 1 | 2 | 4;
    }
  | { readonly kind: 'sparse'; readonly rowCount: number; readonly values: ChunkDescription };

/** The form of a chunk, without its data. */
export function describeChunk(chunk: ChunkSnapshot): ChunkDescription {
  const { rowCount } = chunk;
  switch (chunk.kind) {
    case 'constant':
      return { kind: 'constant', rowCount, atom: atomToText(chunk.atom) };
    case 'sparse':
      return { kind: 'sparse', rowCount, values: describeChunk(chunk.values) };
    case 'codes':
      return { kind: 'codes', rowCount, nullCount: chunk.nullCount, width: chunk.width };
    default:
      return {
        kind: chunk.kind,
        rowCount,
        nullCount: chunk.nullCount,
        ...(chunk.min === undefined ? {} : { min: String(chunk.min) }),
        ...(chunk.max === undefined ? {} : { max: String(chunk.max) }),
      };
  }
}

/** An atom as text that JSON can hold: base64 of its bytes. */
export function atomToText(atom: Atom): string {
  return Buffer.from(typeof atom === 'number' ? encodeDouble(atom) : encodeAtom(atom)).toString(
    'base64',
  );
}

/** The atom that `atomToText` wrote. */
export function atomFromText(text: string): Atom {
  const bytes = Buffer.from(text, 'base64');
  return readAtom(bytes, 0, bytes.length);
}
