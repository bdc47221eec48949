// The text that Prometheus reads.
import { setImmediate } from 'node:timers/promises';
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
    if (others.length === 0) return textOf(this.#registry);
    const counts = others.map((metrics) => (metrics as readonly Metric[]).filter(isAdded));
    return textOf(AggregatorRegistry.aggregate([await this.plain(), ...counts]));
  }

  /** The same as plain data. */
  plain(): Promise<object[]> {
    return this.#registry.getMetricsAsJSON();
  }
}

/** Lines that are written in one go, which takes about a millisecond. */
const LINE_COUNT_AT_ONCE = 200;

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

interface MetricState {
  readonly name: string;
  readonly values: readonly unknown[];
}

/** As the registry writes it, letting others go on in between: there may be thousands of lines. */
async function textOf(registry: Registry): Promise<string> {
  let text = '';
  for (const metric of registry.getMetricsAsArray()) {
    const state: MetricState = await (metric as unknown as { get(): Promise<MetricState> }).get();
    for (let start = 0; start === 0 || start < state.values.length; start += LINE_COUNT_AT_ONCE) {
      const values = state.values.slice(start, start + LINE_COUNT_AT_ONCE);
      const lines = await linesOf({ ...state, values });
      // What the metric is stands above its first line only.
      const shown = start === 0 ? lines : lines.filter((line) => !line.startsWith('#'));
      text += `${shown.join('\n')}\n`;
      await setImmediate();
    }
    text += '\n';
  }
  return text.trimEnd().concat('\n');
}

async function linesOf(state: MetricState): Promise<string[]> {
  const registry = new Registry();
  const metric = { ...state, get: async () => state, reset() {} };
  registry.registerMetric(metric as unknown as Parameters<Registry['registerMetric']>[0]);
  return (await registry.getSingleMetricAsString(state.name)).split('\n');
}
