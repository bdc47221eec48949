// The footer of a Parquet file.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type FileMetaData, parquetMetadata, parquetSchema } from 'hyparquet';
import { failure } from '../../util/error.ts';

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
    const metadata = parse(bytes.buffer, url);
    checkMetadata(metadata, size, url);
    return metadata;
  } finally {
    closeSync(file);
  }
}

function parse(footer: ArrayBuffer, url: string): FileMetaData {
  try {
    return parquetMetadata(footer, { geoparquet: false });
  } catch (thrown) {
    throw noParquet(url, (thrown as Error).message);
  }
}

/** What later steps rely on. */
function checkMetadata(
  { row_groups: groups, schema }: FileMetaData,
  size: number,
  url: string,
): void {
  if (schema.length > COLUMN_COUNT_MAX) throw noParquet(url, `it has ${schema.length} columns`);
  for (const { columns, num_rows: rowCount } of groups) {
    if (rowCount < 0n || rowCount > 2n ** 31n) throw noParquet(url, 'a row group has no row count');
    for (const { meta_data: meta, file_path: path } of columns) {
      if (path !== undefined) throw noParquet(url, 'its columns are in other files');
      if (meta === undefined) throw noParquet(url, 'a column is encrypted or has no description');
      const end = meta.data_page_offset + meta.total_compressed_size;
      if (
        meta.total_compressed_size < 0n ||
        meta.data_page_offset < 0n ||
        meta.data_page_offset > size
      ) {
        throw noParquet(url, `a column lies beyond its end, at ${end}`);
      }
    }
  }
}

function noParquet(url: string, reason: string): Error {
  return failure('DATA_ERROR', `${url} is no Parquet file that can be read: ${reason}`, { url });
}

/** Names of the columns at the top of the schema. */
export function topColumns(metadata: FileMetaData): string[] {
  return parquetSchema(metadata).children.map(({ element }) => element.name);
}
