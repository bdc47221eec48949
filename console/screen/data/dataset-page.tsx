// One dataset: rows, profile, timeline, configuration, and what uses it.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure, Shown, State, Tabs, Waiting } from '../../part/basic.tsx';
import { Picture } from '../../part/chart/picture.tsx';
import { Code } from '../../part/code.tsx';
import { DeleteDialog } from '../../part/dialog.tsx';
import { MapPane } from '../../part/map/map-pane.tsx';
import { layoutOf } from '../../part/map/map-query.ts';
import { ResultView } from '../../part/result/result-view.tsx';
import { quoteName } from '../../part/sql/text.ts';
import { go, href, place, replacePlace } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached, change, type EntityDocument, may } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { originOf } from '../../state/procedures.ts';
import { Result } from '../../state/result.ts';
import { type Dependant, dependantsOf } from './dependants.ts';
import { ProfileTab } from './profile-tab.tsx';
import { RecordDialog } from './record-dialog.tsx';

const MAP_TAB = { id: 'map', title: 'Map' };
const TABS = [
  { id: 'rows', title: 'Rows' },
  { id: 'profile', title: 'Profile' },
  { id: 'timeline', title: 'Timeline' },
  { id: 'config', title: 'Configuration' },
  { id: 'used', title: 'Used by' },
];

