// A result with its ways of being looked at: table, chart, plan, raw, and the call behind it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { base, messageOf, queryRows, refusalOf } from '../../state/api.ts';
import { key, keyHeaders } from '../../state/key.ts';
import type { Result } from '../../state/result.ts';
import { Button, Empty, Failure, type TabItem, Tabs, Waiting } from '../basic.tsx';
import { ChartPane } from '../chart/chart-pane.tsx';
import type { ChartSpec } from '../chart/spec.ts';
import { Code } from '../code.tsx';
import { saveFile, tell } from '../dialog.tsx';
import { Snippets } from '../snippet.tsx';
import { durationText } from '../words.ts';
import { compact } from './column-card.tsx';
import { ProfilePane } from './profile-pane.tsx';
import { ResultGrid } from './result-grid.tsx';

export const RESULT_TABS: readonly TabItem[] = [
  { id: 'table', title: 'Table' },
  { id: 'chart', title: 'Chart' },
  { id: 'plan', title: 'Plan' },
  { id: 'raw', title: 'Raw' },
  { id: 'rest', title: 'REST' },
];

interface ResultViewProps {
  readonly result: Result;
  readonly tab: string;
  readonly onTab: (tab: string) => void;
  readonly chart: ChartSpec | undefined;
  readonly onChart: (spec: ChartSpec) => void;
  readonly onRewrite?: (sql: string) => void;
  readonly onRetry?: () => void;
  readonly dataset?: string;
}

export function ResultView(props: ResultViewProps) {
  const { result, tab, onTab } = props;
  const error = result.error.value;
  const hasColumns = result.columns.value.length > 0;
  return (
    <section class="result" aria-label="Result" data-region>
      <div class="result-bar row">
        <Tabs items={RESULT_TABS} current={tab} onChange={onTab} label="Views of the result" />
        <span class="grow" />
        <Outcome result={result} />
        <ExportMenu result={result} />
      </div>
      {error !== undefined && (
        <Failure
          error={{ ...error, extra: { requestId: error.requestId } }}
          retry={props.onRetry}
        />
      )}
      <Warnings result={result} />
      {(hasColumns || tab === 'rest' || tab === 'plan') && <View {...props} />}
      {!hasColumns && error === undefined && tab !== 'rest' && tab !== 'plan' && (
        <Nothing result={result} />
      )}
    </section>
  );
}

const WARNINGS_SHOWN = 3;

function Warnings({ result }: { readonly result: Result }) {
  const warnings = result.warnings.value;
  if (warnings.length === 0) return null;
  return (
    <ul class="plain warnings" aria-label="Warnings">
      {warnings.slice(0, WARNINGS_SHOWN).map(({ message, line, column, suggestion }) => (
        <li key={`${line}:${column} ${message}`}>
          line {line}, column {column}: {message}
          {suggestion !== null && `; did you mean ${suggestion}?`}
        </li>
      ))}
      {warnings.length > WARNINGS_SHOWN && (
        <li>and {warnings.length - WARNINGS_SHOWN} more warnings</li>
      )}
    </ul>
  );
}

function Nothing({ result }: { readonly result: Result }) {
  if (result.state.value === 'running') return <Waiting words="The query runs" />;
  const text =
    result.state.value === 'cancelled' ? 'The query was cancelled.' : 'The query gave no columns.';
  return <p class="dim pad">{text}</p>;
}

function View({ result, tab, chart, onChart, onRewrite, dataset }: ResultViewProps) {
  const [visible, setVisible] = useState<readonly number[]>([]);
  const control = useRef<{ reveal?: (column: number) => void }>({});
  if (tab === 'chart') {
    return result.state.value === 'running' ? (
      <Waiting />
    ) : (
      <ChartPane result={result} given={chart} onChange={onChart} />
    );
  }
  if (tab === 'plan') return <Plan sql={result.sql} />;
  if (tab === 'raw') return <Raw result={result} />;
  if (tab === 'rest') return <Snippets call={result.shownCall} />;
  if (result.rowCount.value === 0 && result.state.value === 'done') {
    return <Empty title="No rows">The query worked; nothing matches.</Empty>;
  }
  return (
    <div class="result-body">
      <ResultGrid
        result={result}
        label="Rows"
        onRewrite={onRewrite}
        onVisible={setVisible}
        control={control.current}
        dataset={dataset}
      />
      <ProfilePane
        result={result}
        visible={visible}
        onRewrite={onRewrite}
        onReveal={(column) => control.current.reveal?.(column)}
      />
    </div>
  );
}

const SHOWN_TIME_MS = 300;

/** Rows and time; while it runs, the time so far and Cancel. */
function Outcome({ result }: { readonly result: Result }) {
  const [now, setNow] = useState(Date.now());
  const isRunning = result.state.value === 'running';
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 100);
    return () => clearInterval(timer);
  }, [isRunning, result]);
  const rows = result.rowCount.value;
  const rowWords = `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`;
  if (!isRunning) {
    const failed = rows > 0 ? ', broken off' : ', failed';
    const words = { done: '', failed, cancelled: ', cancelled', running: '' }[result.state.value];
    return (
      <span class="outcome" role="status">
        {rowWords} · {durationText(result.milliseconds.value ?? 0)}
        {words}
      </span>
    );
  }
  const elapsed = Math.max(0, now - result.startedAt);
  return (
    <span class="outcome row">
      {elapsed > SHOWN_TIME_MS && (
        <>
          {rows > 0 && `${compact(rows)} rows · `}
          {durationText(elapsed)}
          <Button icon="stop" kind="bare" onClick={() => result.cancel()}>
            Cancel
          </Button>
        </>
      )}
    </span>
  );
}

