// Results of queries as screens see them; the rows themselves are in the worker.
import { type Signal, signal } from '@preact/signals';
import type {
  CellText,
  ColumnProfile,
  CopyFormat,
  ErrorFacts,
  FromWorker,
  MapPoints,
  QueryWarning,
  Question,
  Range,
  ResultColumn,
  ToWorker,
} from '../worker/protocol.ts';
import { base, nextCallNumber, note } from './api.ts';
import { jsonText } from './json.ts';
import { askForKey, keyHeaders } from './key.ts';

let worker: Worker | undefined;
let resultCount = 0;
let questionCount = 0;
const results = new Map<number, Result>();
const waiting = new Map<number, { resolve(answer: unknown): void; reject(error: Error): void }>();

export type ResultState = 'running' | 'done' | 'failed' | 'cancelled';

export class Result {
  readonly id = ++resultCount;
  readonly sql: string;
  readonly rowNames: boolean;
  readonly startedAt = Date.now();
  readonly state: Signal<ResultState> = signal('running');
  readonly columns: Signal<readonly ResultColumn[]> = signal([]);
  readonly rowCount = signal(0);
  readonly milliseconds = signal<number | undefined>(undefined);
  readonly error = signal<ErrorFacts | undefined>(undefined);
  readonly requestId = signal<string | undefined>(undefined);
  readonly warnings = signal<readonly QueryWarning[]>([]);
  /** settles when the last row is there, or none will come */
  readonly done: Promise<void>;
  readonly #knownRowCount: number | undefined;
  readonly #callNumber = nextCallNumber();
  #end: () => void = () => undefined;
  #isCancelled = false;

  /** @param options.rowCount how many rows there are, where that is known */
  constructor(
    sql: string,
    {
      rowNames = false,
      rowCount,
    }: { readonly rowNames?: boolean; readonly rowCount?: number } = {},
  ) {
    this.sql = sql;
    this.rowNames = rowNames;
    this.#knownRowCount = rowCount;
    this.done = new Promise((resolve) => {
      this.#end = resolve;
    });
    results.set(this.id, this);
    this.#note(undefined, undefined);
    this.#send();
  }

  #send(): void {
    const { id: result, sql, rowNames } = this;
    const rowCount = this.#knownRowCount;
    post({ kind: 'run', result, base, headers: keyHeaders(), sql, rowNames, rowCount });
  }

  /** What the call looks like, for snippets. */
  get shownCall() {
    const body = jsonText({ q: this.sql, format: 'table', rowNames: this.rowNames });
    return { verb: 'POST', path: '/v1/query', body };
  }

  #note(status: number | undefined, milliseconds: number | undefined): void {
    const requestId = this.requestId.peek();
    note({ number: this.#callNumber, ...this.shownCall, status, milliseconds, requestId });
  }

  cancel(): void {
    this.#isCancelled = true;
    post({ kind: 'cancel', result: this.id });
  }

  /** Nobody shows it any more. */
  drop(): void {
    post({ kind: 'drop', result: this.id });
    results.delete(this.id);
    this.#end();
  }

  receive(message: FromWorker): void {
    switch (message.kind) {
      case 'reply':
        this.requestId.value = message.requestId;
        this.warnings.value = message.warnings;
        this.#note(message.status, message.milliseconds);
        break;
      case 'columns':
        this.columns.value = message.columns;
        break;
      case 'rows':
        this.rowCount.value = message.rowCount;
        break;
      case 'end':
        this.#ended('done', message);
        break;
      case 'failed':
        if (message.error.httpCode === 401 && !this.#isCancelled) void this.#withNewKey(message);
        else this.#failed(message);
    }
  }

  async #withNewKey(message: FromWorker & { kind: 'failed' }): Promise<void> {
    if (await askForKey(message.error.message)) this.#send();
    else this.#failed(message);
  }

  #failed(message: FromWorker & { kind: 'failed' }): void {
    if (!this.#isCancelled) this.error.value = message.error;
    this.#ended(this.#isCancelled ? 'cancelled' : 'failed', message);
  }

  #ended(
    state: ResultState,
    { rowCount, milliseconds }: { rowCount: number; milliseconds: number },
  ) {
    this.rowCount.value = rowCount;
    this.milliseconds.value = milliseconds;
    this.state.value = state;
    this.#end();
  }

  cells(range: Range): Promise<CellText[][]> {
    return ask(this.id, { kind: 'cells', ...range }) as Promise<CellText[][]>;
  }

  copy(range: Range, format: CopyFormat): Promise<string> {
    return ask(this.id, { kind: 'copy', format, ...range }) as Promise<string>;
  }

  value(row: number, column: number): Promise<{ text: string | null; value: unknown }> {
    return ask(this.id, { kind: 'value', row, column }) as Promise<{
      text: string | null;
      value: unknown;
    }>;
  }

  profile(column: number): Promise<ColumnProfile> {
    return ask(this.id, { kind: 'profile', column }) as Promise<ColumnProfile>;
  }

  points(x: number, y: number, colour: number | undefined): Promise<MapPoints> {
    return ask(this.id, { kind: 'points', x, y, colour }) as Promise<MapPoints>;
  }
}

/** Columns whose cells are compared as numbers. */
export function isNumeric(kind: ResultColumn['kind'] | undefined): boolean {
  return kind === 'integer' || kind === 'number';
}

function ask(result: number, question: Question): Promise<unknown> {
  const number = ++questionCount;
  return new Promise((resolve, reject) => {
    waiting.set(number, { resolve, reject });
    post({ kind: 'ask', result, number, question });
  });
}

function post(message: ToWorker): void {
  worker ??= startWorker();
  worker.postMessage(message);
}

function startWorker(): Worker {
  const script = document.querySelector<HTMLElement>('script[data-worker]');
  const url = new URL(script?.dataset.worker ?? '', `${base}/`);
  const started = new Worker(url, { type: 'module' });
  started.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.kind !== 'answer' && data.kind !== 'refused') {
      results.get(data.result)?.receive(data);
      return;
    }
    const asked = waiting.get(data.number);
    waiting.delete(data.number);
    if (data.kind === 'answer') asked?.resolve(data.answer);
    else asked?.reject(new Error(data.message));
  };
  return started;
}
