// Recording, committing, building views and reading of datasets, all in memory.
import { isUtf8 } from 'node:buffer';
import type {
  DatasetContent,
  Params,
  Recording,
  WriterContext,
} from '../../../dataset/dataset-type.ts';
import { BatchEncoder, decodeBatch } from '../../../dataset/recorded-batch.ts';
import type { RecordedRow } from '../../../dataset/recorded-row.ts';
import { rowFromNdjson, rowsFromJson } from '../../../dataset/recording-json.ts';
import { scanRows } from '../../../dataset/recording-scan.ts';
import { snapshotRelation } from '../../../dataset/snapshot-relation.ts';
import { ChunkSink } from '../../../exec/output/sink.ts';
import { prepareQuery } from '../../../exec/query.ts';
import type { Task } from '../../../exec/task.ts';
import type { Relation } from '../../../plan/namespace.ts';
import { assert } from '../../../util/assert.ts';
import { failure, type RowanError, withDetails } from '../../../util/error.ts';
import { JsonSyntaxError } from '../../../util/exact-json.ts';
import { ArenaLease } from '../../../value/column/arena-set.ts';
import { snapshotSpans } from '../../../value/column/snapshot-memory.ts';
import type { Path } from '../../../value/path.ts';
import { readDataset } from '../../entity/dataset-reading.ts';
import { nowSeconds } from '../../id.ts';
import { bytesBody } from '../../route/request-body.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

/** Rows of a stream that are admitted and encoded together; they are held as objects. */
const ROWS_AT_ONCE = 2048;

/** Rows and cells written between two looks at the cancel flag. */
const CELLS_PER_CHECK = 4096;

export async function recordTask(
  { form, body, part, type, params, state, content }: EngineTasks['record']['args'],
  task: Task,
  context: WorkerContext,
): Promise<EngineTasks['record']['result']> {
  const recording = recordingOf(context, type);
  const check = () => task.checkCancelled();
  const roundedTime = recording.roundedTime?.(params);
  if (roundedTime !== undefined && form !== 'arrow') {
    const scanned = scanRows(form, body, { roundedTime, check });
    if (scanned !== undefined) return { ...scanned, state, names: undefined };
  }
  const checker =
    recording.duplicateRow === undefined
      ? undefined
      : new NewRowChecker(recording.duplicateRow, content, context);
  const encoder = new BatchEncoder();
  let current = state;
  const source =
    form === 'ndjson'
      ? rowsFromLines(body, part?.first ?? 1)
      : form === 'arrow'
        ? (await loadArrow()).rowsFromArrow(body, part?.ts ?? nowSeconds(), part?.first)
        : rowsFromJson(form, bytesBody(body).json(check), check);
  for (const rows of rowGroups(source)) {
    task.checkCancelled();
    const admission = recording.admit(rows, params, current);
    current = admission.state;
    for (const row of admission.rows) {
      checker?.check(row);
      encoder.add(row);
    }
  }
  return {
    batch: encoder.finish(),
    rowCount: encoder.rowCount,
    state: current,
    names: checker === undefined ? undefined : [...checker.names],
  };
}

/** The library that reads this form is large, and few clients send it. */
const loadArrow = () => import('../../../dataset/recording-arrow.ts');

/** At least one group, so that a type may refuse bodies without rows. */
function* rowGroups(rows: Iterable<RecordedRow>): Iterable<RecordedRow[]> {
  let group: RecordedRow[] = [];
  for (const row of rows) {
    if (group.push(row) < ROWS_AT_ONCE) continue;
    yield group;
    group = [];
  }
  yield group;
}

function* rowsFromLines(body: Uint8Array, firstLine: number): Iterable<RecordedRow> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // Decoders refuse shared memory; the check also refuses what they would replace.
  if (!isUtf8(bytes)) throw failure('INVALID_JSON', 'request body is not valid UTF-8');
  let number = firstLine;
  for (let start = 0; start < bytes.length; number++) {
    const found = bytes.indexOf(0x0a, start);
    const end = found === -1 ? bytes.length : found;
    const line = bytes.toString('utf8', start, end);
    start = end + 1;
    if (line.trim() !== '') yield rowFromLine(line, number);
  }
}

function rowFromLine(line: string, number: number): RecordedRow {
  try {
    return rowFromNdjson(line);
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw withDetails(thrown, { line: number });
    throw failure('INVALID_JSON', `line ${number} of the body is not JSON: ${thrown.message}`, {
      line: number,
      column: thrown.column,
    });
  }
}

