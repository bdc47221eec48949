// Runs side by side: what differs first, the rest on demand.
import { useEffect, useState } from 'preact/hooks';
import { Failure, State, Waiting } from '../../part/basic.tsx';
import { localTime } from '../../part/words.ts';
import { href } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import type { EntityDocument } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { type RunState, runPath } from '../../state/runs.ts';
import type { RunName } from './index.tsx';
import { duration } from './time.ts';

interface Compared extends RunName {
  readonly state: RunState;
  /** flat names to texts */
  readonly facts: ReadonlyMap<string, string>;
}

export function Comparison({ runs }: { readonly runs: readonly RunName[] }) {
  const [found, setFound] = useState<readonly Compared[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    Promise.all(runs.map(loadRun)).then(setFound, setError);
  }, [JSON.stringify(runs)]);
  if (error !== undefined) return <Failure error={error} />;
  if (found === undefined) return <Waiting />;
  const names = [...new Set(found.flatMap(({ facts }) => [...facts.keys()]))];
  const differs = (name: string) => new Set(found.map(({ facts }) => facts.get(name))).size > 1;
  return (
    <div class="page">
      <header>
        <h1>{runs.length} runs compared</h1>
      </header>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th>Run</th>
              {found.map(({ procedure, run, state }) => (
                <th key={`${procedure} ${run}`}>
                  <a href={href(['runs', procedure, run])}>{procedure}</a>
                  <br />
                  {localTime(state.runStarted)}
                  <br />
                  <State of={state.state} /> {duration(state)}
                </th>
              ))}
            </tr>
          </thead>
          <Rows names={names.filter(differs)} found={found} isDifferent />
        </table>
      </div>
      {!names.some(differs) && <p class="dim">Nothing differs.</p>}
      <details>
        <summary>{names.filter((name) => !differs(name)).length} that are equal</summary>
        <div class="scroll">
          <table class="facts">
            <Rows names={names.filter((name) => !differs(name))} found={found} />
          </table>
        </div>
      </details>
    </div>
  );
}

function Rows({
  names,
  found,
  isDifferent,
}: {
  readonly names: readonly string[];
  readonly found: readonly Compared[];
  readonly isDifferent?: boolean;
}) {
  return (
    <tbody>
      {names.map((name) => (
        <tr key={name} class={isDifferent ? 'different' : ''}>
          <th scope="row">{name}</th>
          {found.map(({ procedure, run, facts }) => (
            <td key={`${procedure} ${run}`}>{facts.get(name) ?? ''}</td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

async function loadRun(name: RunName): Promise<Compared> {
  const [state, document] = await Promise.all([
    call<RunState>('GET', runPath(name.procedure, name.run)),
    call<EntityDocument>('GET', entityPath('procedures', name.procedure)),
  ]);
  const facts = new Map<string, string>([['type', document.config?.type ?? '']]);
  flatten(state.status, 'result', facts);
  flatten(document.config?.params, 'params', facts);
  return { ...name, state, facts };
}

/** Nested members by their paths. */
function flatten(value: unknown, path: string, into: Map<string, string>): void {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (isObject)
    for (const [name, each] of Object.entries(value)) flatten(each, `${path}.${name}`, into);
  else if (value !== undefined)
    into.set(path, typeof value === 'string' ? value : jsonText(value, 0));
}