const EXPORT_FORMATS = [
  { format: 'csv', title: 'CSV', type: 'text/csv' },
  { format: 'ndjson', title: 'NDJSON', type: 'application/x-ndjson' },
  { format: 'arrow', title: 'Arrow', type: 'application/vnd.apache.arrow.stream' },
] as const;

/** Longer queries are sent in a body, which a link cannot. */
const LINKED_QUERY_LENGTH_MAX = 8000;

/**
 * A link tells nobody why the service refuses it. The answer is asked for once before, and let go
 * at its first byte. @throws what the service says
 */
async function refuseAsService(address: string): Promise<void> {
  const asked = new AbortController();
  const response = await fetch(address, { signal: asked.signal });
  if (!response.ok) throw await refusalOf(response);
  asked.abort();
}

/** All rows, not those that are shown: they go past the grid to the disk. */
function ExportMenu({ result }: { readonly result: Result }) {
  const start = async ({ format, type }: (typeof EXPORT_FORMATS)[number]) => {
    const { sql, rowNames } = result;
    try {
      if (key.value === undefined && sql.length < LINKED_QUERY_LENGTH_MAX) {
        const query = new URLSearchParams({ q: sql, format, rowNames: String(rowNames) });
        const address = `${base}/v1/query?${query}`;
        await refuseAsService(address);
        const link = document.createElement('a');
        link.href = address;
        link.download = `result.${format}`;
        link.click();
        return;
      }
      const response = await fetch(`${base}/v1/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...keyHeaders() },
        body: JSON.stringify({ q: sql, format, rowNames }),
      });
      if (!response.ok) throw await refusalOf(response);
      saveFile(`result.${format}`, await response.blob(), type);
    } catch (thrown) {
      tell(`the export broke off: ${messageOf(thrown)}`);
    }
  };
  return (
    <span class="row export">
      <span class="dim">Export</span>
      {EXPORT_FORMATS.map((each) => (
        <Button
          key={each.format}
          kind="bare"
          label={`Export all rows as ${each.title}`}
          onClick={() => void start(each)}
        >
          {each.title}
        </Button>
      ))}
    </span>
  );
}

interface PlanLine {
  readonly operator: string;
  readonly path?: string;
  readonly rows?: number | null;
  readonly milliseconds?: number | null;
  readonly bytes?: number | null;
  readonly columns?: string | null;
  readonly expressions?: string | null;
  readonly [more: string]: unknown;
}

/** Operators as a tree; measured where the service measures, estimated elsewhere. */
function Plan({ sql }: { readonly sql: string }) {
  const [lines, setLines] = useState<readonly PlanLine[]>();
  const [isMeasured, setMeasured] = useState(false);
  const [error, setError] = useState<unknown>();
  const statement = sql.replace(/^\s*explain\s+(analyze\s+)?/i, '');
  const ask = (measures: boolean) => {
    const prefix = measures ? 'EXPLAIN ANALYZE' : 'EXPLAIN';
    queryRows<PlanLine>(`${prefix} ${statement}`).then(
      (found) => {
        setLines(found);
        setMeasured(measures);
        setError(undefined);
      },
      (thrown: unknown) => setError(thrown),
    );
  };
  useEffect(() => ask(false), [statement]);
  if (error !== undefined) return <Failure error={error} retry={() => ask(false)} />;
  if (lines === undefined) return <Waiting />;
  const most = Math.max(1, ...lines.map((line) => Number(line.milliseconds ?? 0)));
  const hasTimes = lines.some((line) => typeof line.milliseconds === 'number');
  return (
    <div class="plan">
      <div class="row pad">
        <Button icon="play" onClick={() => ask(true)}>
          Run and measure
        </Button>
        <span class="dim">{isMeasured ? 'rows and times as measured' : 'rows as estimated'}</span>
      </div>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th>Operator</th>
              <th>Path</th>
              <th class="number">Rows</th>
              {hasTimes && <th class="number">ms</th>}
              {hasTimes && <th class="number">Bytes</th>}
              <th>Expressions</th>
              <th>Columns</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line, index) => {
              const depth = /^ */.exec(line.operator)?.[0].length ?? 0;
              return (
                <tr key={index}>
                  <td style={{ '--depth': depth / 2 }} class="operator">
                    {line.operator.trim()}
                  </td>
                  <td class="dim">{line.path}</td>
                  <td class="number">{line.rows?.toLocaleString('en') ?? ''}</td>
                  {hasTimes && (
                    <td
                      class="number meter"
                      style={{ '--share': Number(line.milliseconds ?? 0) / most }}
                    >
                      {Number(line.milliseconds ?? 0).toFixed(1)}
                    </td>
                  )}
                  {hasTimes && <td class="number">{line.bytes?.toLocaleString('en') ?? ''}</td>}
                  <td class="dim">{line.expressions}</td>
                  <td class="dim">{line.columns}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </div>
  );
}

const RAW_ROWS_MAX = 100;

function Raw({ result }: { readonly result: Result }) {
  const [text, setText] = useState<string>();
  const rows = Math.min(RAW_ROWS_MAX, result.rowCount.value);
  const columns = result.columns.value.map((_, index) => index).slice(0, 200);
  useEffect(() => {
    void result
      .copy({ rowFrom: 0, rowTo: rows, columns }, 'JSON')
      .then(setText, (thrown: Error) => setText(thrown.message));
  }, [result, rows]);
  if (text === undefined) return <Waiting />;
  return (
    <>
      {result.rowCount.value > RAW_ROWS_MAX && <p class="note">The first {RAW_ROWS_MAX} rows.</p>}
      <Code text={text} language="json" />
    </>
  );
}
