// The numbers of the rows of a table that pass a filter.
import { int32Of } from '../../value/column/span-view.ts';
import type { ExecRow } from '../general/row.ts';
import { cutChunks } from '../vector/chunk-range.ts';
import type { VectorEngine } from '../vector/engine.ts';
import type { TruthProgram } from '../vector/program/program.ts';
import type { RowReader } from '../vector/row-reader.ts';
import { buildSource } from './build.ts';
import { freeBatches, materializeJob } from './materialize-job.ts';
import type { Pipeline } from './pipeline.ts';

const UNIT_COUNT_MAX = 64;

/** @param first only so many first ones are wanted; undefined: all */
export function selectRows(
  pipeline: Pipeline,
  filter: TruthProgram | undefined,
  engine: VectorEngine,
  first = Number.POSITIVE_INFINITY,
): Uint32Array {
  const parts: Int32Array[] = [];
  let count = 0;
  const isAll = first === Number.POSITIVE_INFINITY;
  for (const part of selectedRows(pipeline, filter, engine, isAll)) {
    parts.push(part);
    count += part.length;
    if (count >= first) break;
  }
  const rows = new Uint32Array(Math.min(count, first));
  let at = 0;
  for (const part of parts) {
    rows.set(part.subarray(0, rows.length - at), at);
    at += Math.min(part.length, rows.length - at);
  }
  return rows;
}

/**
 * The same, a part at a time: a few chunks first, then more and more. @param isAll true: all chunks
 * at once, since nobody stops before the end
 */
export function* selectedRows(
  pipeline: Pipeline,
  filter: TruthProgram | undefined,
  engine: VectorEngine,
  isAll = false,
): Iterable<Int32Array> {
  const { chunkRowCounts } = pipeline.base;
  const { source, arena, spans } = buildSource(pipeline, engine, filter);
  try {
    const firstRows: number[] = [];
    let before = 0;
    for (const rowCount of chunkRowCounts) {
      firstRows.push(before);
      before += rowCount;
    }
    let size = isAll ? chunkRowCounts.length : 1;
    for (let from = 0; from < chunkRowCounts.length; size *= 2) {
      const chunkCount = Math.min(size, chunkRowCounts.length - from);
      const ranges = cutChunks(chunkCount, UNIT_COUNT_MAX).map((range) => ({
        from: range.from + from,
        to: range.to + from,
      }));
      const columns = [{ kind: 'rows', step: undefined }] as const;
      const args = { arena, source, chunkRowCounts, firstRows, ranges, columns };
      const batches = engine.parallel.run(materializeJob, args, ranges.length).flat();
      const parts: Int32Array[] = [];
      for (const { rowCount, chunks } of batches) {
        const [chunk] = chunks;
        if (chunk === undefined || !('data' in chunk)) continue;
        parts.push(int32Of(engine.arenas, chunk.data).slice(0, rowCount));
      }
      freeBatches(batches, engine.arenas);
      yield* parts;
      from += chunkCount;
    }
  } finally {
    for (const span of spans) engine.arenas.free(span);
  }
}

/** The rows that a pipeline over a dataset leaves. @param release called when no more are read */
export function* readSelected(
  pipeline: Pipeline,
  reader: RowReader,
  engine: VectorEngine,
  release: () => void,
): Iterable<ExecRow> {
  try {
    for (const numbers of selectedRows(pipeline, pipeline.filter, engine)) {
      for (const number of numbers) yield reader.at(number);
    }
  } finally {
    release();
  }
}
