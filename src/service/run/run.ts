// One run of a procedure: its states, its progress, its events, its end.
import type { ProcedureResult } from '../../procedure/procedure-type.ts';
import { type ErrorBody, errorBody, RowanError } from '../../util/error.ts';
import { printTimestamp } from '../../value/timestamp.ts';
import { nowSeconds } from '../id.ts';

export type RunState = 'initializing' | 'executing' | 'finished' | 'error' | 'cancelled';

export interface RunEvent {
  /** counts from 1 */
  readonly id: number;
  readonly event: 'state' | 'progress' | 'log' | 'result' | 'shutdown';
  readonly data: unknown;
}

/** A run as the store keeps it. */
export interface RunRecord {
  readonly id: string;
  readonly state: RunState;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly sequence: number;
  readonly result: unknown;
  readonly details: unknown;
  readonly progress: unknown;
  readonly error: ErrorBody | undefined;
}

/** A message of a run, as details show it. */
export interface RunLogEntry {
  /** ISO 8601 */
  readonly ts: string;
  readonly s: 'logs' | 'log';
  /** the message and a newline */
  readonly c: string;
}

const EVENTS_KEPT_MAX = 1000;
/** What details keep of the messages of a run; events tell of all of them. */
const LOG_LENGTH_MAX = 1 << 20;
const PROGRESS_INTERVAL_SECONDS = 0.1;

export class Run {
  readonly id: string;
  readonly procedureId: string;
  /** the order in which runs were created */
  readonly sequence: number;
  readonly abort = new AbortController();
  /** settles when the store knows that the run was asked for */
  known: Promise<void> = Promise.resolve();
  /** settles when the run has ended; never rejects */
  done: Promise<void> = Promise.resolve();
  #state: RunState = 'initializing';
  #startedAt: number | undefined;
  #endedAt: number | undefined;
  #progress: unknown;
  #outcome: ProcedureResult = {};
  #error: unknown;
  #events: RunEvent[] = [];
  #nextEventId = 1;
  #progressSentAt = Number.NEGATIVE_INFINITY;
  readonly #logs: RunLogEntry[] = [];
  #logLength = 0;
  readonly #listeners = new Set<() => void>();

  constructor(id: string, procedureId: string, sequence: number) {
    this.id = id;
    this.procedureId = procedureId;
    this.sequence = sequence;
  }

  static restore(record: RunRecord, procedureId: string): Run {
    const run = new Run(record.id, procedureId, record.sequence);
    run.#state = record.state;
    run.#startedAt = record.startedAt;
    run.#endedAt = record.endedAt;
    run.#progress = record.progress;
    run.#outcome = { result: record.result, details: record.details };
    run.#error = record.error === undefined ? undefined : RowanError.fromBody(record.error);
    return run;
  }

  record(): RunRecord {
    return {
      id: this.id,
      state: this.#state,
      startedAt: this.#startedAt,
      endedAt: this.#endedAt,
      sequence: this.sequence,
      result: this.#outcome.result,
      details: this.#outcome.details,
      progress: this.isActive ? undefined : this.#progress,
      error: this.#error === undefined ? undefined : errorBody(this.#error),
    };
  }

  get state(): RunState {
    return this.#state;
  }

  get isActive(): boolean {
    return this.#state === 'initializing' || this.#state === 'executing';
  }

  get startedAt(): number | undefined {
    return this.#startedAt;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  get error(): unknown {
    return this.#error;
  }

  get details(): unknown {
    return this.#outcome.details ?? null;
  }

  get outcome(): ProcedureResult {
    return this.#outcome;
  }

  start(): void {
    this.#startedAt = nowSeconds();
    this.#emit('state', { id: this.id, state: this.#state });
  }

