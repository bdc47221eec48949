// Writes columns as a Parquet file, a row group at a time.
import { gzipSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer';
import { zstdBlockEncoder } from '../../file/codec/zstd.ts';

export type ParquetCell = null | number | bigint | string | Uint8Array;
export type ParquetColumnType = 'int64' | 'uint64' | 'double' | 'timestamp' | 'binary' | 'text';

export interface ParquetTable {
  readonly columns: readonly {
    readonly name: string;
    readonly type: ParquetColumnType;
    cells(from: number, to: number): ParquetCell[];
  }[];
  readonly rowCount: number;
  readonly compression: 'zstd' | 'snappy' | 'gzip' | 'none';
  readonly rowGroupSize: number;
  write(bytes: Uint8Array): Promise<void>;
  report(rowCount: number): void;
}

const CODECS = { zstd: 'ZSTD', snappy: 'SNAPPY', gzip: 'GZIP', none: 'UNCOMPRESSED' } as const;

/** Writes a table as a Parquet file; resolves when all is written. */
export async function writeParquet(table: ParquetTable): Promise<void> {
  const { columns, rowCount, rowGroupSize, compression, write, report } = table;
  const bytes = new ByteWriter(1 << 20);
  const zstd = compression === 'zstd' ? await zstdBlockEncoder() : undefined;
  const writer = new ParquetWriter({
    writer: bytes,
    schema: [{ name: 'schema', num_children: columns.length }, ...columns.map(elementOf)],
    codec: CODECS[compression],
    compressors: {
      GZIP: (input) => gzipSync(input),
      ...(zstd === undefined ? {} : { ZSTD: zstd }),
    },
    createdBy: 'rowan',
  });
  const flush = async () => {
    await write(Uint8Array.from(bytes.getBytes()));
    bytes.index = 0;
  };
  for (let from = 0; from < rowCount; from += rowGroupSize) {
    const to = Math.min(rowCount, from + rowGroupSize);
    const columnData = columns.map(
      ({ name, cells }): ColumnSource => ({ name, data: cells(from, to) }),
    );
    await writer.write({ columnData, rowGroupSize: to - from });
    await flush();
    report(to);
  }
  await writer.finish();
  await flush();
}

function elementOf({ name, type }: ParquetTable['columns'][number]): SchemaElement {
  const optional = { name, repetition_type: 'OPTIONAL' } as const;
  switch (type) {
    case 'int64':
      return { ...optional, type: 'INT64' };
    case 'uint64':
      // The library writes the newer annotation of integers with a width that no reader takes.
      return { ...optional, type: 'INT64', converted_type: 'UINT_64' };
    case 'double':
      return { ...optional, type: 'DOUBLE' };
    case 'timestamp':
      return {
        ...optional,
        type: 'INT64',
        logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' },
        converted_type: 'TIMESTAMP_MICROS',
      };
    case 'binary':
      return { ...optional, type: 'BYTE_ARRAY' };
    case 'text':
      return {
        ...optional,
        type: 'BYTE_ARRAY',
        converted_type: 'UTF8',
        logical_type: { type: 'STRING' },
      };
  }
}
