// Runs the records of .slt files against a service.

import { parseJson } from '../../src/util/exact-json.ts';
import type { TestService } from '../support/rowan.ts';
import type { QueryRecord, SltRecord, StatementRecord, TableRecord } from './parse-slt.ts';
import {
  ABSENT,
  formatName,
  formatValue,
  hasType,
  NO_COLUMNS,
  splitTokens,
  tokensAgree,
} from './tokens.ts';

/** Runs the records of one file in their order, then removes what they made. */
export class SltRun {
  readonly #service: TestService;
  readonly #madePaths: string[] = [];
  /** New result lines by the line of their record, filled in instead of comparing. */
  readonly completions = new Map<number, readonly string[]>();
  readonly #completes: boolean;

  constructor(service: TestService, options: { readonly completes: boolean }) {
    this.#service = service;
    this.#completes = options.completes;
  }

  /** @throws Error that says what differs from the record's expectation */
  async run(record: SltRecord): Promise<void> {
    switch (record.kind) {
      case 'table':
        return this.#recordTable(record);
      case 'statement':
        return this.#runStatement(record);
      case 'query':
        return this.#runQuery(record);
    }
  }

  async end(): Promise<void> {
    for (const path of this.#madePaths.reverse()) await this.#service.perform('DELETE', path);
  }

  async #recordTable({ dataset, type, rows }: TableRecord): Promise<void> {
    const path = `/v1/datasets/${encodeURIComponent(dataset)}`;
    await this.#request('PUT', path, { type });
    this.#madePaths.push(path);
    const body = rows.map(({ name, cells }) => [name, cells]);
    if (body.length > 0) await this.#request('POST', `${path}/multirows`, body);
    await this.#request('POST', `${path}/commit`, {});
  }

  async #runStatement({ text, error }: StatementRecord): Promise<void> {
    let message: string | undefined;
    try {
      await this.#runText(text);
    } catch (thrown) {
      message = messageOf(thrown);
    }
    if (error === undefined) {
      if (message !== undefined) throw new Error(`expected success, got the error: ${message}`);
      return;
    }
    if (message === undefined) throw new Error(`expected an error with "${error}", got none`);
    if (error === '') throw new Error(`say what the message contains; it is: ${message}`);
    if (!message.includes(error)) {
      throw new Error(`expected an error with "${error}", got: ${message}`);
    }
  }

  async #runText(text: string): Promise<void> {
    const request = /^(GET|PUT|POST|DELETE) (\/\S+)\s*([\s\S]*)$/.exec(text);
    if (request === null) {
      await this.#service.query(text, { format: 'full' });
      return;
    }
    const [, verb = '', path = '', body = ''] = request;
    await this.#request(verb, path, body === '' ? undefined : parseJson(body));
    if (verb === 'PUT') this.#madePaths.push(path);
  }

  async #request(verb: string, path: string, body: unknown): Promise<void> {
    const reply = await this.#service.perform(verb, path, body === undefined ? {} : { body });
    if (reply.status < 200 || reply.status > 299) {
      throw new Error(`${verb} ${path} answered ${reply.status}: ${reply.text}`);
    }
  }

  async #runQuery(record: QueryRecord): Promise<void> {
    const { text, types, options, results } = record;
    const answer = (await this.#service.query(text, { format: 'full' })) as readonly FullRow[];
    const columnNames = [...new Set(answer.flatMap((row) => pointsOf(row).map(([name]) => name)))];
    const rows = answer.map((row) => columnNames.map((name) => cellOf(row, name)));
    checkTypes(types, columnNames, rows);

    const formatCell = options.has('points') ? formatPoints : formatLatest;
    const lines = rows.map((cells, index) => {
      const names = options.has('names') ? [formatValue(answer[index]?.rowName)] : [];
      const line = [...names, ...cells.map(formatCell)];
      return line.length === 0 ? [NO_COLUMNS] : line;
    });
    const headerLine = [...(options.has('names') ? ['name'] : []), ...columnNames.map(formatName)];
    if (this.#completes) {
      const all = options.has('header') ? [headerLine, ...lines] : lines;
      this.completions.set(record.line, alignColumns(all));
      return;
    }
    const expected = results.map(splitTokens);
    if (options.has('header')) {
      const expectedHeader = expected.shift() ?? [];
      if (expectedHeader.join(' ') !== headerLine.join(' ')) {
        throw new Error(
          `expected the columns ${expectedHeader.join(' ')}, got ${headerLine.join(' ')}`,
        );
      }
    }
    const difference = options.has('unordered')
      ? differUnordered(expected, lines)
      : differInOrder(expected, lines);
    if (difference === undefined) return;
    throw new Error(`${difference}\nthe answer was:\n${alignColumns(lines).join('\n')}`);
  }
}

