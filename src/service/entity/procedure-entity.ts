// A procedure in service, with its runs.
import type {
  ProcedureParams,
  ProcedureResult,
  ProcedureType,
} from '../../procedure/procedure-type.ts';
import { parseMerged } from '../../schema/parse.ts';
import { failure } from '../../util/error.ts';
import { automaticRunId, checkId, nowSeconds } from '../id.ts';
import type { Role } from '../route/request.ts';
import { isCancellation } from '../run/cancellation.ts';
import { Run } from '../run/run.ts';
import type { LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';
import {
  entityBusy,
  entityNotObtained,
  entityUnavailable,
  runDeleted,
  runMissing,
} from './entity-error.ts';

/** What a run gives. */
export interface RunOutcome {
  readonly result: ProcedureResult;
  /** Registers everything that it made, at once; resolves when that is durable. */
  register(): Promise<void>;
}

/** What procedures need from the service. */
export interface ProcedureHost {
  /** Does the work of a run; nothing that it made is registered yet. */
  execute(
    procedure: ProcedureEntity,
    run: Run,
    params: ProcedureParams,
    overrides: ProcedureParams,
  ): Promise<RunOutcome>;
  /** What begins to be saved while `work` runs is durable as a whole or not at all. */
  together<Result>(work: () => Result): Result;
  saveRun(procedure: ProcedureEntity, run: Run): Promise<void>;
  forgetRun(procedure: ProcedureEntity, run: Run): Promise<void>;
  onRunEnd(procedure: ProcedureEntity, run: Run): void;
}

export interface ProcedureOptions {
  readonly id: string;
  readonly config: EntityConfig;
  readonly type: ProcedureType;
  /** parsed parameters, the references to steps resolved */
  readonly resolved: ProcedureParams;
  readonly creatorRole: Role;
}

export class ProcedureEntity implements LiveEntity {
  readonly id: string;
  readonly config: EntityConfig;
  readonly procedureType: ProcedureType;
  readonly resolved: ProcedureParams;
  readonly creatorRole: Role;
  readonly #host: ProcedureHost;
  readonly #runs = new Map<string, Run>();
  #nextSequence = 1;
  #isDisposed = false;

  constructor(options: ProcedureOptions, host: ProcedureHost) {
    this.id = options.id;
    this.config = options.config;
    this.procedureType = options.type;
    this.resolved = options.resolved;
    this.creatorRole = options.creatorRole;
    this.#host = host;
  }

  get type(): string {
    return this.config.type ?? this.procedureType.name;
  }

  status(): unknown {
    return undefined;
  }

  runIds(): string[] {
    return [...this.#runs.keys()].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }

  runs(): Iterable<Run> {
    return this.#runs.values();
  }

  /** @throws RUN_NOT_FOUND */
  run(id: string): Run {
    const run = this.#runs.get(id);
    if (run !== undefined) return run;
    throw runMissing(id);
  }

  /** The run for a sub-route of it. @throws RUN_NOT_FOUND */
  runFor(id: string): Run {
    const run = this.#runs.get(id);
    if (run !== undefined) return run;
    throw runDeleted(id);
  }

  /** The run started last. @throws RUN_NOT_FOUND when there is none */
  latestRun(): Run {
    let latest: Run | undefined;
    for (const run of this.#runs.values()) {
      if (run.startedAt === undefined) continue;
      if (latest === undefined || isLater(run, latest)) latest = run;
    }
    if (latest === undefined) throw failure('RUN_NOT_FOUND', { form: 'none' });
    return latest;
  }

  /** The most recently started run that still works. */
  activeRun(): Run | undefined {
    let latest: Run | undefined;
    for (const run of this.#runs.values()) {
      if (run.isActive && (latest === undefined || isLater(run, latest))) latest = run;
    }
    return latest;
  }

  /**
   * Starts a run. @returns it at once; `done` settles when it has ended
   * @throws ENTITY_BUSY while a run of that id works; what is wrong with the parameters
   */
  startRun(id: string | undefined, overrides: ProcedureParams): Run {
    const runId = id ?? automaticRunId(nowSeconds());
    checkId(runId);
    const known = this.#runs.get(runId);
    if (known?.isActive === true) {
      throw entityBusy('run', runId);
    }
    const run = new Run(runId, this.id, this.#nextSequence++);
    this.#runs.set(runId, run);
    run.start();
    // A caller that waits for the end of the run need not wait for this save: the end is saved later.
    run.known = this.#host.saveRun(this, run);
    run.known.catch(() => undefined);
    run.done = this.#execute(run, overrides);
    return run;
  }

  /**
   * Waits for the end of a run.
   * @throws its failure, or CANCELLED
   */
  async finished(run: Run): Promise<void> {
    await run.done;
    if (run.state === 'error') throw run.error;
    if (run.state === 'cancelled') throw entityNotObtained('run', run.id);
  }

  /** Runs without an entry among the runs. */
  async runDetached(
    overrides: ProcedureParams,
    signal: AbortSignal,
    onProgress?: (document: unknown) => void,
  ): Promise<ProcedureResult> {
    const run = new DetachedRun(this.id, onProgress);
    const abort = () => run.abort.abort();
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    try {
      const params = this.runParams(overrides);
      const { result, register } = await this.#host.execute(this, run, params, overrides);
      await this.#host.together(register);
      return result;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /** The parameters of a run: those of the procedure with the run's merged over them. */
  runParams(overrides: ProcedureParams): ProcedureParams {
    const type = this.procedureType;
    const own = type.execution === 'service' && type.passesOverrides === true ? {} : overrides;
    const params = parseMerged(type.parameters, this.resolved, own, 'params');
    type.check?.(params);
    return params;
  }

  async #execute(run: Run, overrides: ProcedureParams): Promise<void> {
    try {
      const params = this.runParams(overrides);
      const { result, register } = await this.#host.execute(this, run, params, overrides);
      // The results and the state `finished` become visible together.
      await this.#host.together(() => {
        run.finish(result);
        return Promise.all([register(), this.#saveEnd(run)]);
      });
    } catch (thrown) {
      if (run.abort.signal.aborted && isCancellation(thrown)) run.cancelled();
      else run.fail(thrown);
      await this.#saveEnd(run).catch((error: unknown) => run.fail(error));
    }
    this.#host.onRunEnd(this, run);
  }

  /** What is replaced or removed by now stays so. */
  async #saveEnd(run: Run): Promise<void> {
    if (this.#isDisposed || this.#runs.get(run.id) !== run) return;
    await this.#host.saveRun(this, run);
  }

  /** @throws ENTITY_NOT_FOUND as sub-routes do while the run has not finished */
  details(id: string): unknown {
    const run = this.runFor(id);
    if (run.state === 'finished') return run.details;
    throw entityUnavailable('run', id, run.state, run.document().progress);
  }

  /** Removes a run; a working one is cancelled first. */
  async deleteRun(id: string): Promise<void> {
    const run = this.#runs.get(id);
    if (run === undefined) return;
    run.abort.abort();
    await run.done;
    if (this.#runs.get(id) === run) this.#runs.delete(id);
    await this.#host.forgetRun(this, run);
  }

  /** Takes runs from the store again, after a restart. */
  restoreRun(run: Run): void {
    this.#runs.set(run.id, run);
    this.#nextSequence = Math.max(this.#nextSequence, run.sequence + 1);
  }

  /** Cancels what works and waits until it has stopped. */
  async stopRuns(): Promise<void> {
    const active = [...this.#runs.values()].filter((run) => run.isActive);
    for (const run of active) run.abort.abort();
    await Promise.all(active.map((run) => run.done));
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const run of this.#runs.values()) run.abort.abort();
  }
}

/** A run that nobody can look at: of a step, or of a script's procedure object. */
class DetachedRun extends Run {
  readonly #onProgress: ((document: unknown) => void) | undefined;

  constructor(procedureId: string, onProgress: ((document: unknown) => void) | undefined) {
    super(automaticRunId(nowSeconds()), procedureId, 0);
    this.#onProgress = onProgress;
    this.start();
  }

  override report(progress: unknown): void {
    super.report(progress);
    this.#onProgress?.(progress);
  }
}

function isLater(a: Run, b: Run): boolean {
  const difference = (a.startedAt ?? 0) - (b.startedAt ?? 0);
  return difference > 0 || (difference === 0 && a.sequence > b.sequence);
}
