// Datasets as objects.
import { encodePathElement } from '../util/path-element.ts';
import { Path } from '../value/path.ts';
import type { CallOptions } from './call-limit.ts';
import type { Caller } from './caller.ts';
import type { Cell, CellTuple, Name, NamedCells } from './cell.ts';
import { Entity } from './entity.ts';
import { encodeLines, type Source } from './json-lines.ts';

const NDJSON = { 'content-type': 'application/x-ndjson' };

/** A dataset by its id, whether it exists or not: its rows are recorded, committed and listed. */
export class DatasetObject extends Entity {
  constructor(id: string, caller: Caller) {
    super('datasets', id, caller);
  }

  async recordRow(rowName: Name, columns: readonly CellTuple[]): Promise<this> {
    await this.request('POST', '/rows', {
      body: { rowName, columns: columns.map(jsonTuple) },
    });
    return this;
  }

  /**
   * Records rows: all of an array or none. Other sources are recorded while they come; when one
   * fails, rows before the failure may be recorded already.
   */
  async recordRows(rows: Source<NamedCells>, options: CallOptions = {}): Promise<this> {
    if (Array.isArray(rows)) {
      await this.request('POST', '/multirows', { ...options, body: rows.map(jsonCells) });
      return this;
    }
    const blocks = encodeLines(mapped(rows, jsonCells));
    if (this.caller.streamsBodies) await this.#recordLines(blocks, options);
    else for await (const block of blocks) await this.#recordLines(block, options);
    return this;
  }

  async recordColumn(columnName: Name, rows: readonly CellTuple[]): Promise<this> {
    await this.request('POST', '/columns', { body: { columnName, rows: rows.map(jsonTuple) } });
    return this;
  }

  async recordColumns(columns: readonly NamedCells[]): Promise<this> {
    await this.request('POST', '/multicolumns', { body: columns.map(jsonCells) });
    return this;
  }

  /** Makes everything recorded so far visible. */
  async commit(options?: CallOptions): Promise<this> {
    await this.request('POST', '/commit', { ...options, body: {} });
    return this;
  }

  rowNames(page: { readonly start?: number; readonly limit?: number } = {}): Promise<string[]> {
    return this.request('GET', '/rows', { query: page });
  }

  columnNames(page: { readonly offset?: number; readonly limit?: number } = {}): Promise<string[]> {
    return this.request('GET', '/columns', { query: page });
  }

  /** The distinct values of a column, in their order. */
  values(column: string): Promise<Cell[]> {
    return this.request('GET', `/columns/${encodePathElement(column)}/values`);
  }

  /** The distinct values of a column, each with the number of rows that have it. */
  valueCounts(column: string): Promise<[value: Cell, count: number][]> {
    return this.request('GET', `/columns/${encodePathElement(column)}/valuecounts`);
  }

  /** The elements of each column name. */
  async getColumnPaths(): Promise<string[][]> {
    return (await this.columnNames()).map((name) => [...Path.parse(name).elements]);
  }

  /** The earliest and the latest timestamp; invalid dates when there are no cells. */
  async getTimestampRange(): Promise<[Date, Date]> {
    const range = await this.request<[string | null, string | null]>('GET', '/timestampRange');
    const [earliest, latest] = range.map((text) => new Date(text ?? Number.NaN));
    return [earliest as Date, latest as Date];
  }

  async #recordLines(
    body: Uint8Array | AsyncIterable<Uint8Array>,
    options: CallOptions,
  ): Promise<void> {
    await this.request('POST', '/multirows', { ...options, body, headers: NDJSON });
  }
}

async function* mapped<A, B>(source: Source<A>, map: (item: A) => B): AsyncGenerator<B> {
  for await (const item of source) yield map(item);
}

function jsonCells([name, cells]: NamedCells): unknown[] {
  return [name, cells.map(jsonTuple)];
}

/** Dates of JavaScript become timestamps. */
function jsonTuple(tuple: CellTuple): readonly unknown[] {
  const [name, value, ts] = tuple;
  if (!(value instanceof Date || ts instanceof Date)) return tuple;
  return [
    name,
    value instanceof Date ? { ts: value.toISOString() } : value,
    ts instanceof Date ? ts.getTime() / 1000 : ts,
  ];
}
