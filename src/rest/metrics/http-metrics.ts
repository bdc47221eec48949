// Counts of requests by route.
import { Durations, PairMap, type Series, type SeriesValue } from './tally.ts';

const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
];
const DURATION = 'rowan_http_request_duration_seconds';

interface RouteTally {
  readonly codes: Map<number, number>;
  readonly durations: Durations;
}

export class HttpMetrics {
  readonly #tallies = new PairMap<RouteTally>();
  inFlightCount = 0;

  observe(method: string, route: string, code: number, seconds: number): void {
    const { codes, durations } = this.#tallies.get(route, method, makeTally);
    codes.set(code, (codes.get(code) ?? 0) + 1);
    durations.observe(seconds);
  }

  series(): Series[] {
    return [
      {
        name: 'rowan_http_requests_total',
        help: 'Requests answered',
        type: 'counter',
        values: () => this.#requestCounts(),
      },
      {
        name: DURATION,
        help: 'Time from the head of a request to the end of its reply',
        type: 'histogram',
        values: () =>
          [...this.#tallies.entries()].flatMap(([route, method, { durations }]) =>
            durations.series(DURATION, { method, route }),
          ),
      },
      {
        name: 'rowan_http_requests_in_flight',
        help: 'Requests being answered',
        type: 'gauge',
        values: () => [{ value: this.inFlightCount, labels: {} }],
      },
    ];
  }

  #requestCounts(): SeriesValue[] {
    const values: SeriesValue[] = [];
    for (const [route, method, { codes }] of this.#tallies.entries()) {
      for (const [code, value] of codes) values.push({ value, labels: { method, route, code } });
    }
    return values;
  }
}

function makeTally(): RouteTally {
  return { codes: new Map(), durations: new Durations(SECONDS) };
}
