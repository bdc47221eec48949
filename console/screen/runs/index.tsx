// Procedures and their runs: all of them, those of one procedure, one run, or some side by side.
import { useState } from 'preact/hooks';
import { Button, Choice, Empty, Shown, State, useRefresh } from '../../part/basic.tsx';
import { counted, localTime } from '../../part/words.ts';
import { go, href, place, replacePlace } from '../../route.ts';
import { cached, may, type RunSummary } from '../../state/catalogue.ts';
import { isActive, shareDone } from '../../state/runs.ts';
import { Comparison } from './comparison.tsx';
import { ProcedurePage } from './procedure-page.tsx';
import { RunPage } from './run-page.tsx';
import { duration } from './time.ts';

const COMPARED_MAX = 5;
const PAGE = 100;

export function Screen() {
  const [, procedure, run] = place.value.path;
  const { compare } = place.value.query;
  if (compare !== undefined) return <Comparison runs={parseCompared(compare)} />;
  if (procedure !== undefined && run !== undefined) {
    return <RunPage key={`${procedure} ${run}`} procedure={procedure} run={run} />;
  }
  if (procedure !== undefined) return <ProcedurePage key={procedure} id={procedure} />;
  return <AllRuns />;
}

export interface RunName {
  readonly procedure: string;
  readonly run: string;
}

function parseCompared(text: string): RunName[] {
  try {
    const pairs = JSON.parse(text) as [string, string][];
    return pairs.slice(0, COMPARED_MAX).map(([procedure, run]) => ({ procedure, run }));
  } catch {
    return [];
  }
}

const STATES = ['', 'executing', 'finished', 'error', 'cancelled'];

function AllRuns() {
  const { query } = place.value;
  const state = query.state ?? '';
  const asked = state === 'executing' ? 'initializing,executing' : state;
  const { before = '' } = query;
  const path = `/v1/runs?${new URLSearchParams({ limit: String(PAGE), state: asked, before })}`;
  const runs = cached<RunSummary[]>(path);
  useRefresh(path, 2000);
  return (
    <div class="page">
      <header>
        <h1>Runs</h1>
        <label class="inline">
          <span>State</span>
          <Choice
            value={state}
            options={STATES.map((each) => [each, each === '' ? 'all' : each] as const)}
            onChange={(next) => replacePlace(['runs'], { state: next || undefined })}
          />
        </label>
        {may('editor') && (
          <Button kind="primary" icon="plus" onClick={() => go(['new', 'procedures'])}>
            New procedure
          </Button>
        )}
      </header>
      <Shown path={path} of={runs}>
        {(found) =>
          found.length === 0 && (state !== '' || before !== '') ? (
            <p class="dim">There are no {before === '' ? state : 'older'} runs.</p>
          ) : found.length === 0 ? (
            <Empty title="Nothing has run yet">
              <p>A procedure imports, trains or tests; each time it works is a run.</p>
              <Button onClick={() => go(['new', 'procedures'])}>Make a procedure</Button>
            </Empty>
          ) : (
            <>
              <RunTable runs={found} showsProcedure />
              <Pages runs={found} query={query} />
            </>
          )
        }
      </Shown>
      <Procedures />
    </div>
  );
}

/** Pages are places, so Back works. */
function Pages({
  runs,
  query,
}: {
  readonly runs: readonly RunSummary[];
  readonly query: Readonly<Record<string, string>>;
}) {
  const last = runs.at(-1)?.runStarted;
  const hasOlder = runs.length >= PAGE && last !== undefined;
  if (!hasOlder && query.before === undefined) return null;
  return (
    <div class="row">
      {query.before !== undefined && (
        <Button onClick={() => go(['runs'], { ...query, before: undefined })}>Newest</Button>
      )}
      {hasOlder && (
        <Button onClick={() => go(['runs'], { ...query, before: last })}>Older runs</Button>
      )}
    </div>
  );
}

function Procedures() {
  const procedures = cached<string[]>('/v1/procedures');
  const [search, setSearch] = useState('');
  const found = (procedures.value ?? []).filter((id) =>
    id.toLowerCase().includes(search.toLowerCase()),
  );
  if ((procedures.value ?? []).length === 0) return null;
  return (
    <section class="panel">
      <h2>Procedures</h2>
      <input
        type="search"
        placeholder={`Find in ${counted(procedures.value?.length ?? 0, 'procedure')}`}
        aria-label="Find a procedure"
        value={search}
        onInput={(event) => setSearch(event.currentTarget.value)}
      />
      <ul class="plain names">
        {found.slice(0, 200).map((id) => (
          <li key={id}>
            <a href={href(['runs', id])}>{id}</a>
          </li>
        ))}
      </ul>
      {found.length > 200 && <p class="dim">and {found.length - 200} more</p>}
    </section>
  );
}

export function RunTable({
  runs,
  showsProcedure,
}: {
  readonly runs: readonly RunSummary[];
  readonly showsProcedure?: boolean;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const keyOf = ({ procedure, id }: RunSummary) => JSON.stringify([procedure, id]);
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key) && next.size < COMPARED_MAX) next.add(key);
    setChosen(next);
  };
  return (
    <>
      <div class="scroll">
        <table class="facts links">
          <thead>
            <tr>
              <th>
                <span class="unseen">Compare</span>
              </th>
              {showsProcedure && <th>Procedure</th>}
              <th>Started</th>
              <th>State</th>
              <th class="number">Time</th>
              <th>What</th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={keyOf(run)}>
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Compare run ${run.id} of ${run.procedure}`}
                    checked={chosen.has(keyOf(run))}
                    onChange={() => toggle(keyOf(run))}
                  />
                </td>
                {showsProcedure && (
                  <td>
                    <a href={href(['runs', run.procedure])}>{run.procedure}</a>{' '}
                    <span class="dim">{run.type}</span>
                  </td>
                )}
                <td class="when">
                  <a href={href(['runs', run.procedure, run.id])}>
                    {localTime(run.runStarted) || run.id}
                  </a>
                </td>
                <td>
                  <State of={run.state} />
                </td>
                <td class="number">{duration(run)}</td>
                <td class="what">{whatOf(run)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {chosen.size > 0 && (
        <div class="row">
          <Button
            kind="primary"
            disabled={chosen.size < 2}
            onClick={() => go(['runs'], { compare: `[${[...chosen].join(',')}]` })}
          >
            Compare {chosen.size}
          </Button>
          <span class="dim">{chosen.size < 2 ? 'Choose 2 to 5.' : ''}</span>
        </div>
      )}
    </>
  );
}

function whatOf(run: RunSummary) {
  if (isActive(run.state)) {
    const share = shareDone(run.progress);
    return <progress value={share} max={1} aria-label="Progress" />;
  }
  return run.progress?.exception?.error ?? '';
}
