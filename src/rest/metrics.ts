// What the service counts about itself, in the text format of Prometheus.
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { ENTITY_KINDS } from '../dataset/entity-type.ts';
import { type Route, route } from '../service/route.ts';
import { SERVICE_VERSION } from '../service/routes/general.ts';
import type { Service } from '../service/service.ts';
import { CallMetrics, type Outcome } from './call-metrics.ts';
import { HttpMetrics } from './http-metrics.ts';
import { registerSeries, type SeriesValue } from './tally.ts';

/** Datasets with a series of their own; the rows of further ones are summed. */
const DATASET_SERIES_MAX = 1000;

const OTHER = '_other';
const SECONDS = [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60, 600];

export class Metrics {
  readonly http = new HttpMetrics();
  readonly calls = new CallMetrics();
  readonly route: Route;
  readonly #registry = new Registry();
  readonly #queries: Counter;
  readonly #queryDuration: Histogram;

  constructor() {
    const registers = [this.#registry];
    this.http.register(this.#registry);
    this.#queries = new Counter({
      ...{ name: 'rowan_queries_total', help: 'Queries', labelNames: ['format', 'outcome'] },
      registers,
    });
    this.#queryDuration = new Histogram({
      name: 'rowan_query_duration_seconds',
      help: 'Time from a query to the end of its result',
      labelNames: ['format', 'outcome'],
      ...{ buckets: SECONDS, registers },
    });
    this.calls.register(this.#registry);
    collectDefaultMetrics({ register: this.#registry });
    this.route = route({
      verb: 'GET',
      path: '/v1/metrics',
      summary: 'What the service counts about itself, for Prometheus',
      role: 'reader',
      reply: { description: 'text format 0.0.4' },
      examples: [{ path: '/v1/metrics' }],
      handle: async () => ({
        status: 200,
        contentType: this.#registry.contentType,
        text: await this.#registry.metrics(),
      }),
    });
  }

  observeQuery(format: string, outcome: Outcome, seconds: number): void {
    this.#queries.inc({ format, outcome });
    this.#queryDuration.observe({ format, outcome }, seconds);
  }

  /** Adds what is read from the service when somebody asks. */
  observe(service: Service): void {
    const gauge = (name: string, help: string, values: () => SeriesValue[]) =>
      registerSeries(this.#registry, { name, help, type: 'gauge', values });
    gauge('rowan_build_info', 'Version of the service', () => [
      { value: 1, labels: { version: SERVICE_VERSION, node: process.versions.node } },
    ]);
    gauge('rowan_entities', 'Entities', () => entityCounts(service));
    gauge('rowan_dataset_rows', 'Committed rows', () => datasetRows(service));
    gauge('rowan_procedure_runs_active', 'Runs that work', () => activeRuns(service));
    gauge('rowan_memory_bytes', 'Memory in use', () => memoryUse(service));
  }
}

function entityCounts(service: Service): SeriesValue[] {
  return ENTITY_KINDS.flatMap((kind) =>
    [...service.collection(kind).stateCounts()].map(([state, value]) => ({
      value,
      labels: { kind, state },
    })),
  );
}

function datasetRows(service: Service): SeriesValue[] {
  const values: SeriesValue[] = [];
  let others = 0;
  for (const dataset of service.datasets.live()) {
    const { rowCount } = (dataset.status() ?? {}) as { readonly rowCount?: number };
    if (rowCount === undefined) continue;
    if (values.length < DATASET_SERIES_MAX) {
      values.push({ value: rowCount, labels: { dataset: dataset.id } });
    } else others += rowCount;
  }
  if (others > 0) values.push({ value: others, labels: { dataset: OTHER } });
  return values;
}

function activeRuns(service: Service): SeriesValue[] {
  const counts = new Map<string, number>();
  for (const procedure of service.procedures.live()) {
    for (const run of procedure.runs()) {
      if (run.isActive) counts.set(procedure.type, (counts.get(procedure.type) ?? 0) + 1);
    }
  }
  return [...counts].map(([type, value]) => ({ value, labels: { type } }));
}

function memoryUse(service: Service): SeriesValue[] {
  const { rss, heapUsed } = process.memoryUsage();
  const kinds = { columns: service.engine.arenas.usedBytes, heap: heapUsed, rss };
  return Object.entries(kinds).map(([kind, value]) => ({ value, labels: { kind } }));
}
