// Procedures as objects.
import type { Caller } from './caller.ts';
import { Entity } from './entity.ts';
import { type RunConfig, RunObject, type RunOptions } from './run.ts';

/** A procedure by its id: it is run, and its runs are followed. */
export class ProcedureObject extends Entity {
  constructor(id: string, caller: Caller) {
    super('procedures', id, caller);
  }

  /** Starts a run: await its outcome, or iterate over its events. */
  run<Results = unknown>(config: RunConfig = {}, options: RunOptions = {}): RunObject<Results> {
    return new RunObject<Results>(this.caller, this.path('/runs'), config, options);
  }

  /** The ids of its runs, sorted. */
  runIds(): Promise<string[]> {
    return this.request('GET', '/runs');
  }
}
