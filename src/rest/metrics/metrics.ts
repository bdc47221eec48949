// What the service counts about itself, in the text format of Prometheus.
import { ENTITY_KINDS } from '../../dataset/entity-type.ts';
import { type Route, route } from '../../service/route/route.ts';
import { SERVICE_VERSION } from '../../service/route/table/general.ts';
import type { Service } from '../../service/service.ts';
import { CallMetrics, type Outcome } from './call-metrics.ts';
import type { Exposition } from './exposition.ts';
import { HttpMetrics } from './http-metrics.ts';
import { QueryMetrics } from './query-metrics.ts';
import type { Series, SeriesValue } from './tally.ts';
import { WriteMetrics } from './write-metrics.ts';

/** Datasets with a series of their own; the rows of further ones are summed. */
const DATASET_SERIES_MAX = 1000;

const OTHER = '_other';

export class Metrics {
  readonly http = new HttpMetrics();
  readonly calls = new CallMetrics();
  readonly queries = new QueryMetrics();
  readonly writes = new WriteMetrics();
  readonly route: Route;
  /** What other processes have counted that serve the same port. */
  others: () => Promise<readonly (readonly object[])[]> = async () => [];
  /** series of other parts of the program */
  readonly further: Series[] = [];
  #exposition: Exposition | undefined;

  constructor() {
    this.route = route({
      verb: 'GET',
      path: '/v1/metrics',
      summary: 'What the service counts about itself, for Prometheus',
      role: 'reader',
      reply: { description: 'text format 0.0.4', contentTypes: ['text/plain'] },
      examples: [{ path: '/v1/metrics' }],
      handle: async (_request, service) => {
        const exposition = await this.#load(service);
        const { contentType } = exposition;
        return { status: 200, contentType, text: await exposition.text(await this.others()) };
      },
    });
  }

  /** What this process has counted, as plain data. */
  async own(service: Service): Promise<object[]> {
    const exposition = await this.#load(service);
    return exposition.plain();
  }

  async #load(service: Service): Promise<Exposition> {
    const { Exposition } = await loadExposition();
    this.#exposition ??= new Exposition([
      ...this.http.series(),
      ...this.queries.series(),
      ...this.calls.series(),
      ...this.writes.series(),
      ...serviceSeries(service),
      ...this.further,
    ]);
    return this.#exposition;
  }

  observeQuery(format: string, outcome: Outcome, seconds: number): void {
    this.queries.observe(format, outcome, seconds);
  }
}

/** The library is loaded by the first scrape, and watches the process from then on. */
const loadExposition = () => import('./exposition.ts');

/** What each scrape reads from the service. */
function serviceSeries(service: Service): Series[] {
  const gauge = (name: string, help: string, values: () => SeriesValue[]): Series => {
    return { name, help, type: 'gauge', values };
  };
  return [
    gauge('rowan_build_info', 'Version of the service', () => [
      { value: 1, labels: { version: SERVICE_VERSION, node: process.versions.node } },
    ]),
    gauge('rowan_entities', 'Entities', () => entityCounts(service)),
    gauge('rowan_dataset_rows', 'Committed rows', () => datasetRows(service)),
    gauge('rowan_procedure_runs_active', 'Runs that work', () => activeRuns(service)),
    gauge('rowan_memory_bytes', 'Memory in use', () => memoryUse(service)),
    {
      name: 'rowan_query_rows_total',
      help: 'Rows in the results of queries',
      type: 'counter',
      values: () => [{ value: service.tally.queryRowCount, labels: {} }],
    },
    {
      name: 'rowan_procedure_runs_total',
      help: 'Runs that have ended',
      type: 'counter',
      values: () =>
        [...service.tally.runs()].map(({ type, state, count }) => ({
          value: count,
          labels: { type, state },
        })),
    },
  ];
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
