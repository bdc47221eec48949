// Applies a function to JSON inputs, one a line, and answers with one line each.
import { isAscii, isUtf8 } from 'node:buffer';
import type { CallContext } from '../plan/function.ts';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { JsonSyntaxError, parseJson, stringifyJson } from '../util/exact-json.ts';
import { applyJson } from './apply-json.ts';
import { AtomListWriter } from './atom-list-writer.ts';
import type { CompiledFunction } from './function-type.ts';
import { numberRowReader } from './model/number-row-reader.ts';

const LF = 0x0a;
const OPEN = 0x5b;

/** JSON.parse rounds some integers of so many digits, and treats this key specially. */
const UNUSUAL = /\d{16}|__proto__/;
/** No line this short nests deeper than is allowed. */
const SHORT_LENGTH_MAX = 512;
/** Lines between two looks at the clock. */
const LINES_AT_ONCE = 32;
/** The same for arrays of numbers, which take less time. */
const ROWS_AT_ONCE = 1024;

export interface LineOptions {
  readonly scope: CallContext;
  /** timestamp of all cells of the inputs, in seconds */
  readonly ts: number;
  /** number of the first line */
  readonly firstLine: number;
}

/** Work on one block of whole lines, which can be left and taken up again. */
export class LineApplier {
  readonly #compiled: CompiledFunction;
  readonly #options: LineOptions;
  readonly #bytes: Buffer;
  #position = 0;
  #line: number;
  /** the block, where each byte is one character; read when a line is */
  #text: string | undefined;
  /** every short line may be left to JSON.parse */
  #isUsual = false;
  #hasFailed = false;

  constructor(compiled: CompiledFunction, block: Uint8Array, options: LineOptions) {
    this.#compiled = compiled;
    this.#options = options;
    this.#bytes = Buffer.from(block.buffer, block.byteOffset, block.length);
    this.#line = options.firstLine;
  }

  get isDone(): boolean {
    return this.#hasFailed || this.#position >= this.#bytes.length;
  }

  /** The line that failed was the last that is answered. */
  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  /** The number of the next line. */
  get line(): number {
    return this.#line;
  }

  /**
   * Answers lines until the time is over or none is left; at least one.
   * @param until what performance.now() may reach
   * @returns whole lines; the last is `{"error", …, "line"}` when it failed
   */
  run(until: number): Uint8Array[] {
    const out = new AtomListWriter();
    if (this.#position === 0 && !isUtf8(this.#bytes)) {
      out.text(this.#fail(failure('INVALID_JSON', 'the lines are not valid UTF-8')));
    }
    while (!this.isDone) {
      if (!this.#runNumberRows(out)) this.#runLines(out);
      if (performance.now() >= until) break;
    }
    out.end();
    return out.chunks;
  }

  /** True when arrays of numbers were answered at once. */
  #runNumberRows(out: AtomListWriter): boolean {
    const call = this.#compiled.plainCalls?.numberRow;
    if (call === undefined || this.#bytes[this.#position] !== OPEN) return false;
    const rows = numberRowReader();
    rows.read(this.#bytes, this.#position, true, ROWS_AT_ONCE);
    let answered = 0;
    for (let start = 0; answered < rows.rowCount; answered++) {
      const end = rows.ends[answered] as number;
      const atom = call(rows.numbers, start, end);
      if (atom === undefined) break;
      start = end;
      out.atom(atom);
      out.byte(LF);
    }
    if (answered === rows.rowCount) this.#position = rows.position;
    else for (let i = 0; i < answered; i++) this.#position = this.#endOfLine() + 1;
    this.#line += answered;
    return answered > 0;
  }

  #endOfLine(): number {
    const end = this.#bytes.indexOf(LF, this.#position);
    return end === -1 ? this.#bytes.length : end;
  }

  #runLines(out: AtomListWriter): void {
    let answers = '';
    for (let i = 0; i < LINES_AT_ONCE && !this.isDone; i++) {
      const line = this.#nextLine();
      try {
        // Blank lines are no inputs.
        if (line.trim() !== '') answers += `${this.#answer(line)}\n`;
      } catch (thrown) {
        answers += this.#fail(thrown);
      }
      this.#line++;
    }
    out.text(answers);
  }

  #nextLine(): string {
    if (this.#text === undefined) this.#decode();
    const start = this.#position;
    if (this.#text === '') {
      const end = this.#endOfLine();
      this.#position = end + 1;
      return this.#bytes.toString('utf8', start, end);
    }
    const text = this.#text as string;
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    this.#position = end + 1;
    return text.slice(start, end);
  }

  /** One decoding costs less than one a line. */
  #decode(): void {
    this.#text = isAscii(this.#bytes) ? this.#bytes.toString('latin1') : '';
    this.#isUsual = this.#text !== '' && !UNUSUAL.test(this.#text);
  }

  #answer(line: string): string {
    const { ts, scope } = this.#options;
    const isUsual = this.#isUsual && line.length <= SHORT_LENGTH_MAX;
    const input = (isUsual ? parseUsual(line) : undefined) ?? parseLine(line);
    return applyJson(this.#compiled, input, ts, scope);
  }

  /** @returns the answer */
  #fail(thrown: unknown): string {
    if (thrown instanceof RowanError && thrown.code === 'CANCELLED') throw thrown;
    this.#hasFailed = true;
    return errorLine(thrown, this.#line);
  }
}

/** Undefined for what is not JSON, and for null. */
function parseUsual(line: string): unknown {
  try {
    return JSON.parse(line) ?? undefined;
  } catch {
    return undefined;
  }
}

/** What answers a line that failed, with its end. */
export function errorLine(thrown: unknown, line: number): string {
  return `${stringifyJson({ ...errorBody(thrown), line })}\n`;
}

function parseLine(text: string): unknown {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (!(thrown instanceof JsonSyntaxError)) throw thrown;
    throw failure('INVALID_JSON', `the line is not JSON: ${thrown.message}`, {
      column: thrown.column,
    });
  }
}
