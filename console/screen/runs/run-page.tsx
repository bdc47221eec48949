// One run while it works and after: steps, rates, messages, results, and what can be done next.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Failure, State, Waiting } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { localTime } from '../../part/words.ts';
import { go, href } from '../../route.ts';
import { call, entityPath, messageOf } from '../../state/api.ts';
import {
  cached,
  change,
  type EntityDocument,
  invalidate,
  may,
  type RunProgress,
} from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import {
  cancelRun,
  followRun,
  isActive,
  type RunLogLine,
  type RunState,
  runPath,
  shareDone,
  startRun,
} from '../../state/runs.ts';
import { NextSteps } from './next-steps.tsx';
import { RunDialog } from './procedure-page.tsx';
import { duration } from './time.ts';

const LOG_LINES_MAX = 2000;

export function RunPage({ procedure, run }: { readonly procedure: string; readonly run: string }) {
  const [state, setState] = useState<RunState>();
  const [logs, setLogs] = useState<readonly RunLogLine[]>([]);
  const [error, setError] = useState<unknown>();
  const [isChanging, setChanging] = useState(false);
  const document = cached<EntityDocument>(entityPath('procedures', procedure)).value;

  useEffect(() => {
    const abort = new AbortController();
    const follow = async () => {
      setState(await call<RunState>('GET', runPath(procedure, run), { isSilent: true }));
      await followRun(
        procedure,
        run,
        {
          onState: (news) => setState((known) => ({ ...(known as RunState), ...news })),
          onLog: (line) => setLogs((known) => [...known, line].slice(-LOG_LINES_MAX)),
        },
        abort.signal,
      );
    };
    follow().catch((thrown: unknown) => {
      if (!abort.signal.aborted) setError(thrown);
    });
    return () => abort.abort();
  }, [procedure, run]);

  const again = async (params: Readonly<Record<string, unknown>> = {}) => {
    try {
      go(['runs', procedure, await startRun(procedure, params)]);
    } catch (thrown) {
      setError(thrown);
    }
  };
  const remove = async () => {
    try {
      await change('DELETE', runPath(procedure, run));
      invalidate('/v1/runs');
      go(['runs', procedure]);
    } catch (thrown) {
      setError(thrown);
    }
  };
  const exception = state?.progress?.exception;
  return (
    <div class="page">
      <header>
        <h1>
          <a href={href(['runs', procedure])}>{procedure}</a>
        </h1>
        <span class="dim">{document?.config?.type}</span>
        {state !== undefined && <State of={state.state} />}
        {may('editor') && state !== undefined && isActive(state.state) && (
          <Button
            kind="primary"
            icon="stop"
            onClick={() => void cancelRun(procedure, run).catch(setError)}
          >
            Cancel
          </Button>
        )}
        {may('editor') && state !== undefined && !isActive(state.state) && (
          <>
            <Button icon="again" onClick={() => void again()}>
              Again
            </Button>
            <Button onClick={() => setChanging(true)}>Again with changes</Button>
            <Button icon="trash" label="Delete this run" onClick={() => void remove()} />
          </>
        )}
      </header>
      {error !== undefined && <Failure error={error} />}
      {state === undefined && error === undefined && <Waiting />}
      {state !== undefined && (
        <>
          <dl class="definition">
            <dt>Run</dt>
            <dd class="id">{run}</dd>
            <dt>Started</dt>
            <dd>{localTime(state.runStarted)}</dd>
            {state.runFinished !== undefined && (
              <>
                <dt>Took</dt>
                <dd>{duration(state)}</dd>
              </>
            )}
          </dl>
          {exception !== undefined && (
            <Failure error={{ ...exception, message: messageOf({ message: exception.error }) }} />
          )}
          {(isActive(state.state) || state.progress?.steps !== undefined) && (
            <Steps progress={state.progress} isActive={isActive(state.state)} />
          )}
          {state.state === 'finished' && document !== undefined && (
            <NextSteps document={document} status={state.status} />
          )}
          {state.status !== undefined && (
            <section class="panel">
              <h2>Results</h2>
              <Code text={jsonText(state.status)} language="json" />
            </section>
          )}
          {logs.length > 0 && <Logs lines={logs} />}
          {state.state === 'finished' && <Details procedure={procedure} run={run} />}
        </>
      )}
      {isChanging && document !== undefined && (
        <RunDialog
          type={document.config?.type ?? ''}
          params={document.config?.params ?? {}}
          run={again}
          onClose={() => setChanging(false)}
        />
      )}
    </div>
  );
}

function Steps({
  progress,
  isActive,
}: {
  readonly progress: RunProgress | undefined;
  readonly isActive: boolean;
}) {
  const previous = useRef<{ name: string; value: number; at: number }>(undefined);
  const [rate, setRate] = useState<string>();
  const steps = progress?.steps ?? [];
  const current = steps.find(({ started, ended }) => started !== undefined && ended === undefined);
  useEffect(() => {
    if (current === undefined || (current.type !== 'lines' && current.type !== 'counter'))
      return setRate(undefined);
    const now = Date.now();
    const before = previous.current;
    if (before?.name === current.name && now - before.at < 300) return;
    if (before?.name === current.name) {
      const each = ((current.value - before.value) / (now - before.at)) * 1000;
      setRate(`${Math.round(each).toLocaleString('en')} a second`);
    }
    previous.current = { name: current.name, value: current.value, at: now };
  }, [current?.name, current?.value]);
  return (
    <section class="panel" aria-label="Progress">
      <progress
        value={isActive ? shareDone(progress) : 1}
        max={1}
        aria-label="Progress of the run"
      />
      <ol class="plain">
        {steps.map((step) => (
          <li key={step.name} class={`row${step.started === undefined ? ' dim' : ''}`}>
            <span aria-hidden="true">
              {step.ended !== undefined ? '✓' : step.started === undefined ? '·' : '▸'}
            </span>
            <span>{step.name}</span>
            <span class="dim">{stepValue(step)}</span>
            {step === current && rate !== undefined && <span class="dim">{rate}</span>}
          </li>
        ))}
      </ol>
    </section>
  );
}

function stepValue({ type, value }: { readonly type: string; readonly value: number }): string {
  if (type === 'percentile') return `${Math.round(value * 100)} %`;
  return type === 'done'
    ? ''
    : `${Math.round(value).toLocaleString('en')} ${type === 'lines' ? 'lines' : ''}`;
}

function Logs({ lines }: { readonly lines: readonly RunLogLine[] }) {
  return (
    <section class="panel">
      <h2>Messages</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long logs are scrolled by keyboard too */}
      <pre class="code" tabIndex={0} role="log" aria-label="Messages of the run">
        {lines.map(({ ts, message }) => `${ts}  ${message}`).join('\n')}
      </pre>
    </section>
  );
}

/** On demand: details can be large. */
function Details({ procedure, run }: { readonly procedure: string; readonly run: string }) {
  const [text, setText] = useState<string>();
  const open = (event: Event & { currentTarget: HTMLDetailsElement }) => {
    if (!event.currentTarget.open || text !== undefined) return;
    call('GET', runPath(procedure, run, '/details')).then(
      (details) => setText(jsonText(details)),
      (thrown: unknown) => setText(messageOf(thrown)),
    );
  };
  return (
    <details onToggle={open}>
      <summary>Details</summary>
      {text !== undefined && <Code text={text} language="json" />}
    </details>
  );
}
