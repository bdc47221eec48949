// The general way of import.text: line by line, with every expression and any kind of output.
import type { TextColumn } from '../../format/csv/header.ts';
import { isUnfinished } from '../../format/csv/header.ts';
import { lineFailure } from '../../format/csv/line-error.ts';
import type { LineReader } from '../../format/csv/line-reader.ts';
import type { LineFault, TextFormat } from '../../format/csv/text-format.ts';
import {
  decodeField,
  inferAtom,
  isAscii,
  LINE_FAULT,
  splitRow,
  trimLine,
} from '../../format/csv/text-format.ts';
import type { Atom } from '../../value/atom.ts';
import { compareElements } from '../../value/natural-order.ts';
import { Path } from '../../value/path.ts';
import { flatten, Row, RowBuilder, Scalar } from '../../value/value.ts';
import type { TextOutput } from './import-text-output.ts';
import type { LineState, TextExpressions } from './import-text-select.ts';

/** Lines between two looks at the cancel flag and reports of progress. */
const LINES_PER_CHECK = 512;

export interface RowOptions {
  readonly format: TextFormat;
  readonly ignoreBadLines: boolean;
  readonly allowMultiLines: boolean;
  readonly skip: RegExp | undefined;
  /** row names are `fileIndex.lineNumber` */
  readonly hasManyFiles: boolean;
  checkCancelled(): void;
  progress(lineCount: number): void;
}

/** Counts over all files. */
export interface RowCounts {
  /** lines after header and offset, whatever became of them */
  lines: number;
  badLines: number;
  /** lines that may still be processed */
  limit: number;
}

/**
 * Reads the lines of one file after the other and gives each to the expressions; the counts are
 * those of all files.
 */
export class RowReader {
  readonly #options: RowOptions;
  readonly #counts: RowCounts;
  readonly #line: LineState;

  constructor(options: RowOptions, counts: RowCounts, line: LineState) {
    this.#options = options;
    this.#counts = counts;
    this.#line = line;
  }

  /**
   * Reads the lines behind the header.
   * @param columnCount fields of a line
   * @param fields for each field its column, -1 for none
   * @param joinedCount physical lines that the header was made of, beyond the first
   */
  async read(
    reader: LineReader,
    columnCount: number,
    fields: readonly number[],
    columns: readonly TextColumn[],
    expressions: TextExpressions,
    output: TextOutput,
    joinedCount: number,
  ): Promise<void> {
    const process = new LineProcessor(
      this.#options,
      this.#line,
      { columnCount, fields, columns, expressions },
      output,
    );
    const counts = this.#counts;
    let emptyCount = 0;
    let unfinished: { text: string; fault: LineFault; lineNumber: number } | undefined;
    while (counts.limit > 0 || unfinished !== undefined) {
      const raw = reader.tryNext();
      if (raw === undefined) {
        if (await reader.fill()) continue;
        break;
      }
      if (raw === '' && unfinished === undefined) {
        // Empty lines at the end of the text are nothing; only what follows can tell.
        emptyCount++;
        continue;
      }
      const lineNumber = reader.lineNumber - joinedCount;
      for (; emptyCount > 0 && counts.limit > 0; emptyCount--) {
        this.#count();
        const fault = process.line('');
        if (fault !== undefined) this.#refuse(fault, '', lineNumber - emptyCount);
      }
      if (counts.limit <= 0 && unfinished === undefined) break;
      let text = raw;
      if (unfinished !== undefined) {
        text = `${unfinished.text} ${raw}`;
        joinedCount++;
        counts.lines++;
      } else this.#count();
      this.#line.lineNumber = unfinished?.lineNumber ?? lineNumber;
      const fault = process.line(text);
      if (fault !== undefined && this.#options.allowMultiLines && isUnfinished(fault)) {
        unfinished = { text, fault, lineNumber: this.#line.lineNumber };
        continue;
      }
      unfinished = undefined;
      if (fault !== undefined) this.#refuse(fault, text, this.#line.lineNumber);
    }
    if (unfinished !== undefined) {
      this.#refuse(unfinished.fault, unfinished.text, unfinished.lineNumber);
    }
  }

  #count(): void {
    const counts = this.#counts;
    counts.lines++;
    counts.limit--;
    if (counts.lines % LINES_PER_CHECK === 0) {
      this.#options.checkCancelled();
      this.#options.progress(counts.lines);
    }
  }

  #refuse(fault: LineFault, text: string, lineNumber: number): void {
    if (!this.#options.ignoreBadLines) {
      throw lineFailure(fault, text, lineNumber, this.#line.dataFileUrl);
    }
    this.#counts.badLines++;
  }
}

interface LineLayout {
  readonly columnCount: number;
  readonly fields: readonly number[];
  readonly columns: readonly TextColumn[];
  readonly expressions: TextExpressions;
}

