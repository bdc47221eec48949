// The text that Prometheus reads.
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client';
import type { Series } from './tally.ts';

export class Exposition {
  readonly #registry = new Registry();

  /** @param series computed for each text; what the process itself says is added to them */
  constructor(series: readonly Series[]) {
    for (const { name, help, type, values } of series) {
      const fixed = { name, help, type, aggregator: 'sum' };
      const metric = { ...fixed, get: async () => ({ ...fixed, values: values() }), reset() {} };
      this.#registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
    }
    collectDefaultMetrics({ register: this.#registry });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** @param others what further processes have counted that serve the same port */
  async text(others: readonly (readonly object[])[] = []): Promise<string> {
    if (others.length === 0) return this.#registry.metrics();
    const counts = others.map((metrics) => (metrics as readonly Metric[]).filter(isAdded));
    return AggregatorRegistry.aggregate([await this.plain(), ...counts]).metrics();
  }

  /** The same as plain data. */
  plain(): Promise<object[]> {
    return this.#registry.getMetricsAsJSON();
  }
}

interface Metric {
  readonly name: string;
  readonly type: string;
}

/** States that processes have together; all others are those of the process that is asked. */
const ADDED_STATES = new Set(['rowan_http_requests_in_flight', 'rowan_memory_bytes']);

function isAdded({ name, type }: Metric): boolean {
  if (ADDED_STATES.has(name)) return true;
  const isCount = type === 'counter' || type === 'histogram';
  return isCount && (name.startsWith('rowan_') || name.startsWith('process_cpu_'));
}