export function DatasetPage({ id }: { readonly id: string }) {
  const path = entityPath('datasets', id);
  const document = cached<EntityDocument>(path);
  const [dialog, setDialog] = useState<'delete' | 'record'>();
  const [dependants, setDependants] = useState<readonly Dependant[]>();
  const { query } = place.value;
  const view = query.view ?? 'rows';
  const select = `SELECT * FROM ${quoteName(id)}`;
  const columns = cached<string[]>(entityPath('datasets', id, '/columns?limit=2000')).value ?? [];
  const hasMap = view === 'map' || layoutOf(columns) !== undefined;
  const tabs = hasMap ? TABS.toSpliced(1, 0, MAP_TAB) : TABS;
  const openDelete = async () => {
    setDependants(await dependantsOf(id));
    setDialog('delete');
  };
  return (
    <div class="full">
      <Shown path={path} of={document}>
        {({ type, state, status, config, progress }) => {
          const { rowCount, columnCount } = (status ?? {}) as {
            rowCount?: number;
            columnCount?: number;
          };
          return (
            <>
              <header>
                <h1>{id}</h1>
                <span class="dim">
                  {type}
                  {rowCount !== undefined && ` · ${rowCount.toLocaleString('en')} rows`}
                  {columnCount !== undefined && ` · ${columnCount.toLocaleString('en')} columns`}
                </span>
                {state !== 'ok' && <State of={state} />}
                <Button
                  kind="primary"
                  icon="sql"
                  onClick={() => go(['sql'], { q: select, run: '1' })}
                >
                  Query
                </Button>
                <Button
                  icon="chart"
                  onClick={() => go(['sql'], { q: select, run: '1', view: 'chart' })}
                >
                  Chart
                </Button>
                {may('editor') && (
                  <>
                    <Button icon="model" onClick={() => go(['models', 'train'], { dataset: id })}>
                      Train
                    </Button>
                    {isRecordable(type) && (
                      <Button onClick={() => setDialog('record')}>Record</Button>
                    )}
                    <Button icon="trash" label="Delete" onClick={() => void openDelete()} />
                  </>
                )}
              </header>
              <Tabs
                items={tabs}
                current={view}
                label={`Views of ${id}`}
                onChange={(next) =>
                  replacePlace(['data', id], { view: next === 'rows' ? undefined : next })
                }
              />
              {state !== 'ok' && progress !== undefined && (
                <Failure error={{ message: exceptionOf(progress) ?? `the dataset is ${state}` }} />
              )}
              <div class="body">
                {view === 'rows' && state === 'ok' && (
                  <Rows id={id} sql={select} rowCount={rowCount} />
                )}
                {view === 'map' && <DatasetMap id={id} />}
                {view === 'profile' && <ProfileTab id={id} />}
                {view === 'timeline' && <Timeline id={id} />}
                {view === 'config' && (
                  <div class="pad">
                    <Code text={jsonText(config ?? {})} language="json" />
                  </div>
                )}
                {view === 'used' && <UsedBy id={id} />}
              </div>
            </>
          );
        }}
      </Shown>
      {dialog === 'delete' && (
        <DeleteDialog
          kind="dataset"
          id={id}
          dependants={(dependants ?? []).map((each) => `${each.noun} ${each.id}`)}
          remove={async () => {
            await change('DELETE', path);
            go(['data']);
          }}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'record' && <RecordDialog id={id} onClose={() => setDialog(undefined)} />}
    </div>
  );
}

function isRecordable(type: string | undefined): boolean {
  return type?.endsWith('.mutable') === true;
}

function exceptionOf(progress: EntityDocument['progress']): string | undefined {
  return (progress as { exception?: { error?: string } } | undefined)?.exception?.error;
}

function Rows({
  id,
  sql,
  rowCount,
}: {
  readonly id: string;
  readonly sql: string;
  readonly rowCount: number | undefined;
}) {
  const [result, setResult] = useState<Result>();
  const [tab, setTab] = useState('table');
  useEffect(() => {
    const made = new Result(sql, {
      rowNames: true,
      ...(rowCount === undefined ? {} : { rowCount }),
    });
    setResult(made);
    return () => made.drop();
  }, [sql]);
  if (result === undefined) return <Waiting />;
  return (
    <ResultView
      result={result}
      tab={tab}
      onTab={setTab}
      chart={undefined}
      onChart={(spec) =>
        go(['sql'], { q: sql, run: '1', view: 'chart', chart: JSON.stringify(spec) })
      }
      onRewrite={(rewritten) => go(['sql'], { q: rewritten, run: '1' })}
      dataset={id}
    />
  );
}

function DatasetMap({ id }: { readonly id: string }) {
  const [origin, setOrigin] = useState<string | null | undefined>(null);
  useEffect(() => {
    originOf(id).then(setOrigin, () => setOrigin(undefined));
  }, [id]);
  return <MapPane dataset={id} origin={origin} />;
}

const TIMELINE_COLUMN = 'when';

/** How many cells bear which time. */
function Timeline({ id }: { readonly id: string }) {
  const range = cached<[string | null, string | null]>(
    entityPath('datasets', id, '/timestampRange'),
  );
  return (
    <div class="pad panel">
      <Shown path={entityPath('datasets', id, '/timestampRange')} of={range}>
        {([from, to]) => (
          <>
            <dl class="definition">
              <dt>Earliest cell</dt>
              <dd>{from ?? 'none'}</dd>
              <dt>Latest cell</dt>
              <dd>{to ?? 'none'}</dd>
            </dl>
            {from !== null && to !== null && from !== to && <TimelineChart id={id} />}
            {from !== null && from === to && <p class="dim">All cells have the same time.</p>}
          </>
        )}
      </Shown>
    </div>
  );
}

function TimelineChart({ id }: { readonly id: string }) {
  const [rows, setRows] = useState<readonly { x: unknown; y: unknown }[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const sql = `SELECT latest_timestamp({*}) AS ${TIMELINE_COLUMN}, count(*) AS y FROM ${quoteName(id)} GROUP BY latest_timestamp({*}) ORDER BY latest_timestamp({*}) LIMIT 5000`;
    call<Record<string, unknown>[]>('POST', '/v1/query', {
      body: { q: sql, format: 'aos', rowNames: false },
    }).then(
      (found) => setRows(found.map((row) => ({ x: row[TIMELINE_COLUMN], y: row.y }))),
      setError,
    );
  }, [id]);
  if (error !== undefined) return <Failure error={error} />;
  if (rows === undefined) return <Waiting />;
  return (
    <Picture
      label={`Rows of ${id} by the time of their latest cell`}
      height={240}
      inputs={[rows]}
      draw={(drawing, size) =>
        drawing.drawChart(
          {
            mark: 'line',
            x: 'latest cell of the row',
            y: '',
            aggregate: 'count',
            colour: '',
            facet: '',
          },
          rows,
          undefined,
          size,
        )
      }
    />
  );
}

function UsedBy({ id }: { readonly id: string }) {
  const [found, setFound] = useState<readonly Dependant[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    dependantsOf(id).then(setFound, setError);
  }, [id]);
  if (error !== undefined) return <Failure error={error} />;
  if (found === undefined) return <Waiting />;
  if (found.length === 0) return <p class="dim pad">Nothing that exists names this dataset.</p>;
  return (
    <div class="pad">
      <table class="facts links">
        <thead>
          <tr>
            <th>Name</th>
            <th>Kind</th>
            <th>Type</th>
            <th>Where</th>
          </tr>
        </thead>
        <tbody>
          {found.map((each) => (
            <tr key={`${each.noun} ${each.id}`}>
              <td>
                <a href={href([each.screen, each.id])}>{each.id}</a>
              </td>
              <td>{each.noun}</td>
              <td class="dim">{each.type}</td>
              <td class="dim">{each.where}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
