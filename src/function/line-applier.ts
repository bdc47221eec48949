// Applies a function to JSON inputs, one a line, and answers with one line each.
import { isUtf8 } from 'node:buffer';
import type { CallScope } from '../plan/function.ts';
import { errorBody, failure, RowanError } from '../util/error.ts';
import { JsonSyntaxError, parseJson, stringifyJson } from '../util/exact-json.ts';
import { applyJson } from './apply-json.ts';
import { AtomListWriter } from './atom-list-writer.ts';
import type { CompiledFunction } from './function-type.ts';
import { makeNumberRows, type NumberRows, readNumberRows } from './number-row-reader.ts';

const LF = 0x0a;
const OPEN = 0x5b;

/** Lines between two looks at the clock. */
const LINES_AT_ONCE = 32;
/** The same for arrays of numbers, which take less time. */
const ROWS_AT_ONCE = 1024;

/** Read and answered at once, so all blocks of a thread share it. */
let rowsOfThread: NumberRows | undefined;

export interface LineOptions {
  readonly scope: CallScope;
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
      this.#fail(failure('INVALID_JSON', 'the lines are not valid UTF-8'), out);
    }
    do {
      if (this.#runNumberRows(out)) continue;
      for (let i = 0; i < LINES_AT_ONCE && !this.isDone; i++) this.#runLine(out);
    } while (!this.isDone && performance.now() < until);
    out.end();
    return out.chunks;
  }

  /** True when arrays of numbers were answered at once. */
  #runNumberRows(out: AtomListWriter): boolean {
    const call = this.#compiled.plainCalls?.numberRow;
    if (call === undefined || this.#bytes[this.#position] !== OPEN) return false;
    rowsOfThread ??= makeNumberRows();
    const rows = rowsOfThread;
    readNumberRows(this.#bytes, this.#position, true, rows, ROWS_AT_ONCE);
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

  #runLine(out: AtomListWriter): void {
    const end = this.#endOfLine();
    const text = this.#bytes.toString('utf8', this.#position, end);
    this.#position = end + 1;
    try {
      const answer = this.#answer(text);
      if (answer !== undefined) {
        out.text(answer);
        out.byte(LF);
      }
    } catch (thrown) {
      this.#fail(thrown, out);
    }
    this.#line++;
  }

  /** Undefined for a blank line. */
  #answer(text: string): string | undefined {
    if (text.trim() === '') return undefined;
    const { ts, scope } = this.#options;
    return applyJson(this.#compiled, parseLine(text), ts, scope);
  }

  #fail(thrown: unknown, out: AtomListWriter): void {
    if (thrown instanceof RowanError && thrown.code === 'CANCELLED') throw thrown;
    this.#hasFailed = true;
    out.text(errorLine(thrown, this.#line));
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
