// The names of a text's columns.
import { failure } from '../../util/error.ts';
import { Path } from '../../value/path.ts';
import type { LineFault, TextFormat } from './text-format.ts';
import { decodeField, LINE_FAULT, splitLine, trimLine } from './text-format.ts';

/** A field of each line; a field without a name belongs to no column. */
export interface TextColumn {
  readonly path: Path | undefined;
  /** the name as the text has it */
  readonly name: string;
}

/**
 * Splits a header line.
 * @returns its names, or why it cannot be split
 */
export function splitHeader(line: string, format: TextFormat): string[] | LineFault {
  const text = trimLine(line, format.delimiter).replace(/^[ \t\n\v\f\r]+/, (space) =>
    format.delimiter !== '' && space.includes(format.delimiter)
      ? space.slice(space.indexOf(format.delimiter))
      : '',
  );
  const fields: string[] = [];
  const end = splitLine(text, format, fields);
  if (typeof end !== 'number') return end;
  const names: string[] = [];
  for (const field of fields) {
    const name = decodeField(field, { ...format, replacement: format.replacement });
    if (typeof name !== 'string') return name;
    names.push(name);
  }
  return names;
}

/** @throws DATA_ERROR when two names are equal or a structured name is malformed */
export function columnsOf(names: readonly string[], structured: boolean): TextColumn[] {
  const known = new Set<string>();
  return names.map((name) => {
    if (name === '') return { path: undefined, name };
    const path = structured ? Path.parse(name) : Path.of(name);
    const key = path.toString();
    if (known.has(key)) {
      throw failure('DATA_ERROR', `Duplicate column name in CSV file: ${key}`, { columnName: key });
    }
    known.add(key);
    return { path, name };
  });
}

/** Whether a line may be whole once the next one is added to it. */
export function isUnfinished(fault: LineFault): boolean {
  return fault.reason === LINE_FAULT.unclosed || fault.reason === LINE_FAULT.tooFew;
}
