// The server: health, memory, rates, keys, credentials.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Failure, Shown, Tabs, useRefresh, Waiting } from '../../part/basic.tsx';
import { place, replacePlace } from '../../route.ts';
import { rowan } from '../../state/api.ts';
import { cached, may } from '../../state/catalogue.ts';
import { Credentials } from './credentials.tsx';
import { Keys } from './keys.tsx';
import { parseMetrics, type Sample, sumOf } from './metrics.ts';

const REFRESH_MS = 2000;

export function Screen() {
  const { view = 'health' } = place.value.query;
  const isAdmin = may('admin');
  const tabs = [
    { id: 'health', title: 'Health' },
    ...(isAdmin
      ? [
          { id: 'keys', title: 'Keys' },
          { id: 'credentials', title: 'Credentials' },
        ]
      : []),
  ];
  return (
    <div class="full">
      <header>
        <h1>Server</h1>
      </header>
      <Tabs
        items={tabs}
        current={view}
        label="Views of the server"
        onChange={(next) => replacePlace(['server'], { view: next })}
      />
      <div class="body">
        <div class="page">
          {view === 'health' && <Health />}
          {view === 'keys' && isAdmin && <Keys />}
          {view === 'credentials' && isAdmin && <Credentials />}
        </div>
      </div>
    </div>
  );
}

interface HealthDocument {
  readonly status: string;
  readonly version: string;
  readonly uptimeSeconds: number;
  readonly [more: string]: unknown;
}

function Health() {
  const health = cached<HealthDocument>('/v1/health');
  useRefresh('/v1/health', REFRESH_MS);
  return (
    <>
      <Shown path="/v1/health" of={health}>
        {({ status, version, uptimeSeconds, ready: _ready, ...others }) => (
          <div class="figures">
            <Figure value={status} what="state" />
            <Figure value={version} what="version" />
            <Figure value={uptimeText(uptimeSeconds)} what="up" />
            {Object.entries(others)
              .filter(([, value]) => typeof value !== 'object')
              .map(([name, value]) => (
                <Figure key={name} value={String(value)} what={name} />
              ))}
          </div>
        )}
      </Shown>
      <Metrics />
    </>
  );
}

function Figure({ value, what }: { readonly value: string; readonly what: string }) {
  return (
    <div>
      <strong>{value}</strong>
      <span>{what}</span>
    </div>
  );
}

function uptimeText(seconds: number): string {
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

interface Snapshot {
  readonly at: number;
  readonly samples: readonly Sample[];
}

function Metrics() {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [error, setError] = useState<unknown>();
  const previous = useRef<Snapshot>(undefined);
  useEffect(() => {
    const ask = async () => {
      const { status, text } = await rowan.perform('GET', '/v1/metrics');
      if (status >= 400) throw new Error(text);
      setSnapshot((before) => {
        previous.current = before;
        return { at: Date.now(), samples: parseMetrics(text) };
      });
    };
    void ask().catch(setError);
    const timer = setInterval(() => {
      if (!document.hidden) void ask().catch(setError);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  if (error !== undefined) return <Failure error={error} />;
  if (snapshot === undefined) return <Waiting />;
  const { samples } = snapshot;
  const rate = (name: string) => {
    const before = previous.current;
    if (before === undefined) return '…';
    const each =
      ((sumOf(samples, name) - sumOf(before.samples, name)) / (snapshot.at - before.at)) * 1000;
    return `${each.toFixed(each < 10 ? 1 : 0)} /s`;
  };
  const memory = samples.filter(({ name }) => name === 'rowan_memory_bytes');
  const requests = groupRequests(samples);
  return (
    <>
      <div class="figures">
        <Figure value={rate('rowan_http_requests_total')} what="requests" />
        <Figure value={rate('rowan_queries_total')} what="queries" />
        <Figure value={rate('rowan_function_calls_total')} what="function calls" />
        <Figure value={String(sumOf(samples, 'rowan_http_requests_in_flight'))} what="in flight" />
        <Figure value={String(sumOf(samples, 'rowan_procedure_runs_active'))} what="active runs" />
      </div>
      <div class="columns">
        <section class="panel">
          <h2>Memory</h2>
          <table class="facts">
            <tbody>
              {memory.map(({ labels, value }) => (
                <tr key={labels.kind}>
                  <th scope="row">{labels.kind}</th>
                  <td class="number">{(value / 2 ** 20).toFixed(1)} MiB</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <section class="panel">
          <h2>Requests by route</h2>
          <table class="facts">
            <tbody>
              {requests.map(([route, count]) => (
                <tr key={route}>
                  <th scope="row">{route}</th>
                  <td class="number">{count.toLocaleString('en')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </div>
    </>
  );
}

const ROUTES_SHOWN = 12;

function groupRequests(samples: readonly Sample[]): [route: string, count: number][] {
  const counts = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    if (name !== 'rowan_http_requests_total') continue;
    const route = `${labels.method} ${labels.route}`;
    counts.set(route, (counts.get(route) ?? 0) + value);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, ROUTES_SHOWN);
}
