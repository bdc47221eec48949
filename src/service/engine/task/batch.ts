// Applying a function to many inputs.
import { ChunkSink } from '../../../exec/output/sink.ts';
import type { Task } from '../../../exec/task.ts';
import { applyJson } from '../../../function/apply-json.ts';
import { AtomListWriter } from '../../../function/atom-list-writer.ts';
import type { CompiledFunction } from '../../../function/function-type.ts';
import { numberRowReader } from '../../../function/model/number-row-reader.ts';
import type { NumberRowCall } from '../../../function/plain-call.ts';
import type { CallContext } from '../../../plan/function.ts';
import { withDetails } from '../../../util/error.ts';
import { BATCH_PARAMETERS, batchInputOf } from '../../route/call-parameters.ts';
import { bindBody } from '../../route/parameter-binding.ts';
import { bytesBody } from '../../route/request-body.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

export function batchTask(
  { function: id, ts, ...given }: EngineTasks['batch']['args'],
  task: Task,
  { mirror, callScope }: WorkerContext,
): undefined {
  const compiled = mirror.compiledFunction(id);
  const { numberRow } = compiled.plainCalls ?? {};
  if ('body' in given && numberRow !== undefined) {
    const chunks = applyToNumberRows(numberRow, given.body, callScope);
    if (chunks !== undefined) {
      for (const chunk of chunks) task.emit(chunk);
      return;
    }
  }
  const input = 'body' in given ? inputOfBody(given.body, given.verb, given.path) : given.input;
  const sink = new ChunkSink((bytes) => task.emit(bytes));
  for (const piece of applyBatch(compiled, input, ts, callScope)) sink.write(piece);
  sink.end();
}

/** One object for all calls, so that binding reads its schemas once. */
const BATCH = { hybrid: BATCH_PARAMETERS };

function inputOfBody(body: Uint8Array, verb: string, path: string): unknown {
  return batchInputOf(bindBody(BATCH, { verb, path }, bytesBody(body).json()));
}

/** The JSON text that answers a batch, in pieces. @throws the first error of any element */
export function* applyBatch(
  compiled: CompiledFunction,
  input: unknown,
  ts: number,
  scope: CallContext,
): Iterable<string> {
  // One try around all elements costs less than one around each.
  let place: number | string = 0;
  try {
    if (Array.isArray(input)) {
      yield '[';
      for (let i = 0; i < input.length; i++) {
        if (i > 0) yield ',';
        place = i;
        yield applyJson(compiled, input[i], ts, scope);
      }
      yield ']';
      return;
    }
    if (typeof input === 'object' && input !== null) {
      yield '{';
      let separator = '';
      for (const [key, element] of Object.entries(input)) {
        yield `${separator}${JSON.stringify(key)}:`;
        place = key;
        yield applyJson(compiled, element, ts, scope);
        separator = ',';
      }
      yield '}';
      return;
    }
  } catch (thrown) {
    throw withDetails(thrown, { element: place });
  }
  yield input === null || input === undefined ? 'null' : applyJson(compiled, input, ts, scope);
}

const HEAD = /^[ \t\r\n]*\{[ \t\r\n]*"input"[ \t\r\n]*:[ \t\r\n]*\[/;
const HEAD_SIZE_MAX = 256;
const TAIL = /^[ \t\r\n]*\][ \t\r\n]*\}[ \t\r\n]*$/;

const OPEN = 0x5b;
const CLOSE = 0x5d;
const COMMA = 0x2c;

/**
 * The answer for a body that is nothing but arrays of numbers; undefined when it is something else,
 * which may be an error.
 */
function applyToNumberRows(
  call: NumberRowCall,
  body: Uint8Array,
  scope: CallContext,
): readonly Uint8Array[] | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const head = HEAD.exec(bytes.toString('latin1', 0, HEAD_SIZE_MAX));
  if (head === null) return undefined;
  const rows = numberRowReader();
  const { numbers, ends } = rows;
  const writer = new AtomListWriter();
  let position = head[0].length;
  let isFirst = true;
  writer.byte(OPEN);
  for (;;) {
    scope.checkCancelled();
    rows.read(bytes, position, false);
    const { rowCount } = rows;
    if (rowCount === 0) break;
    for (let i = 0, start = 0; i < rowCount; i++) {
      const end = ends[i] as number;
      const atom = call(numbers, start, end);
      if (atom === undefined) return undefined;
      if (!isFirst) writer.byte(COMMA);
      isFirst = false;
      writer.atom(atom);
      start = end;
    }
    position = rows.position;
    if (bytes[position] === CLOSE) break;
  }
  if (bytes.length - position > HEAD_SIZE_MAX) return undefined;
  if (!TAIL.test(bytes.toString('latin1', position))) return undefined;
  // Rows that end with a comma are followed by another.
  if (!isFirst && bytes[position - 1] === COMMA) return undefined;
  writer.byte(CLOSE);
  writer.end();
  return writer.chunks;
}
