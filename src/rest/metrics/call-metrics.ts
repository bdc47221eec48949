// Counts of calls of functions over routes.
import { Durations, PairMap, type Series, type SeriesValue } from './tally.ts';

export type Outcome = 'ok' | 'error' | 'cancelled';

/** Functions with a series of their own; further ones count together. */
const FUNCTION_SERIES_MAX = 1000;
const OTHER = '_other';

const SECONDS = [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const DURATION = 'rowan_function_call_duration_seconds';

type Counts = Record<Outcome, number>;

export class CallMetrics {
  readonly #counts = new PairMap<Counts>();
  readonly #durations = new Map<string, Durations>();

  /** @param route `application` or `batch` */
  observe(name: string, route: string, outcome: Outcome, seconds: number): void {
    const durations = this.#durations.get(name) ?? this.#add(name);
    durations.observe(seconds);
    const label = this.#durations.has(name) ? name : OTHER;
    this.#counts.get(label, route, makeCounts)[outcome]++;
  }

  /** Ends the series of a function that is gone, so that there is room for those of others. */
  forget(name: string): void {
    this.#durations.delete(name);
    this.#counts.delete(name);
  }

  series(): Series[] {
    return [
      {
        name: 'rowan_function_calls_total',
        help: 'Calls of functions over routes',
        type: 'counter',
        values: () => this.#callCounts(),
      },
      {
        name: DURATION,
        help: 'Time of a call of a function over a route',
        type: 'histogram',
        values: () =>
          [...this.#durations].flatMap(([name, durations]) =>
            durations.series(DURATION, { function: name }),
          ),
      },
    ];
  }

  #add(name: string): Durations {
    const label = this.#durations.size < FUNCTION_SERIES_MAX ? name : OTHER;
    const durations = this.#durations.get(label) ?? new Durations(SECONDS);
    this.#durations.set(label, durations);
    return durations;
  }

  #callCounts(): SeriesValue[] {
    const values: SeriesValue[] = [];
    for (const [name, route, counts] of this.#counts.entries()) {
      for (const [outcome, value] of Object.entries(counts)) {
        if (value > 0) values.push({ value, labels: { function: name, route, outcome } });
      }
    }
    return values;
  }
}

function makeCounts(): Counts {
  return { ok: 0, error: 0, cancelled: 0 };
}
