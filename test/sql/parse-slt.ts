// Parses .slt files: text to records. README.md describes the format.

import { parseJson } from '../../src/util/exact-json.ts';
import { splitTokens } from './tokens.ts';

export interface TableRecord {
  readonly kind: 'table';
  readonly line: number;
  readonly dataset: string;
  readonly type: string;
  readonly rows: readonly TableRow[];
}

export interface TableRow {
  readonly name: string;
  readonly cells: readonly (readonly [column: string, value: unknown, time: unknown])[];
}

export interface StatementRecord {
  readonly kind: 'statement';
  readonly line: number;
  readonly text: string;
  /** A part of the expected message; undefined when the statement is to succeed. */
  readonly error: string | undefined;
}

export interface QueryRecord {
  readonly kind: 'query';
  readonly line: number;
  readonly text: string;
  readonly types: string;
  readonly options: ReadonlySet<QueryOption>;
  /** The lines after `----`, and the 0-based position of the first of them in the file. */
  readonly results: readonly string[];
  readonly resultsStart: number;
  readonly hasSeparator: boolean;
}

export type QueryOption = 'names' | 'header' | 'points' | 'unordered';
export type SltRecord = TableRecord | StatementRecord | QueryRecord;

export interface SltFile {
  readonly description: string;
  readonly records: readonly SltRecord[];
}

/** Cells whose time does not matter have this one. */
const DEFAULT_TIME = '1970-01-01T00:00:00Z';
const TIMESTAMP = /^-?\d{4,}-\d\d-\d\dT[\d:.]+Z$/;
const OPTIONS: readonly string[] = ['names', 'header', 'points', 'unordered'];

/** @throws Error with the number of the offending line */
export function parseSlt(text: string): SltFile {
  const lines = text.split('\n');
  const description = /^# description: (.+)$/.exec(lines[0] ?? '')?.[1];
  if (description === undefined) fail(1, 'expected "# description: ..." first');
  const records: SltRecord[] = [];
  let index = 0;
  while (index < lines.length) {
    const start = index;
    const first = lines[index] ?? '';
    if (first.trim() === '' || first.startsWith('#')) {
      index++;
      continue;
    }
    while (index < lines.length && lines[index]?.trim() !== '') index++;
    records.push(parseRecord(lines.slice(start, index), start));
  }
  return { description, records };
}

/** @param start the 0-based position of the record's first line */
function parseRecord(lines: readonly string[], start: number): SltRecord {
  const [head = '', ...body] = lines;
  const [kind, ...words] = head.trim().split(/\s+/);
  const line = start + 1;
  switch (kind) {
    case 'table':
      return parseTable(words, body, line);
    case 'statement':
      return parseStatement(head, body, line);
    case 'query':
      return parseQuery(words, body, line);
    default:
      return fail(line, `expected table, statement or query, got "${kind}"`);
  }
}

function parseTable(words: readonly string[], body: readonly string[], line: number): TableRecord {
  const [dataset, type = 'sparse.mutable', ...rest] = words;
  if (dataset === undefined || rest.length > 0) fail(line, 'expected table <dataset> [<type>]');
  const rows = body.map((text, index) => parseRow(text, line + 1 + index));
  return { kind: 'table', line, dataset, type, rows };
}

function parseRow(text: string, line: number): TableRow {
  const [name = '', ...cells] = splitTokens(text);
  return { name: unquote(name), cells: cells.map((cell) => parseCell(cell, line)) };
}

function parseCell(cell: string, line: number): TableRow['cells'][number] {
  const match =
    /^("(?:[^"\\]|\\.)*"|[^="]+)=("(?:[^"\\]|\\.)*"|[[{].*[\]}]|[^@"[{]+)(?:@(\S+))?$/.exec(cell);
  if (match === null) fail(line, `expected column=value or column=value@time, got "${cell}"`);
  const [, column = '', value = '', time = DEFAULT_TIME] = match;
  return [unquote(column), parseValue(value, line), TIMESTAMP.test(time) ? time : Number(time)];
}

function parseValue(text: string, line: number): unknown {
  if (TIMESTAMP.test(text)) return { ts: text };
  try {
    return parseJson(text);
  } catch {
    return fail(line, `expected JSON or a timestamp, got "${text}"`);
  }
}

function parseStatement(head: string, body: readonly string[], line: number): StatementRecord {
  const match = /^statement (ok|error)(?: (.+))?$/.exec(head.trim());
  if (match === null || (match[1] === 'ok' && match[2] !== undefined)) {
    fail(line, 'expected "statement ok" or "statement error <text>"');
  }
  if (body.length === 0) fail(line, 'the statement is missing');
  const error = match[1] === 'error' ? (match[2] ?? '') : undefined;
  return { kind: 'statement', line, text: body.join('\n'), error };
}

function parseQuery(words: readonly string[], body: readonly string[], line: number): QueryRecord {
  const [types = '', ...options] = words;
  if (!/^([IRTSVBA]+|\*)$/.test(types)) fail(line, `unknown types "${types}", use IRTSVBA or *`);
  const unknown = options.find((option) => !OPTIONS.includes(option));
  if (unknown !== undefined) {
    fail(line, `unknown option "${unknown}", there are ${OPTIONS.join(', ')}`);
  }
  const separator = body.indexOf('----');
  const sqlLines = separator < 0 ? body : body.slice(0, separator);
  if (sqlLines.length === 0) fail(line, 'the query is missing');
  return {
    kind: 'query',
    line,
    text: sqlLines.join('\n'),
    types,
    options: new Set(options as QueryOption[]),
    results: separator < 0 ? [] : body.slice(separator + 1),
    resultsStart: line + sqlLines.length + (separator < 0 ? 0 : 1),
    hasSeparator: separator >= 0,
  };
}

function unquote(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

function fail(line: number, reason: string): never {
  throw new Error(`line ${line}: ${reason}`);
}
