// The footer of a Parquet file.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileMetaData, parquetMetadata, parquetSchema, type SchemaTree } from 'hyparquet';
import { failure, RowanError } from '../../util/error.ts';

const MAGIC = 'PAR1';
const TAIL_SIZE = 8;
/** A longer footer is none. */
const FOOTER_SIZE_MAX = 2 ** 28;
/** More columns than this are refused before any is read. */
const COLUMN_COUNT_MAX = 1_000_000;

/** @throws DATA_ERROR naming the URL when it is no Parquet file */
export function readParquetMetadata(path: string, url: string): FileMetaData {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const tail = Buffer.alloc(TAIL_SIZE);
    if (size < TAIL_SIZE + 4) throw noParquet(url, 'it is too short');
    readSync(file, tail, 0, TAIL_SIZE, size - TAIL_SIZE);
    if (tail.toString('latin1', 4) !== MAGIC) throw noParquet(url, 'its end is not that of one');
    const footerSize = tail.readUInt32LE(0);
    if (footerSize > size - TAIL_SIZE || footerSize > FOOTER_SIZE_MAX) {
      throw noParquet(url, `its footer says that it has ${footerSize} bytes`);
    }
    const bytes = new Uint8Array(footerSize + TAIL_SIZE);
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return parse(bytes.buffer, size, url);
  } finally {
    closeSync(file);
  }
}

function parse(footer: ArrayBuffer, fileSize: number, url: string): FileMetaData {
  try {
    const metadata = parquetMetadata(footer, { geoparquet: false });
    checkSchema(parquetSchema(metadata));
    checkMetadata(metadata, fileSize, url);
    return metadata;
  } catch (thrown) {
    if (thrown instanceof RowanError) throw thrown;
    throw noParquet(url, (thrown as Error).message);
  }
}

function checkSchema({ element, children }: SchemaTree): void {
  if (typeof element?.name !== 'string') throw new Error('a column of its schema has no name');
  for (const child of children) checkSchema(child);
}

/** What later steps rely on. */
function checkMetadata(
  { row_groups: groups, schema }: FileMetaData,
  size: number,
  url: string,
): void {
  if (schema.length > COLUMN_COUNT_MAX) throw noParquet(url, `it has ${schema.length} columns`);
  for (const { columns, num_rows: rowCount } of groups) {
    if (!isCount(rowCount) || rowCount > 2n ** 31n)
      throw noParquet(url, 'a row group has no row count');
    for (const { meta_data: meta, file_path: path } of columns) {
      if (path !== undefined) throw noParquet(url, 'its columns are in other files');
      if (meta === undefined) throw noParquet(url, 'a column is encrypted or has no description');
      const { data_page_offset: start, total_compressed_size: length } = meta;
      if (!isCount(meta.num_values))
        throw noParquet(url, 'a column does not say how many values it has');
      if (!isCount(length) || !isCount(start) || start > size || length > size) {
        throw noParquet(url, `a column of ${length} bytes lies beyond its end, at ${start}`);
      }
    }
  }
}

/** Damaged footers hold values of other types. */
function isCount(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n;
}

function noParquet(url: string, reason: string): Error {
  return failure('DATA_ERROR', `${url} is no Parquet file that can be read: ${reason}`, { url });
}

/** Names of the columns at the top of the schema. */
export function topColumns(metadata: FileMetaData): string[] {
  return parquetSchema(metadata).children.map(({ element }) => element.name);
}
