// Recording, committing, building views and reading of datasets.
import type { ContentWriter, DatasetContent, Recording } from '../../dataset/dataset-type.ts';
import { decodeBatch, encodeBatch } from '../../dataset/recorded-batch.ts';
import type { RecordedRow } from '../../dataset/recorded-row.ts';
import { rowsFromArrow } from '../../dataset/recording-arrow.ts';
import { type RecordingForm, rowFromNdjson, rowsFromJson } from '../../dataset/recording-json.ts';
import { snapshotRelation } from '../../dataset/snapshot-relation.ts';
import { ChunkSink } from '../../exec/output/sink.ts';
import { prepareQuery } from '../../exec/query.ts';
import type { Task } from '../../exec/task.ts';
import type { Relation } from '../../plan/catalog.ts';
import { readDatasetFile, writeDatasetFile } from '../../store/dataset-file.ts';
import { assert } from '../../util/assert.ts';
import { failure } from '../../util/error.ts';
import { JsonSyntaxError } from '../../util/exact-json.ts';
import { ArenaScope } from '../../value/arena-set.ts';
import type { Snapshot } from '../../value/snapshot.ts';
import { snapshotSpans } from '../../value/snapshot-memory.ts';
import { readDataset } from '../dataset-reading.ts';
import type { EngineTasks } from '../engine-task.ts';
import { nowSeconds } from '../id.ts';
import { materialize } from '../materialized-relation.ts';
import { bytesBody } from '../request-body.ts';
import type { WorkerContext } from '../worker-context.ts';

export function recordTask(
  { form, body, type, params, state, content }: EngineTasks['record']['args'],
  _task: Task,
  context: WorkerContext,
): EngineTasks['record']['result'] {
  const recording = recordingOf(context, type);
  const rows = parseRows(form, body);
  const admission = recording.admit(rows, params, state);
  const names = recording.duplicateRow === undefined ? undefined : admission.rows.map(nameText);
  if (names !== undefined) checkNewRows(admission.rows, recording, content, context);
  return {
    batch: encodeBatch(admission.rows),
    rowCount: admission.rows.length,
    state: admission.state,
    names,
  };
}

function nameText(row: RecordedRow): string {
  return row.name.toString();
}

function parseRows(form: RecordingForm, body: Uint8Array): RecordedRow[] {
  if (form === 'arrow') return rowsFromArrow(body, nowSeconds());
  if (form !== 'ndjson') return rowsFromJson(form, bytesBody(body).json());
  const lines = new TextDecoder('utf-8', { fatal: true }).decode(body).split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [rowFromNdjson(line)];
    } catch (thrown) {
      if (!(thrown instanceof JsonSyntaxError)) throw thrown;
      throw failure(
        'INVALID_JSON',
        `line ${index + 1} of the body is not JSON: ${thrown.message}`,
        {
          line: index + 1,
          column: thrown.column,
        },
      );
    }
  });
}

function checkNewRows(
  rows: readonly RecordedRow[],
  recording: Recording,
  content: DatasetContent | undefined,
  { arenas }: WorkerContext,
): void {
  const committed = content === undefined ? undefined : snapshotRelation(content.snapshot, arenas);
  const seen = new Set<string>();
  for (const row of rows) {
    const name = nameText(row);
    const isKnown = seen.has(name) || (committed?.findRows(row.name, []).length ?? 0) > 0;
    if (isKnown) throw recording.duplicateRow?.(row.name);
    seen.add(name);
  }
}

export function commitTask(
  { type, params, content, batches, state }: EngineTasks['commit']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const recording = recordingOf(context, type);
  const writer = recording.openWriter({
    params,
    previous:
      content === undefined
        ? undefined
        : {
            snapshot: content.snapshot,
            relation: snapshotRelation(content.snapshot, context.arenas),
          },
    arenas: context.arenas,
    checkCancelled: () => task.checkCancelled(),
  });
  return { snapshot: writeBatches(writer, batches, state), state };
}

function writeBatches(writer: ContentWriter, batches: readonly Uint8Array[], state: unknown) {
  try {
    for (const batch of batches) {
      for (const row of decodeBatch(batch)) writer.add(row);
    }
  } catch (thrown) {
    writer.release();
    throw thrown;
  }
  return writer.finish(state);
}

export function saveTask(
  { content, path }: EngineTasks['save']['args'],
  _task: Task,
  { arenas }: WorkerContext,
): undefined {
  writeDatasetFile(path, content.snapshot, arenas);
}

export function loadTask(
  { path }: EngineTasks['load']['args'],
  _task: Task,
  { arenas }: WorkerContext,
): Snapshot {
  return readDatasetFile(path, arenas);
}

export function viewTask(
  { type, params }: EngineTasks['view']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const { types, mirror, callScope, accelerate } = context;
  const { view } = types.datasetType(type);
  assert(view !== undefined, `dataset type ${type} is a view`);
  const arenas = new ArenaScope(context.arenas);
  try {
    const content = view.build({
      params,
      dataset: (id) => mirror.dataset(id),
      status(id) {
        const definition = mirror.readyDataset(id);
        return types.datasetType(definition.type).status(definition.content) ?? null;
      },
      arenas,
      query: (text): Relation =>
        materialize(prepareQuery(text, { catalog: mirror, scope: callScope, accelerate }).run()),
      checkCancelled: () => task.checkCancelled(),
    });
    arenas.keep(snapshotSpans(content.snapshot));
    return content;
  } finally {
    arenas.release();
  }
}

export function readTask(
  { dataset, reading }: EngineTasks['read']['args'],
  task: Task,
  { mirror, types }: WorkerContext,
): undefined {
  const { type, content } = mirror.readyDataset(dataset);
  const sink = new ChunkSink((bytes) => task.emit(bytes));
  const elements = readDataset(reading, {
    relation: mirror.dataset(dataset),
    type: types.datasetType(type),
    content,
    checkCancelled: () => task.checkCancelled(),
  });
  let separator = '[';
  for (const element of elements) {
    sink.write(separator + element);
    separator = ',';
  }
  sink.write(separator === '[' ? '[]' : ']');
  sink.end();
}

function recordingOf({ types }: WorkerContext, type: string): Recording {
  const { recording } = types.datasetType(type);
  assert(recording !== undefined, `dataset type ${type} records`);
  return recording;
}
