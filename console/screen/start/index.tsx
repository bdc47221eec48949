// Home: where data comes in, and what was worked on last.
import { Button, Shown, State } from '../../part/basic.tsx';
import { localTime } from '../../part/words.ts';
import { go, href, place } from '../../route.ts';
import { cached, may, type RunSummary } from '../../state/catalogue.ts';
import { drafts, openDrafts } from '../../state/drafts.ts';
import { DropZone } from './drop-zone.tsx';
import { ImportPage } from './import-page.tsx';

const LATEST = 6;

void openDrafts();

export function Screen() {
  const { url } = place.value.query;
  if (url !== undefined) return <ImportPage key={url} url={url} />;
  return <Start />;
}

const STEPS = [
  [
    'Drop a file',
    'CSV, TSV, JSON or text, also compressed. You see a preview before anything is imported.',
  ],
  ['Ask it', 'SQL with completion, profiles of columns, charts.'],
  ['Train a model', 'Choose a column to predict; the rest is proposed.'],
  ['Try it', 'Judge it, vary its inputs, take the call along as curl, TypeScript or Python.'],
] as const;

function Start() {
  const datasets = cached<string[]>('/v1/datasets');
  return (
    <div class="page">
      <h1 class="unseen">Home</h1>
      {may('editor') ? (
        <DropZone />
      ) : (
        <p class="dim">Your key may read. Importing needs the role editor.</p>
      )}
      <Shown path="/v1/datasets" of={datasets}>
        {(ids) =>
          ids.length === 0 ? (
            <ol class="steps">
              {STEPS.map(([title, text]) => (
                <li key={title}>
                  <strong>{title}</strong>
                  <span class="dim">{text}</span>
                </li>
              ))}
            </ol>
          ) : (
            <Latest datasets={ids} />
          )
        }
      </Shown>
    </div>
  );
}

function Latest({ datasets }: { readonly datasets: readonly string[] }) {
  const functions = cached<string[]>('/v1/functions').value ?? [];
  const runs = cached<RunSummary[]>(`/v1/runs?limit=${LATEST}`).value ?? [];
  const written = drafts.value.filter(({ text }) => text.trim() !== '');
  return (
    <div class="columns">
      <NameList title="Data" names={datasets} screen="data" />
      <NameList title="Models and functions" names={functions} screen="models" />
      {written.length > 0 && (
        <section class="panel">
          <h2>Drafts</h2>
          <ul class="plain">
            {written.slice(-LATEST).map(({ id, title, text }) => (
              <li key={id}>
                <button type="button" class="entry" onClick={() => go(['sql'], { q: text })}>
                  <strong>{title}</strong>
                  <code class="cut">{text}</code>
                </button>
              </li>
            ))}
          </ul>
        </section>
      )}
      {runs.length > 0 && (
        <section class="panel">
          <h2>Latest runs</h2>
          <ul class="plain timeline">
            {runs.map((run) => (
              <li key={`${run.procedure} ${run.id}`}>
                <a href={href(['runs', run.procedure, run.id])}>{run.procedure}</a>
                <span class="dim">{localTime(run.runStarted)}</span>
                <State of={run.state} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

function NameList({
  title,
  names,
  screen,
}: {
  readonly title: string;
  readonly names: readonly string[];
  readonly screen: string;
}) {
  if (names.length === 0) return null;
  return (
    <section class="panel">
      <h2>{title}</h2>
      <ul class="plain">
        {names.slice(0, LATEST).map((id) => (
          <li key={id}>
            <a href={href([screen, id])}>{id}</a>
          </li>
        ))}
      </ul>
      {names.length > LATEST && (
        <Button kind="bare" onClick={() => go([screen])}>
          all {names.length.toLocaleString('en')}
        </Button>
      )}
    </section>
  );
}
