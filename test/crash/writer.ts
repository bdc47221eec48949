// Writes as fast as it can until the server is killed, and keeps book of what was asked for and
// what was answered. Each writer has things of its own; all record rows into one dataset.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { HttpClient, type HttpReply } from '../support/http.ts';
import { ABSENT, type Ledger, type RowLedger } from './ledger.ts';

/** Rows of the files that are imported. */
export const FILE_ROW_COUNTS = [500, 700, 900] as const;

export function fileOf(directory: string, rowCount: number): string {
  return join(directory, `rows-${rowCount}.csv`);
}

export interface WriterOptions {
  readonly index: number;
  readonly origin: string;
  readonly directory: string;
  readonly ledger: Ledger;
  readonly rows: RowLedger;
  /** the dataset that all record into */
  readonly log: string;
  random(): number;
}

/** Things of one collection beyond this make room by deletion. */
const COUNT_MAX = { functions: 8, datasets: 8, procedures: 4, plugins: 2 } as const;
type Collection = keyof typeof COUNT_MAX;

/** The first of each collection stay for good, to be found after every restart. */
const KEPT_COUNT = 1;

let lastNumber = 0;

export class Writer {
  readonly #options: WriterOptions;
  readonly #client: HttpClient;
  readonly #owned: Readonly<Record<Collection, string[]>>;

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#client = new HttpClient(options.origin);
    const names = (collection: Collection) =>
      options.ledger
        .names(`${collection}/w${options.index}_`)
        .filter((name) => !name.includes('/runs/'));
    this.#owned = {
      functions: names('functions'),
      datasets: names('datasets'),
      procedures: names('procedures'),
      plugins: names('plugins'),
    };
  }

  /** Works until the connection breaks. @throws Error when the server refuses something */
  async work(): Promise<void> {
    try {
      for (;;) await this.#step();
    } catch (error) {
      // The kill: whatever was under way may or may not have happened.
      if (!(error instanceof Error) || !/socket|ECONN|EPIPE|aborted/i.test(error.message)) {
        throw error;
      }
    } finally {
      this.#client.close();
    }
  }

  #step(): Promise<void> {
    const choice = this.#options.random();
    if (choice < 0.3) return this.#record();
    if (choice < 0.4) return this.#commit();
    if (choice < 0.5) return this.#createFunction();
    if (choice < 0.58) return this.#replaceFunction();
    if (choice < 0.64) return this.#createFunctionLater();
    if (choice < 0.7) return this.#createDataset();
    if (choice < 0.76) return this.#createProcedure();
    if (choice < 0.88) return this.#import();
    if (choice < 0.91) return this.#createPlugin();
    return this.#delete();
  }

  /** One row, or several that are recorded together. */
  async #record(): Promise<void> {
    const { rows, log } = this.#options;
    const batch = `b${++lastNumber}`;
    const names = this.#pick([1, 1, 3, 20]) as number;
    const recorded = Array.from({ length: names }, (_, i) => `${batch}_${i}`);
    rows.ask(batch, recorded);
    const cells = (name: string) => [['x', name, 0]];
    if (recorded.length === 1) {
      const [rowName = ''] = recorded;
      await this.#succeed('POST', `datasets/${log}/rows`, { rowName, columns: cells(rowName) });
    } else {
      const body = recorded.map((name) => [name, cells(name)]);
      await this.#succeed('POST', `datasets/${log}/multirows`, body);
    }
    rows.recorded(batch);
  }

  async #commit(): Promise<void> {
    const { rows, log } = this.#options;
    const before = rows.recordedBatches();
    await this.#succeed('POST', `datasets/${log}/commit`, {});
    rows.committed(before);
  }

  #createFunction(): Promise<void> {
    return this.#putFunction(this.#newName('functions', 'f'));
  }

  #replaceFunction(): Promise<void> {
    const name = this.#pick(this.#owned.functions);
    return name === undefined ? this.#createFunction() : this.#putFunction(name);
  }

  #putFunction(name: string): Promise<void> {
    const value = ++lastNumber;
    return this.#put(name, `value ${value}`, functionOf(value));
  }

  /** The reply promises that the request is known, and no more. */
  async #createFunctionLater(): Promise<void> {
    const { ledger } = this.#options;
    const name = this.#newName('functions', 'a');
    const value = ++lastNumber;
    const outcomes = [`value ${value}`, 'interrupted'];
    ledger.ask(name, ...outcomes);
    await this.#succeed('PUT', name, functionOf(value), { async: 'true' });
    ledger.settle(name, ...outcomes);
  }

  async #createDataset(): Promise<void> {
    await this.#makeRoom('datasets');
    const name = this.#newName('datasets', 'd');
    await this.#put(name, 'mutable', { type: 'sparse.mutable' });
    this.#owned.datasets.push(name);
  }

  async #createProcedure(): Promise<void> {
    await this.#makeRoom('procedures');
    const name = this.#newName('procedures', 'load');
    const table = this.#newName('datasets', 't');
    await this.#put(name, `loads ${idOf(table)}`, {
      type: 'import.text',
      params: { dataFileUrl: this.#fileUrl(500), outputDataset: idOf(table) },
    });
    this.#owned.procedures.push(name);
  }

  /** Runs a procedure; its output takes the place of that of its last run. */
  async #import(): Promise<void> {
    const { ledger } = this.#options;
    const procedure = this.#pick(this.#owned.procedures);
    if (procedure === undefined) return this.#createProcedure();
    const table = tableOf(procedure);
    // Another file than last time, so that the old output and the new one can be told apart.
    const others = FILE_ROW_COUNTS.filter((n) => !ledger.isPossible(table, `import ${n}`));
    const rowCount = this.#pick(others) as number;
    const run = `${procedure}/runs/r${++lastNumber}_${rowCount}`;
    if (!this.#owned.datasets.includes(table)) await this.#makeRoom('datasets');
    ledger.ask(run, 'finished', 'interrupted');
    ledger.ask(table, `import ${rowCount}`);
    await this.#succeed('PUT', run, { params: { dataFileUrl: this.#fileUrl(rowCount) } });
    ledger.settle(run, 'finished');
    ledger.settle(table, `import ${rowCount}`);
    if (!this.#owned.datasets.includes(table)) this.#owned.datasets.push(table);
  }

  async #createPlugin(): Promise<void> {
    await this.#makeRoom('plugins');
    const name = this.#newName('plugins', 'p');
    const value = ++lastNumber;
    const main = `plugin.setRequestHandler(() => ({ value: ${value} }));`;
    await this.#put(name, `value ${value}`, {
      type: 'javascript',
      params: { source: { main } },
    });
    this.#owned.plugins.push(name);
  }

  #delete(): Promise<void> {
    const collections = ['functions', 'datasets', 'procedures', 'plugins'] as const;
    return this.#deleteFrom(this.#pick(collections) as Collection);
  }

  async #makeRoom(collection: Collection): Promise<void> {
    while (this.#owned[collection].length >= COUNT_MAX[collection]) {
      await this.#deleteFrom(collection);
    }
  }

  async #deleteFrom(collection: Collection): Promise<void> {
    const { ledger } = this.#options;
    const owned = this.#owned[collection];
    const name = this.#pick(owned.slice(KEPT_COUNT));
    if (name === undefined) return;
    const names = [name, ...ledger.names(`${name}/runs/`)];
    for (const gone of names) ledger.ask(gone, ABSENT);
    await this.#succeed('DELETE', name);
    for (const gone of names) ledger.settle(gone, ABSENT);
    owned.splice(owned.indexOf(name), 1);
  }

  async #put(name: string, outcome: string, body: unknown): Promise<void> {
    const { ledger } = this.#options;
    if (name.startsWith('functions/') && !this.#owned.functions.includes(name)) {
      await this.#makeRoom('functions');
      this.#owned.functions.push(name);
    }
    ledger.ask(name, outcome);
    await this.#succeed('PUT', name, body);
    ledger.settle(name, outcome);
  }

  #newName(collection: Collection, letters: string): string {
    return `${collection}/w${this.#options.index}_${letters}${++lastNumber}`;
  }

  #fileUrl(rowCount: number): string {
    return pathToFileURL(fileOf(this.#options.directory, rowCount)).href;
  }

  #pick<Item>(items: readonly Item[]): Item | undefined {
    return items[Math.floor(this.#options.random() * items.length)];
  }

  async #succeed(
    verb: string,
    name: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<HttpReply> {
    const reply = await this.#client.send(verb, `/v1/${name}`, body, headers);
    if (reply.status < 300) return reply;
    throw new Error(`${verb} ${name} answered ${reply.status} ${reply.text}`);
  }
}

function functionOf(value: number): unknown {
  return {
    type: 'sql.expression',
    params: { expression: `${value} AS value`, prepared: true },
  };
}

/** The dataset that a procedure makes: created together, so numbered one after the other. */
export function tableOf(procedure: string): string {
  const [, writer, number] = /^procedures\/(w\d+)_load(\d+)$/.exec(procedure) ?? [];
  return `datasets/${writer}_t${Number(number) + 1}`;
}

function idOf(name: string): string {
  return name.slice(name.indexOf('/') + 1);
}