/** For types in which a row may be recorded once only. */
class NewRowChecker {
  /** printed names of the rows that were checked */
  readonly names = new Set<string>();
  readonly #refusal: (name: Path) => RowanError;
  readonly #committed: Relation | undefined;

  constructor(
    refusal: (name: Path) => RowanError,
    content: DatasetContent | undefined,
    { arenas }: WorkerContext,
  ) {
    this.#refusal = refusal;
    this.#committed =
      content === undefined ? undefined : snapshotRelation(content.snapshot, arenas);
  }

  /** @throws what the type says of a row that is there already */
  check({ name }: RecordedRow): void {
    const text = name.toString();
    const isKnown = this.names.has(text) || (this.#committed?.findRows(name, []).length ?? 0) > 0;
    if (isKnown) throw this.#refusal(name);
    this.names.add(text);
  }
}

export function commitTask(
  {
    type,
    params,
    content,
    batches,
    state,
    isFinal,
    isFirst = false,
  }: EngineTasks['commit']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const recording = recordingOf(context, type);
  const arenas = new ArenaLease(context.arenas);
  try {
    const writerContext: WriterContext = {
      params,
      previous:
        content === undefined
          ? undefined
          : {
              snapshot: content.snapshot,
              relation: snapshotRelation(content.snapshot, context.arenas),
            },
      arenas,
      remote: context.remote,
      isFirst,
      checkCancelled: () => task.checkCancelled(),
    };
    const writer = recording.openWriter(writerContext);
    let cellsToCheck = 0;
    for (const batch of batches) {
      if (writer.addBatch !== undefined) {
        writer.addBatch(batch);
        continue;
      }
      for (const row of decodeBatch(batch)) {
        cellsToCheck -= row.cells.length + 1;
        if (cellsToCheck <= 0) {
          task.checkCancelled();
          cellsToCheck = CELLS_PER_CHECK;
        }
        writer.add(row);
      }
    }
    const finished = writer.finish(state);
    const snapshot = recording.index?.(finished, writerContext) ?? finished;
    const sealed = recording.stateAtCommit?.(snapshot, state, isFinal, context.arenas) ?? state;
    arenas.keep(snapshotSpans(snapshot));
    return { snapshot, state: sealed };
  } finally {
    arenas.release();
  }
}

export async function appendExternalTask(
  { type, params, batch }: EngineTasks['appendExternal']['args'],
  _task: Task,
  context: WorkerContext,
): Promise<undefined> {
  const { external, path } = await externalOf(type, params, context);
  await external.append(path, decodeBatch(batch));
  return undefined;
}

export async function loadExternalTask(
  { type, params }: EngineTasks['loadExternal']['args'],
  task: Task,
  context: WorkerContext,
): Promise<DatasetContent> {
  const { external, path } = await externalOf(type, params, context);
  const arenas = new ArenaLease(context.arenas);
  try {
    const checkCancelled = () => task.checkCancelled();
    const snapshot = await external.load(path, { arenas, checkCancelled });
    arenas.keep(snapshotSpans(snapshot));
    return { snapshot, state: recordingOf(context, type).initialState };
  } finally {
    arenas.release();
  }
}

/** The store of a type, and its file. */
async function externalOf(type: string, params: Params, { types, files }: WorkerContext) {
  const { external } = types.datasetType(type);
  const url = external?.url(params);
  assert(external !== undefined && url !== undefined, `dataset type ${type} has a file of its own`);
  return { external, path: await files.writablePath(url) };
}

export function viewTask(
  { type, params, parts = [] }: EngineTasks['view']['args'],
  task: Task,
  context: WorkerContext,
): DatasetContent {
  const { types, mirror, callScope, executor } = context;
  const { view } = types.datasetType(type);
  assert(view !== undefined, `dataset type ${type} is a view`);
  const arenas = new ArenaLease(context.arenas);
  try {
    const content = view.build({
      params,
      dataset: (id) => mirror.dataset(id),
      parts: parts.map(({ snapshot }) => snapshotRelation(snapshot, context.arenas)),
      status(id) {
        const definition = mirror.datasetWithContent(id);
        const { type, params, content } = definition;
        return types.datasetType(type).status(content, params) ?? null;
      },
      arenas,
      query(text) {
        const prepared = prepareQuery(text, { namespace: mirror, scope: callScope, executor });
        return { [Symbol.iterator]: () => prepared.run()[Symbol.iterator]() };
      },
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
  const { type, content } = mirror.datasetWithContent(dataset);
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
