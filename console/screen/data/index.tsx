// Datasets: all of them, or one.
import { useState } from 'preact/hooks';
import { Button, Empty, Shown, State } from '../../part/basic.tsx';
import { counted } from '../../part/words.ts';
import { go, href, place } from '../../route.ts';
import { entityPath } from '../../state/api.ts';
import { cached, type EntityDocument, may } from '../../state/catalogue.ts';
import { DatasetPage } from './dataset-page.tsx';

const SHOWN_STEP = 100;

export function Screen() {
  const [, id] = place.value.path;
  return id === undefined ? <AllDatasets /> : <DatasetPage key={id} id={id} />;
}

function AllDatasets() {
  const datasets = cached<string[]>('/v1/datasets');
  const [search, setSearch] = useState('');
  const [count, setCount] = useState(SHOWN_STEP);
  return (
    <div class="page">
      <header>
        <h1>Data</h1>
        {may('editor') && (
          <>
            <Button kind="primary" icon="upload" onClick={() => go([])}>
              Import
            </Button>
            <Button icon="plus" onClick={() => go(['new', 'datasets'])}>
              New dataset
            </Button>
          </>
        )}
      </header>
      <Shown path="/v1/datasets" of={datasets}>
        {(ids) => {
          if (ids.length === 0) {
            return (
              <Empty title="There are no datasets yet">
                <p>
                  A dataset holds rows: imported from a file, recorded over REST, or made by a
                  query.
                </p>
                <Button kind="primary" onClick={() => go([])}>
                  Import a file
                </Button>
              </Empty>
            );
          }
          const found = ids.filter((id) => id.toLowerCase().includes(search.toLowerCase()));
          return (
            <>
              <input
                type="search"
                placeholder={`Find in ${counted(ids.length, 'dataset')}`}
                aria-label="Find a dataset"
                value={search}
                onInput={(event) => setSearch(event.currentTarget.value)}
              />
              <div class="scroll">
                <table class="facts links">
                  <thead>
                    <tr>
                      <th>Dataset</th>
                      <th>Type</th>
                      <th class="number">Rows</th>
                      <th class="number">Columns</th>
                      <th>State</th>
                    </tr>
                  </thead>
                  <tbody>
                    {found.slice(0, count).map((id) => (
                      <DatasetRow key={id} id={id} />
                    ))}
                  </tbody>
                </table>
              </div>
              {found.length > count && (
                <Button onClick={() => setCount(count + SHOWN_STEP)}>
                  {(found.length - count).toLocaleString('en')} more
                </Button>
              )}
            </>
          );
        }}
      </Shown>
    </div>
  );
}

function DatasetRow({ id }: { readonly id: string }) {
  const { value, error } = cached<EntityDocument>(entityPath('datasets', id));
  const { rowCount, columnCount } = (value?.status ?? {}) as {
    rowCount?: number;
    columnCount?: number;
  };
  return (
    <tr>
      <td>
        <a href={href(['data', id])}>{id}</a>
      </td>
      <td class="dim">{value?.type}</td>
      <td class="number">{rowCount?.toLocaleString('en')}</td>
      <td class="number">{columnCount?.toLocaleString('en')}</td>
      <td>
        {value === undefined ? (
          error !== undefined && <State of="error" />
        ) : (
          <State of={value.state} />
        )}
      </td>
    </tr>
  );
}
