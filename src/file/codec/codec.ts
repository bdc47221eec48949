// What a compression format offers.
import type { ByteStream } from '../byte-stream.ts';

export interface Codec {
  readonly name: string;
  /** last suffixes of file names, lower case */
  readonly suffixes: readonly string[];
  /** first bytes of every file of this format; absent: recognised by suffix alone */
  readonly magic?: readonly number[];
  /** Frames that follow one another are read as one stream; truncated data throws. */
  decompress(source: ByteStream): ByteStream;
  /** Absent: Rowan reads this format but does not write it. */
  compress?(source: ByteStream): ByteStream;
}
