// Counts of queries.
import type { Outcome } from './call-metrics.ts';
import { Durations, PairMap, type Series } from './tally.ts';

const SECONDS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];
const DURATION = 'rowan_query_duration_seconds';

export class QueryMetrics {
  readonly #durations = new PairMap<Durations>();

  observe(format: string, outcome: Outcome, seconds: number): void {
    this.#durations.get(format, outcome, () => new Durations(SECONDS)).observe(seconds);
  }

  series(): Series[] {
    return [
      {
        name: 'rowan_queries_total',
        help: 'Queries',
        type: 'counter',
        values: () =>
          [...this.#durations.entries()].map(([format, outcome, { count }]) => ({
            value: count,
            labels: { format, outcome },
          })),
      },
      {
        name: DURATION,
        help: 'Time from a query to the end of its result',
        type: 'histogram',
        values: () =>
          [...this.#durations.entries()].flatMap(([format, outcome, durations]) =>
            durations.series(DURATION, { format, outcome }),
          ),
      },
    ];
  }
}
