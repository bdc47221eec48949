// What the service counts of its own work, for whoever asks.
import type { RunState } from './run/run.ts';

export class ServiceTally {
  /** rows in the results of queries */
  queryRowCount = 0;
  readonly #runs = new Map<string, Map<RunState, number>>();

  countRun(type: string, state: RunState): void {
    const states = this.#runs.get(type) ?? new Map<RunState, number>();
    states.set(state, (states.get(state) ?? 0) + 1);
    this.#runs.set(type, states);
  }

  /** runs that have ended, by type and how they did */
  *runs(): Iterable<{ readonly type: string; readonly state: RunState; readonly count: number }> {
    for (const [type, states] of this.#runs) {
      for (const [state, count] of states) yield { type, state, count };
    }
  }
}
