// Work split over threads. A job is a pure function of plain arguments and a unit number; results
// come back in unit order, so that they never depend on how many threads took part.

/** What a unit of work may ask of the task it belongs to. */
export interface JobContext {
  /** Throws CANCELLED when the task was cancelled; call it between chunks. */
  checkCancelled(): void;
}

export interface ParallelJob<Args, Result> {
  /** unique; the name by which another thread finds the same function */
  readonly name: string;
  /** Loads what `execute` needs; helping threads wait for it, and the caller of `run` must too. */
  prepare?(): Promise<void>;
  execute(args: Args, unitIndex: number, scope: JobContext): Result;
  /** Gives back what the result of a unit holds, because another unit failed. */
  discard?(result: Result): void;
}

export interface Parallel {
  readonly threadCount: number;
  /**
   * Executes units 0 … unitCount - 1 on this and other threads; blocks until all are done.
   * `args` and results cross threads by structured clone: bulk data belongs in shared memory.
   * @throws the first failure in unit order
   */
  run<Args, Result>(job: ParallelJob<Args, Result>, args: Args, unitCount: number): Result[];
}

const jobs = new Map<string, ParallelJob<never, unknown>>();

/** Makes a job known to every thread that loads its module. */
export function registerParallelJob<Args, Result>(
  job: ParallelJob<Args, Result>,
): ParallelJob<Args, Result> {
  jobs.set(job.name, job as ParallelJob<never, unknown>);
  return job;
}

export function findParallelJob(name: string): ParallelJob<never, unknown> | undefined {
  return jobs.get(name);
}

/** Runs every unit in the calling thread. */
export function serialParallel(scope: JobContext): Parallel {
  return {
    threadCount: 1,
    run(job, args, unitCount) {
      return executeAll(job, args, unitCount, scope);
    },
  };
}

/** Executes every unit in turn. @throws the first failure; what the others made is given back */
export function executeAll<Args, Result>(
  job: ParallelJob<Args, Result>,
  args: Args,
  unitCount: number,
  scope: JobContext,
): Result[] {
  const results: Result[] = [];
  try {
    for (let unit = 0; unit < unitCount; unit++) results.push(job.execute(args, unit, scope));
    return results;
  } catch (thrown) {
    for (const result of results) job.discard?.(result);
    throw thrown;
  }
}