/** What happens to one line, in the order of the steps that the manual lists. */
class LineProcessor {
  readonly #options: RowOptions;
  readonly #state: LineState;
  readonly #layout: LineLayout;
  readonly #output: TextOutput;
  readonly #makeRow: RowMaker | undefined;
  readonly #fields: string[] = [];
  readonly #atoms: Atom[];

  constructor(options: RowOptions, state: LineState, layout: LineLayout, output: TextOutput) {
    this.#options = options;
    this.#state = state;
    this.#layout = layout;
    this.#output = output;
    const { expressions, columns } = layout;
    this.#atoms = columns.map(() => null);
    const needsRow =
      expressions.copied === undefined ||
      expressions.where !== undefined ||
      expressions.name !== undefined ||
      expressions.timestamp !== undefined;
    this.#makeRow = needsRow ? rowMaker(columns, expressions.used) : undefined;
  }

  /** @returns what is wrong with the line itself; faults of expressions are thrown */
  line(raw: string): LineFault | undefined {
    const { format, skip } = this.#options;
    if (skip?.test(lineText(raw, format))) return undefined;
    if (raw === '') return { reason: LINE_FAULT.empty, column: 1 };
    const text = trimLine(raw, format.delimiter);
    const fault =
      splitRow(text, this.#layout.columnCount, format, this.#fields) ?? this.#parse(text);
    if (fault !== undefined) return fault;
    this.#record();
    return undefined;
  }

  #parse(line: string): LineFault | undefined {
    const { fields, expressions } = this.#layout;
    const { format } = this.#options;
    const isPlain = format.replacement === '' && isAscii(line);
    for (let i = 0; i < fields.length; i++) {
      const column = fields[i] as number;
      if (column < 0 || !expressions.used[column]) continue;
      const field = this.#fields[i] as string;
      const text = isPlain ? field : decodeField(field, format);
      if (typeof text !== 'string') {
        return { reason: text.reason, column: Math.max(line.indexOf(field), 0) + text.column };
      }
      // Numbers are ASCII; what is not is text without a look at its digits.
      this.#atoms[column] = isPlain || isAscii(text) ? inferAtom(text) : text;
    }
    return undefined;
  }

  #record(): void {
    const { expressions } = this.#layout;
    const state = this.#state;
    const input = this.#makeRow?.(this.#atoms, state.fileTimestamp);
    state.rowName = expressions.name?.(input as Row) ?? this.#defaultName();
    if (expressions.where !== undefined && !expressions.where(input as Row)) return;
    const ts = expressions.timestamp?.(input as Row) ?? state.fileTimestamp;
    const { copied } = expressions;
    if (copied !== undefined) {
      this.#output.begin();
      for (let i = 0; i < copied.length; i++) {
        this.#output.set(i, this.#atoms[(copied[i] as { column: number }).column] as Atom);
      }
    } else {
      const row = expressions.select(input as Row);
      this.#output.begin();
      flatten(row, [], (path, atom) => this.#output.add(path, atom));
    }
    this.#output.end(state.rowName, ts);
  }

  #defaultName(): Path {
    const { lineNumber, fileIndex } = this.#state;
    return this.#options.hasManyFiles
      ? Path.of(String(fileIndex), String(lineNumber))
      : Path.of(String(lineNumber));
  }
}

/** The text of a line for skipLineRegex; badly encoded bytes count as one character each. */
function lineText(raw: string, format: TextFormat): string {
  if (format.encoding === 'latin1' || isAscii(raw)) return raw;
  return Buffer.from(raw, 'latin1').toString('utf8');
}

type RowMaker = (atoms: readonly Atom[], ts: number) => Row;

/** Makes rows of the columns that expressions read. */
function rowMaker(columns: readonly TextColumn[], used: readonly boolean[]): RowMaker {
  const wanted = columns.flatMap(({ path }, index) =>
    path !== undefined && used[index] ? [{ path, index }] : [],
  );
  if (wanted.some(({ path }) => path.length > 1)) {
    return (atoms, ts) => {
      const builder = new RowBuilder();
      for (const { path, index } of wanted) {
        builder.addPath(path, new Scalar(atoms[index] as Atom, ts));
      }
      return builder.build();
    };
  }
  // The sorted names are shared by all rows.
  wanted.sort((a, b) =>
    compareElements(a.path.elements[0] as string, b.path.elements[0] as string),
  );
  const names = wanted.map(({ path }) => path.elements[0] as string);
  const indexes = wanted.map(({ index }) => index);
  return (atoms, ts) => {
    const values = new Array<Scalar>(indexes.length);
    for (let i = 0; i < indexes.length; i++) {
      values[i] = new Scalar(atoms[indexes[i] as number] as Atom, ts);
    }
    return new Row(names, values);
  };
}
