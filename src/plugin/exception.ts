// Uncaught exceptions of scripts, described with their place in the program.
import type { ThrownValue } from './guest/thrown.ts';
import type { ScriptException, StackFrame } from './message.ts';
import type { PreparedProgram } from './program.ts';

/** The name under which a realm compiles the user's program. */
export const PROGRAM_FILE = 'program';

export interface ExceptionSource {
  readonly uri: string;
  /** the user's text */
  readonly source: string;
  readonly prepared: PreparedProgram;
}

const FRAME = /^\s*at (?:(.*?) \()?([^()]*?):(\d+)(?::(\d+))?\)?\s*$/;
const FRAME_COUNT_MAX = 50;

export function describeException(
  thrown: ThrownValue,
  program: ExceptionSource,
  context: string,
): ScriptException {
  const stack = stackOf(thrown.stack, program);
  const [place] = stack;
  return {
    message: `Uncaught ${thrown.text}`,
    ...(thrown.type === undefined ? {} : { type: thrown.type }),
    ...(place === undefined ? {} : placeMembers(place, program.source)),
    context: [context],
    stack,
    ...(thrown.extra === undefined ? {} : { extra: JSON.parse(thrown.extra) as unknown }),
  };
}

function placeMembers(frame: StackFrame, source: string) {
  const { where, scriptUri, lineNumber, columnStart, columnEnd } = frame;
  const line = source.split('\n')[lineNumber - 1]?.replace(/\r$/, '') ?? '';
  const lineContents = `${line.slice(0, columnStart)}[[[[${line.slice(columnStart, columnEnd)}]]]]${line.slice(columnEnd)}`;
  return { where, scriptUri, lineNumber, columnStart, columnEnd, lineContents };
}

/** The frames of the user's program; those of the scope are ours and say nothing to the user. */
function stackOf(text: string, { uri, source, prepared }: ExceptionSource): StackFrame[] {
  const lines = source.split('\n');
  const frames: StackFrame[] = [];
  for (const frameText of text.split('\n')) {
    const [, name, file, line, column] = FRAME.exec(frameText) ?? [];
    if (file !== PROGRAM_FILE || line === undefined) continue;
    const lineNumber = Number(line);
    const sourceLine = lines[lineNumber - 1] ?? '';
    // Columns of the engine count from 1.
    const raw = prepared.originalColumn(lineNumber, Number(column ?? 1) - 1);
    const columnStart = Math.min(raw, sourceLine.length);
    const token =
      /^(?:\.?[\w$]+|"[^"]*"|'[^']*'|\S)?/.exec(sourceLine.slice(columnStart))?.[0] ?? '';
    const functionName = name === undefined || name.startsWith('<') ? undefined : name;
    frames.push({
      scriptUri: uri,
      ...(functionName === undefined ? {} : { functionName }),
      where: `${functionName === undefined ? '' : `${functionName} `}(${uri}:${lineNumber}:${columnStart + 1})`,
      lineNumber,
      columnStart,
      columnEnd: columnStart + token.length,
    });
    if (frames.length === FRAME_COUNT_MAX) break;
  }
  return frames;
}