/** A row of the `full` format, which alone has every point and type. */
interface FullRow {
  readonly rowName: string;
  readonly columns?: readonly Point[];
}

type Point = readonly [column: string, value: unknown, time: string];

function pointsOf({ columns = [] }: FullRow): readonly Point[] {
  return columns;
}

function cellOf(row: FullRow, column: string): readonly Point[] {
  return pointsOf(row).filter(([name]) => name === column);
}

/** The value with the latest time; of several with that time the last. */
function formatLatest(cell: readonly Point[]): string {
  let latest: Point | undefined;
  for (const point of cell) {
    if (latest === undefined || secondsOf(point[2]) >= secondsOf(latest[2])) latest = point;
  }
  return latest === undefined ? ABSENT : formatValue(latest[1]);
}

function formatPoints(cell: readonly Point[]): string {
  if (cell.length === 0) return ABSENT;
  return cell.map(([, value, time]) => `${formatValue(value)}@${time}`).join('|');
}

function secondsOf(time: string): number {
  if (time === 'Inf') return Number.POSITIVE_INFINITY;
  if (time === '-Inf') return -Number.MAX_VALUE;
  const ms = Date.parse(time);
  return Number.isNaN(ms) ? Number.NEGATIVE_INFINITY : ms / 1000;
}

function checkTypes(
  types: string,
  columnNames: readonly string[],
  rows: readonly (readonly (readonly Point[])[])[],
): void {
  if (types === '*') return;
  if (types.length !== columnNames.length) {
    throw new Error(`expected ${types.length} columns, got ${columnNames.join(', ')}`);
  }
  for (const [index, name] of columnNames.entries()) {
    const letter = types.charAt(index);
    const points = rows.flatMap((row) => row[index] ?? []);
    const wrong = points.find(([, value]) => !hasType(letter, value));
    if (wrong === undefined) continue;
    throw new Error(`column ${name} is to be ${letter}, but has ${formatValue(wrong[1])}`);
  }
}

/** The message, with the place when the error knows it. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { details } = thrown as { details?: Readonly<Record<string, unknown>> };
  const place = details?.line === undefined ? '' : ` at ${details.line}:${details.column}`;
  return `${thrown.message}${place}`;
}

type Lines = readonly (readonly string[])[];

function differInOrder(expected: Lines, actual: Lines): string | undefined {
  if (expected.length !== actual.length) return wrongCount(expected, actual);
  const index = expected.findIndex((line, i) => !linesAgree(line, actual[i] ?? []));
  return index < 0
    ? undefined
    : `row ${index + 1} differs from ${(expected[index] ?? []).join('  ')}`;
}

function differUnordered(expected: Lines, actual: Lines): string | undefined {
  if (expected.length !== actual.length) return wrongCount(expected, actual);
  const rest = [...actual];
  for (const line of expected) {
    const index = rest.findIndex((candidate) => linesAgree(line, candidate));
    if (index < 0) return `no row is ${line.join('  ')}`;
    rest.splice(index, 1);
  }
  return undefined;
}

function wrongCount(expected: Lines, actual: Lines): string {
  return `expected ${expected.length} rows, got ${actual.length}`;
}

function linesAgree(expected: readonly string[], actual: readonly string[]): boolean {
  return (
    expected.length === actual.length &&
    expected.every((token, index) => tokensAgree(token, actual[index] ?? ''))
  );
}

function alignColumns(lines: Lines): string[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [i, token] of line.entries()) widths[i] = Math.max(widths[i] ?? 0, token.length);
  }
  return lines.map((line) =>
    line
      .map((token, i) => token.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The text of a file with the results of its queries replaced. */
export function complete(
  text: string,
  records: readonly SltRecord[],
  completions: ReadonlyMap<number, readonly string[]>,
): string {
  const lines = text.split('\n');
  for (const record of [...records].reverse()) {
    const results = completions.get(record.line);
    if (record.kind !== 'query' || results === undefined) continue;
    const added = record.hasSeparator ? results : ['----', ...results];
    lines.splice(record.resultsStart, record.results.length, ...added);
  }
  return lines.join('\n');
}
