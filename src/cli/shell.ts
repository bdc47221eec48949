// `rowan shell`: statements typed line by line, or read from a script on standard input.
import { appendFileSync, chmodSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import type { Command } from 'commander';
import type { QueryFormat } from '../client/query.ts';
import type { RowanApi } from '../client/rowan-api.ts';
import { printResult } from './query.ts';
import { completions, splitStatements } from './shell-input.ts';
import { addTargetOptions, type TargetOptions, withTarget } from './target.ts';

const HISTORY_COUNT_MAX = 1000;
const FORMATS = ['table', 'aos', 'soa', 'sparse', 'full', 'atom', 'csv', 'ndjson'] as const;

const HELP = `\\d            datasets
\\d NAME       columns of a dataset
\\df [LIKE]    functions, for instance \\df %date%
\\format NAME  ${FORMATS.join(', ')}, or columns
\\timing       tell how long each statement took, or stop to
\\x            one line for each cell, or back to columns
\\q            end (also control-D)
Statements end with a semicolon and may take several lines. Control-C leaves out what was typed, and cancels what runs.
`;

/** Adds `rowan shell`. */
export function addShellCommand(program: Command): void {
  const command = program
    .command('shell')
    .description(
      'type statements and read their results; a script on standard input runs as it is',
    );
  addTargetOptions(command).action((options: TargetOptions) =>
    withTarget(options, (target) => new Shell(target, options).run(), { mustExist: true }),
  );
}

class Shell {
  readonly #target: RowanApi;
  readonly #place: string;
  #names: readonly string[] = [];
  /** lines of a statement that is not ended */
  #typed = '';
  #format: QueryFormat | 'lines' | undefined;
  #isTimed = false;
  /** of the statement that runs */
  #running: AbortController | undefined;

  constructor(target: RowanApi, { url, dataDir }: TargetOptions) {
    this.#target = target;
    this.#place = url ?? (dataDir === 'none' ? 'an empty service of its own' : dataDir);
  }

  async run(): Promise<void> {
    if (process.stdin.isTTY) await this.#converse();
    else await this.#runScript();
  }

  /** The first statement that fails ends the script, and the command with it. */
  async #runScript(): Promise<void> {
    const input = createInterface({ input: process.stdin });
    for await (const line of input) {
      if (!(await this.#take(line))) return;
    }
    if (this.#typed.trim() !== '') await this.#take(';');
  }

  async #converse(): Promise<void> {
    process.stdout.write(`Rowan: ${this.#place}. \\? lists commands, \\q ends.\n`);
    await this.#readNames();
    const input = createInterface({
      input: process.stdin,
      output: process.stdout,
      history: readHistory(),
      historySize: HISTORY_COUNT_MAX,
      removeHistoryDuplicates: true,
      completer: (line: string) => completions(line, this.#names),
    } as Parameters<typeof createInterface>[0]);
    input.on('SIGINT', () => this.#interrupt(input));
    this.#prompt(input);
    for await (const line of input) {
      if (line.trim() !== '') keepInHistory(line);
      const goesOn = await this.#take(line).catch((thrown: unknown) => {
        this.#typed = '';
        process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
        return true;
      });
      if (!goesOn) break;
      this.#prompt(input);
    }
    input.close();
  }

  #prompt(input: Interface): void {
    input.setPrompt(this.#typed === '' ? 'rowan> ' : '    -> ');
    input.prompt();
  }

  #interrupt(input: Interface): void {
    if (this.#running !== undefined) {
      this.#running.abort();
      return;
    }
    this.#typed = '';
    process.stdout.write('\n');
    input.write(null, { ctrl: true, name: 'u' });
    this.#prompt(input);
  }

  /** @returns false when that was the end */
  async #take(line: string): Promise<boolean> {
    if (this.#typed === '' && line.trimStart().startsWith('\\')) return this.#command(line.trim());
    const { statements, rest } = splitStatements(`${this.#typed}${line}\n`);
    this.#typed = rest;
    for (const statement of statements) await this.#query(statement);
    return true;
  }

  async #command(line: string): Promise<boolean> {
    const [name = '', ...args] = line.split(/\s+/);
    const argument = args.join(' ').replace(/;$/, '');
    switch (name) {
      case '\\q':
        return false;
      case '\\?':
        process.stdout.write(HELP);
        return true;
      case '\\d':
        await this.#query(argument === '' ? 'SHOW TABLES' : `DESCRIBE ${quoted(argument)}`);
        return true;
      case '\\df':
        await this.#query(
          `SHOW FUNCTIONS${argument === '' ? '' : ` LIKE '${argument.replaceAll("'", "''")}'`}`,
        );
        return true;
      case '\\timing':
        this.#isTimed = !this.#isTimed;
        process.stdout.write(`timing is ${this.#isTimed ? 'on' : 'off'}\n`);
        return true;
      case '\\x':
        this.#format = this.#format === 'lines' ? undefined : 'lines';
        return true;
      case '\\format':
        this.#format = formatNamed(argument);
        return true;
      default:
        throw new Error(`there is no command ${name}; \\? lists those that there are`);
    }
  }

  async #query(sql: string): Promise<void> {
    const start = performance.now();
    this.#running = new AbortController();
    const { signal } = this.#running;
    try {
      if (this.#format === 'lines') await this.#printCells(sql, signal);
      else await printResult(this.#target, sql, { format: this.#format, signal, hasColumns: true });
    } finally {
      this.#running = undefined;
    }
    if (this.#isTimed) {
      process.stdout.write(`${(performance.now() - start).toFixed(1)} ms\n`);
    }
  }

  async #printCells(sql: string, signal: AbortSignal): Promise<void> {
    let number = 0;
    for await (const row of this.#target.query(sql, { signal, timestamps: 'iso' })) {
      process.stdout.write(`-- row ${++number}\n`);
      const width = Math.max(0, ...Object.keys(row).map((name) => name.length));
      for (const [name, cell] of Object.entries(row)) {
        const text = typeof cell === 'string' ? cell : JSON.stringify(cell);
        process.stdout.write(`${name.padEnd(width)}  ${text}\n`);
      }
    }
  }

  /** Names of datasets, their columns, and functions, for completion. */
  async #readNames(): Promise<void> {
    const names = new Set<string>();
    const add = async (sql: string) => {
      for await (const row of this.#target.query(sql)) {
        const { name, column } = row as Readonly<Record<string, unknown>>;
        for (const text of [name, column]) if (typeof text === 'string') names.add(text);
      }
    };
    try {
      await add('SHOW TABLES');
      const datasets = [...names];
      await add('SHOW FUNCTIONS');
      for (const dataset of datasets.slice(0, DESCRIBED_COUNT_MAX)) {
        await add(`DESCRIBE ${quoted(dataset)}`).catch(() => undefined);
      }
    } catch {
      // Completion is a convenience: the first statement tells what is wrong.
    }
    this.#names = [...names].sort();
  }
}

const DESCRIBED_COUNT_MAX = 50;

function quoted(name: string): string {
  return name.startsWith('"') ? name : `"${name.replaceAll('"', '""')}"`;
}

function formatNamed(name: string): QueryFormat | undefined {
  if (name === '' || name === 'columns') return undefined;
  const found = FORMATS.find((format) => format === name);
  if (found === undefined) {
    throw new Error(`there is no format ${name}; there are columns, ${FORMATS.join(', ')}`);
  }
  return found;
}

function historyPath(): string {
  return process.env.ROWAN_HISTORY ?? join(homedir(), '.rowan_history');
}

/** The latest line first. */
function readHistory(): string[] {
  try {
    const lines = readFileSync(historyPath(), 'utf8')
      .split('\n')
      .filter((line) => line !== '');
    return lines.slice(-HISTORY_COUNT_MAX).reverse();
  } catch {
    return [];
  }
}

/** Statements may hold what others should not read. */
function keepInHistory(line: string): void {
  try {
    appendFileSync(historyPath(), `${line}\n`, { mode: 0o600 });
    chmodSync(historyPath(), 0o600);
  } catch {
    // A home that cannot be written to has no history.
  }
}
