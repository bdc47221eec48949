// Functions and models: all of them, one of them, and how one is trained.
import { useState } from 'preact/hooks';
import { Button, Empty, Shown, State } from '../../part/basic.tsx';
import { counted } from '../../part/words.ts';
import { go, href, place } from '../../route.ts';
import { entityPath } from '../../state/api.ts';
import { cached, type EntityDocument, may } from '../../state/catalogue.ts';
import { ModelPage } from './model-page.tsx';
import { TrainPage } from './train-page.tsx';

const SHOWN_STEP = 100;

export function Screen() {
  const [, id] = place.value.path;
  const { dataset } = place.value.query;
  if (id === 'train' && dataset !== undefined) return <TrainPage key={dataset} dataset={dataset} />;
  return id === undefined ? <AllFunctions /> : <ModelPage key={id} id={id} />;
}

function AllFunctions() {
  const functions = cached<string[]>('/v1/functions');
  const datasets = cached<string[]>('/v1/datasets').value ?? [];
  const [search, setSearch] = useState('');
  const [count, setCount] = useState(SHOWN_STEP);
  const train = datasets[0] === undefined ? [] : ['models', 'train'];
  return (
    <div class="page">
      <header>
        <h1>Models and functions</h1>
        {may('editor') && (
          <>
            {datasets.length > 0 && (
              <Button
                kind="primary"
                icon="model"
                onClick={() => go(train, { dataset: datasets[0] })}
              >
                Train a model
              </Button>
            )}
            <Button icon="plus" onClick={() => go(['new', 'functions'])}>
              New function
            </Button>
          </>
        )}
      </header>
      <Shown path="/v1/functions" of={functions}>
        {(ids) =>
          ids.length === 0 ? (
            <Empty title="There are no models yet">
              <p>
                A trained model is a function: programs call it over REST, and queries call it by
                its name.
              </p>
              {datasets.length === 0 ? (
                <Button onClick={() => go([])}>Import data first</Button>
              ) : (
                <Button kind="primary" onClick={() => go(train, { dataset: datasets[0] })}>
                  Train one on {datasets[0]}
                </Button>
              )}
            </Empty>
          ) : (
            <>
              <input
                type="search"
                placeholder={`Find in ${counted(ids.length, 'function')}`}
                aria-label="Find a function"
                value={search}
                onInput={(event) => setSearch(event.currentTarget.value)}
              />
              <FunctionTable
                ids={ids
                  .filter((id) => id.toLowerCase().includes(search.toLowerCase()))
                  .slice(0, count)}
              />
              {ids.length > count && (
                <Button onClick={() => setCount(count + SHOWN_STEP)}>More</Button>
              )}
            </>
          )
        }
      </Shown>
    </div>
  );
}

function FunctionTable({ ids }: { readonly ids: readonly string[] }) {
  return (
    <div class="scroll">
      <table class="facts links">
        <thead>
          <tr>
            <th>Function</th>
            <th>Type</th>
            <th>State</th>
          </tr>
        </thead>
        <tbody>
          {ids.map((id) => (
            <FunctionRow key={id} id={id} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function FunctionRow({ id }: { readonly id: string }) {
  const document = cached<EntityDocument>(entityPath('functions', id)).value;
  return (
    <tr>
      <td>
        <a href={href(['models', id])}>{id}</a>
      </td>
      <td class="dim">{document?.type}</td>
      <td>{document !== undefined && <State of={document.state} />}</td>
    </tr>
  );
}