  report(progress: unknown): void {
    if (!this.isActive) return;
    this.#progress = progress;
    if (this.#state === 'initializing') this.#enter('executing');
    const now = performance.now() / 1000;
    if (now - this.#progressSentAt < PROGRESS_INTERVAL_SECONDS) return;
    this.#progressSentAt = now;
    this.#emit('progress', progress);
  }

  /** A message of the run, for those who follow it and for its details. */
  log(message: string, stream: RunLogEntry['s'] = 'log'): void {
    const ts = printTimestamp(nowSeconds());
    this.#emit('log', { ts, level: 'info', message });
    this.#logLength += message.length;
    if (this.#logLength > LOG_LENGTH_MAX) return;
    this.#logs.push({ ts, s: stream, c: `${message}\n` });
  }

  finish(outcome: ProcedureResult): void {
    this.#outcome = { ...outcome, details: withLogs(outcome.details, this.#logs) };
    this.#end('finished');
  }

  fail(error: unknown): void {
    this.#error = error;
    this.#end('error');
  }

  cancelled(): void {
    this.#end('cancelled');
  }

  #end(state: RunState): void {
    this.#endedAt = nowSeconds();
    this.#enter(state);
    this.#emit('result', this.document());
  }

  #enter(state: RunState): void {
    this.#state = state;
    this.#emit('state', { id: this.id, state });
  }

  /** The run document; members without content are left out. */
  document(): Record<string, unknown> {
    const { result } = this.#outcome;
    const hasProgress = this.#progress !== undefined && this.#state !== 'finished';
    const progress =
      this.#state === 'error'
        ? { ...asObject(this.#progress), exception: errorBody(this.#error) }
        : hasProgress
          ? this.#progress
          : undefined;
    return {
      id: this.id,
      state: this.#state,
      ...(this.#startedAt === undefined ? {} : { runStarted: printTimestamp(this.#startedAt) }),
      ...(this.#endedAt === undefined ? {} : { runFinished: printTimestamp(this.#endedAt) }),
      ...(this.#state === 'finished' && result !== undefined && result !== null
        ? { status: result }
        : {}),
      ...(progress === undefined ? {} : { progress }),
    };
  }

  get progress(): unknown {
    return this.#progress;
  }

  /** Tells listeners that the service stops. */
  announceShutdown(): void {
    this.#emit('shutdown', {});
  }

  #emit(event: RunEvent['event'], data: unknown): void {
    this.#events.push({ id: this.#nextEventId++, event, data });
    if (this.#events.length > EVENTS_KEPT_MAX) this.#dropOldest();
    for (const notify of this.#listeners) notify();
  }

  /** Progress is given up before states and the result are. */
  #dropOldest(): void {
    const index = this.#events.findIndex(({ event }) => event === 'progress');
    this.#events.splice(index === -1 ? 0 : index, 1);
  }

  /** Events after the given number; ends after the result. */
  async *events(after: number, signal: AbortSignal): AsyncGenerator<RunEvent | 'idle'> {
    let last = after;
    if (!this.isActive && this.#events.length === 0) {
      yield { id: 1, event: 'state', data: { id: this.id, state: this.#state } };
      yield { id: 2, event: 'result', data: this.document() };
      return;
    }
    while (!signal.aborted) {
      const next = this.#events.filter(({ id }) => id > last);
      // A slow reader gets the latest progress only.
      const lastProgress = next.findLast(({ event }) => event === 'progress')?.id;
      for (const event of next) {
        last = event.id;
        if (event.event === 'progress' && event.id !== lastProgress) continue;
        yield event;
        if (event.event === 'result' || event.event === 'shutdown') return;
      }
      if (next.length === 0 && !this.isActive) return;
      if (next.length === 0 && !(await this.#nextEvent(signal))) yield 'idle';
    }
  }

  /** @returns false when nothing happened for 15 seconds */
  #nextEvent(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (happened: boolean) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', notify);
        this.#listeners.delete(notify);
        resolve(happened);
      };
      const notify = () => settle(true);
      const timer = setTimeout(() => settle(false), 15_000);
      this.#listeners.add(notify);
      signal.addEventListener('abort', notify, { once: true });
    });
  }
}

/** Details with the messages of the run, unless they have logs of their own. */
function withLogs(details: unknown, logs: readonly RunLogEntry[]): unknown {
  if (logs.length === 0) return details;
  if (details === undefined || details === null) return { logs };
  const isPlain = typeof details === 'object' && !Array.isArray(details);
  return isPlain && !('logs' in details) ? { ...details, logs } : details;
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
