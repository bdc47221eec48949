// Counts of requests, kept as plain numbers while serving and put into the exposition's form when
// somebody asks: a labelled observation would cost more than the rest of a small request.
import type { Registry } from 'prom-client';

const BUCKETS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60,
];

interface RouteTally {
  readonly method: string;
  readonly route: string;
  readonly codes: Map<number, number>;
  /** observations by bucket, not cumulative; the last holds those beyond all bounds */
  readonly buckets: Float64Array;
  sum: number;
  count: number;
}

export class HttpMetrics {
  readonly #tallies = new Map<string, Map<string, RouteTally>>();
  inFlightCount = 0;

  observe(method: string, route: string, code: number, seconds: number): void {
    let byMethod = this.#tallies.get(route);
    if (byMethod === undefined) {
      byMethod = new Map();
      this.#tallies.set(route, byMethod);
    }
    let tally = byMethod.get(method);
    if (tally === undefined) {
      tally = {
        ...{ method, route, codes: new Map(), sum: 0, count: 0 },
        buckets: new Float64Array(BUCKETS.length + 1),
      };
      byMethod.set(method, tally);
    }
    tally.codes.set(code, (tally.codes.get(code) ?? 0) + 1);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++;
    tally.buckets[bucket] = (tally.buckets[bucket] as number) + 1;
    tally.sum += seconds;
    tally.count++;
  }

  register(registry: Registry): void {
    registerSeries(registry, {
      name: 'rowan_http_requests_total',
      help: 'Requests answered',
      type: 'counter',
      values: () => this.#requestCounts(),
    });
    registerSeries(registry, {
      name: 'rowan_http_request_duration_seconds',
      help: 'Time from the head of a request to the end of its reply',
      type: 'histogram',
      values: () => this.#durations(),
    });
    registerSeries(registry, {
      name: 'rowan_http_requests_in_flight',
      help: 'Requests being answered',
      type: 'gauge',
      values: () => [{ value: this.inFlightCount, labels: {} }],
    });
  }

  *#all(): Iterable<RouteTally> {
    for (const byMethod of this.#tallies.values()) yield* byMethod.values();
  }

  #requestCounts(): SeriesValue[] {
    const values: SeriesValue[] = [];
    for (const { method, route, codes } of this.#all()) {
      for (const [code, value] of codes) values.push({ value, labels: { method, route, code } });
    }
    return values;
  }

  #durations(): SeriesValue[] {
    const values: SeriesValue[] = [];
    const name = 'rowan_http_request_duration_seconds';
    for (const { method, route, buckets, sum, count } of this.#all()) {
      let cumulative = 0;
      for (const [index, bound] of [...BUCKETS, '+Inf'].entries()) {
        cumulative += buckets[index] as number;
        const labels = { le: bound, method, route };
        values.push({ metricName: `${name}_bucket`, value: cumulative, labels });
      }
      values.push({ metricName: `${name}_sum`, value: sum, labels: { method, route } });
      values.push({ metricName: `${name}_count`, value: count, labels: { method, route } });
    }
    return values;
  }
}

export interface SeriesValue {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

interface Series {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  values(): SeriesValue[];
}

/** Registers a metric whose values are computed when they are asked for. */
export function registerSeries(registry: Registry, { name, help, type, values }: Series): void {
  const metric = {
    ...{ name, help, type, aggregator: 'sum' },
    get: async () => ({ ...{ name, help, type, aggregator: 'sum' }, values: values() }),
    reset() {},
  };
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
}
