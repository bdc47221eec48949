// Puts encoded columns together to a Parquet file, row group by row group.
import type { ColumnChunk, RowGroup, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { WriteQueue } from '../../util/write-queue.ts';
import type { EncodedColumn } from './parquet-column.ts';

export type ParquetColumnType = 'int64' | 'uint64' | 'double' | 'timestamp' | 'binary' | 'text';
export type ParquetCompression = 'zstd' | 'snappy' | 'gzip' | 'none';

/** Some rows of a column. */
export interface ParquetUnit {
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

export interface ParquetTable {
  readonly columns: readonly { readonly name: string; readonly type: ParquetColumnType }[];
  readonly rowCount: number;
  readonly compression: ParquetCompression;
  readonly rowGroupSize: number;
  /** units that are encoded at a time */
  readonly unitCount: number;
  encode(units: readonly ParquetUnit[]): readonly EncodedColumn[];
  write(bytes: Uint8Array): Promise<void>;
  report(rowCount: number): void;
}

const CODECS = { zstd: 'ZSTD', snappy: 'SNAPPY', gzip: 'GZIP', none: 'UNCOMPRESSED' } as const;
const MAGIC = Buffer.from('PAR1');

/** Writes a table as a Parquet file; resolves when all is written. */
export async function writeParquet(table: ParquetTable): Promise<void> {
  const { columns, rowCount, compression, rowGroupSize, unitCount, encode, report } = table;
  const queue = new WriteQueue(table.write);
  const codec = CODECS[compression];
  const schema: SchemaElement[] = [
    { name: 'schema', num_children: columns.length },
    ...columns.map(elementOf),
  ];
  const groups: RowGroup[] = [];
  let offset = MAGIC.length;
  try {
    await queue.add(MAGIC);
    let chunks: ColumnChunk[] = [];
    for (const units of batches(rowGroups(columns.length, rowCount, rowGroupSize), unitCount)) {
      const parts: Uint8Array[] = [];
      for (const [i, encoded] of encode(units).entries()) {
        const { column, from, to } = units[i] as ParquetUnit;
        const element = schema[column + 1] as SchemaElement;
        chunks.push({
          file_offset: BigInt(offset),
          meta_data: metadata(encoded, element, codec, offset),
        });
        parts.push(encoded.bytes);
        offset += encoded.bytes.length;
        if (column < columns.length - 1) continue;
        groups.push(rowGroup(chunks, to - from));
        chunks = [];
        report(to);
      }
      await queue.add(Buffer.concat(parts));
    }
    const footer = new ByteWriter();
    writeMetadata(footer, {
      version: 2,
      created_by: 'rowan',
      schema,
      num_rows: BigInt(rowCount),
      row_groups: groups,
      metadata_length: 0,
    });
    await queue.add(Buffer.concat([footer.getBytes(), MAGIC]));
  } finally {
    await queue.end();
  }
}

/** The columns of each row group in turn. */
function* rowGroups(
  columnCount: number,
  rowCount: number,
  rowGroupSize: number,
): Iterable<ParquetUnit> {
  for (let from = 0; from < rowCount; from += rowGroupSize) {
    const to = Math.min(rowCount, from + rowGroupSize);
    for (let column = 0; column < columnCount; column++) yield { column, from, to };
  }
}

function* batches(units: Iterable<ParquetUnit>, count: number): Iterable<ParquetUnit[]> {
  let batch: ParquetUnit[] = [];
  for (const unit of units) {
    batch.push(unit);
    if (batch.length < count) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function metadata(
  encoded: EncodedColumn,
  { name, type }: SchemaElement,
  codec: (typeof CODECS)[ParquetCompression],
  offset: number,
): NonNullable<ColumnChunk['meta_data']> {
  const { bytes, encodings, dataPageOffset, pageCount, nullCount, min, max } = encoded;
  const hasDictionary = dataPageOffset > 0;
  return {
    type: type as NonNullable<SchemaElement['type']>,
    encodings: [...encodings],
    path_in_schema: [name],
    codec,
    num_values: BigInt(encoded.valueCount),
    total_uncompressed_size: BigInt(encoded.uncompressedSize),
    total_compressed_size: BigInt(bytes.length),
    data_page_offset: BigInt(offset + dataPageOffset),
    ...(hasDictionary ? { dictionary_page_offset: BigInt(offset) } : {}),
    statistics: {
      null_count: BigInt(nullCount),
      ...(min === undefined || max === undefined ? {} : { min_value: min, max_value: max }),
    },
    encoding_stats: [
      ...(hasDictionary
        ? [{ page_type: 'DICTIONARY_PAGE', encoding: 'PLAIN', count: 1 } as const]
        : []),
      {
        page_type: 'DATA_PAGE_V2',
        encoding: hasDictionary ? 'RLE_DICTIONARY' : 'PLAIN',
        count: pageCount,
      },
    ],
  };
}

function rowGroup(columns: ColumnChunk[], rowCount: number): RowGroup {
  const sum = (size: (chunk: NonNullable<ColumnChunk['meta_data']>) => bigint) =>
    columns.reduce(
      (total, { meta_data }) => total + (meta_data === undefined ? 0n : size(meta_data)),
      0n,
    );
  return {
    columns,
    num_rows: BigInt(rowCount),
    total_byte_size: sum((chunk) => chunk.total_uncompressed_size),
    total_compressed_size: sum((chunk) => chunk.total_compressed_size),
  };
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
