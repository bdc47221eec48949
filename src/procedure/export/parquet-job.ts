// The parallel part of export.parquet: each unit encodes some rows of one column.
import { gzipSync } from 'node:zlib';
import { registerParallelJob } from '../../exec/parallel.ts';
import { threadArenas } from '../../exec/thread-memory.ts';
import { Scratch } from '../../exec/vector/scratch.ts';
import { zstdBlockEncoder } from '../../file/codec/zstd.ts';
import type { Compress, EncodedColumn } from '../../format/parquet/parquet-column.ts';
import type { ParquetCompression } from '../../format/parquet/parquet-writer.ts';
import { SNAPPY_TABLE_SIZE } from '../../kernel/generated.ts';
import { ColumnView } from '../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import type { FileColumnType } from './export-column-type.ts';
import { columnValues, textValues } from './parquet-values.ts';

export interface ParquetColumnArgs {
  readonly compression: ParquetCompression;
  readonly units: readonly ParquetColumnUnit[];
}

export interface ParquetColumnUnit {
  readonly type: FileColumnType;
  /** only the chunks with rows of the unit; absent: `texts` are the values */
  readonly column?: ColumnSnapshot;
  /** rows of the column */
  readonly from: number;
  readonly to: number;
  readonly texts?: readonly string[];
}

let zstd: Compress | undefined;
/** Loaded when the first file is written. */
let encodeParquetColumn: typeof import('../../format/parquet/parquet-column.ts')['encodeParquetColumn'];

export const parquetColumnJob = registerParallelJob<ParquetColumnArgs, EncodedColumn>({
  name: 'export.parquet-column',
  async prepare() {
    zstd ??= await zstdBlockEncoder();
    ({ encodeParquetColumn } = await import('../../format/parquet/parquet-column.ts'));
  },
  execute({ compression, units }, index, scope) {
    scope.checkCancelled();
    const { type, column, from, to, texts } = units[index] as ParquetColumnUnit;
    const values =
      column === undefined
        ? textValues(texts ?? [])
        : columnValues(new ColumnView(column, threadArenas()), type, { from, to });
    scope.checkCancelled();
    switch (compression) {
      case 'none':
        return encodeParquetColumn(values, undefined);
      case 'gzip':
        return encodeParquetColumn(values, (bytes) => gzipSync(bytes));
      case 'zstd':
        return encodeParquetColumn(values, zstd);
      case 'snappy':
        return withSnappy((compress) => encodeParquetColumn(values, compress));
    }
  },
});

/** Kernels compress in the memory that they share. */
function withSnappy<Result>(use: (compress: Compress) => Result): Result {
  const scratch = new Scratch(0);
  try {
    return use((bytes) => {
      const mark = scratch.mark();
      const { u8 } = scratch.arena;
      const source = scratch.take(bytes.length);
      u8.set(bytes, source);
      const out = scratch.take(32 + bytes.length + Math.ceil(bytes.length / 6));
      const table = scratch.take(SNAPPY_TABLE_SIZE);
      const end = scratch.kernels.snappyCompress(source, bytes.length, out, table) >>> 0;
      const packed = u8.slice(out, end);
      scratch.rewind(mark);
      return packed;
    });
  } finally {
    scratch.release();
  }
}
