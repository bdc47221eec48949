// One function: what it is, how good it is, how it is tried, how it is called.
import { useEffect, useState } from 'preact/hooks';
import { Button, Choice, Empty, Failure, Shown, State, Tabs, Waiting } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { DeleteDialog } from '../../part/dialog.tsx';
import { MapPane } from '../../part/map/map-pane.tsx';
import { quoteName } from '../../part/sql/text.ts';
import { go, href, place, replacePlace } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached, change, type EntityDocument, hasType, idOf, may } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { Card } from './card.tsx';
import { BinaryEvaluation } from './evaluation.tsx';
import { Importance } from './importance.tsx';
import { OtherEvaluation } from './other-evaluation.tsx';
import { Playground } from './playground.tsx';
import { type Related, relatedTo } from './related.ts';

export function ModelPage({ id }: { readonly id: string }) {
  const path = entityPath('functions', id);
  const document = cached<EntityDocument>(path);
  const [related, setRelated] = useState<Related>();
  const [isDeleting, setDeleting] = useState(false);
  const { query } = place.value;
  useEffect(() => {
    relatedTo(id).then(setRelated, () =>
      setRelated({ training: undefined, tests: [], source: undefined }),
    );
  }, [id]);
  const tests = related?.tests ?? [];
  const isModel = /^classifier|^regress/.test(document.value?.type ?? '') || tests.length > 0;
  const mapped = idOf(related?.training?.config?.params?.rowOutputDataset);
  const tabs = [
    { id: 'card', title: 'Card' },
    ...(isModel ? [{ id: 'evaluate', title: 'Evaluate' }] : []),
    { id: 'try', title: 'Try' },
    ...(mapped === undefined ? [] : [{ id: 'map', title: 'Map' }]),
  ];
  const view = tabs.some((tab) => tab.id === query.view) ? (query.view as string) : 'card';
  return (
    <div class="full">
      <Shown path={path} of={document}>
        {({ type, state, config, progress }) => (
          <>
            <header>
              <h1>{id}</h1>
              <span class="dim">{type}</span>
              {state !== 'ok' && <State of={state} />}
              <Button
                kind="primary"
                icon="play"
                onClick={() => replacePlace(['models', id], { view: 'try' })}
              >
                Try
              </Button>
              {related?.source !== undefined && (
                <Button icon="sql" onClick={() => go(['sql'], { q: scoringSql(id, related) })}>
                  Use in SQL
                </Button>
              )}
              {may('editor') && (
                <>
                  <Button
                    onClick={() =>
                      go(['new', 'functions', type ?? ''], {
                        id,
                        params: jsonText(config?.params ?? {}, 0),
                      })
                    }
                  >
                    Edit
                  </Button>
                  <Button icon="trash" label="Delete" onClick={() => setDeleting(true)} />
                </>
              )}
            </header>
            <Tabs
              items={tabs}
              current={view}
              label={`Views of ${id}`}
              onChange={(next) =>
                replacePlace(['models', id], { view: next === 'card' ? undefined : next })
              }
            />
            <div class="body">
              {view === 'map' && mapped !== undefined && (
                <MapPane dataset={mapped} origin={related?.source} />
              )}
              <div class="page" hidden={view === 'map'}>
                {state === 'error' && <Failure error={{ message: exceptionOf(progress) }} />}
                {view === 'card' && (
                  <Card id={id} document={document.value as EntityDocument} related={related} />
                )}
                {view === 'evaluate' &&
                  (related === undefined ? (
                    <Waiting />
                  ) : (
                    <>
                      <Evaluation id={id} related={related} />
                      {hasType('procedures', 'classifier.importance') && (
                        <Importance id={id} related={related} />
                      )}
                    </>
                  ))}
                {view === 'try' && <Playground id={id} config={config} source={related?.source} />}
              </div>
            </div>
          </>
        )}
      </Shown>
      {isDeleting && (
        <DeleteDialog
          kind="function"
          id={id}
          dependants={[
            ...tests.map(({ procedure }) => `procedure ${procedure}`),
            'queries and programs that call it',
          ]}
          remove={async () => {
            await change('DELETE', path);
            go(['models']);
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

function exceptionOf(progress: EntityDocument['progress']): string {
  const { exception } = (progress ?? {}) as { exception?: { error?: string } };
  return exception?.error ?? 'the function could not be made';
}

function scoringSql(id: string, { source }: Related): string {
  return `SELECT ${quoteName(id)}({features: {*}})[score] AS score, *\nFROM ${quoteName(source ?? '')}\nORDER BY ${quoteName(id)}({features: {*}})[score] DESC\nLIMIT 100`;
}

function Evaluation({ id, related }: { readonly id: string; readonly related: Related }) {
  const { query } = place.value;
  const { tests } = related;
  const [isThere, setThere] = useState<boolean>();
  const test = tests.find(({ procedure }) => procedure === query.test) ?? tests.at(-1);
  useEffect(() => {
    if (test === undefined) return;
    call('GET', entityPath('datasets', test.dataset), { isSilent: true }).then(
      () => setThere(true),
      () => setThere(false),
    );
  }, [test?.dataset]);
  if (test === undefined) {
    return (
      <Empty title="It has not been tested">
        <p>A test compares its scores with the labels of rows that it was not trained on.</p>
        <Button
          kind="primary"
          onClick={() =>
            go(['new', 'procedures', 'classifier.test'], {
              id: `test_${id}`,
              params: jsonText(proposedTest(id, related), 0),
            })
          }
        >
          Test it
        </Button>
      </Empty>
    );
  }
  if (isThere === false) {
    return (
      <Empty title="The test has not run">
        <Button kind="primary" onClick={() => go(['runs', test.procedure])}>
          Go to {test.procedure}
        </Button>
      </Empty>
    );
  }
  if (isThere === undefined) return <Waiting />;
  return (
    <>
      <p class="row wrap dim">
        Test{' '}
        {tests.length > 1 ? (
          <Choice
            label="Test"
            value={test.procedure}
            options={tests.map(({ procedure }) => procedure)}
            onChange={(next) => replacePlace(['models', id], { ...query, test: next })}
          />
        ) : (
          <a href={href(['runs', test.procedure])}>{test.procedure}</a>
        )}
        , rows in <a href={href(['data', test.dataset])}>{test.dataset}</a>
      </p>
      {test.mode === 'boolean' ? <BinaryEvaluation test={test} /> : <OtherEvaluation test={test} />}
      <details>
        <summary>How it was tested</summary>
        <Code text={test.query} language="sql" />
      </details>
    </>
  );
}

function proposedTest(id: string, { training, source }: Related) {
  const { trainingData, mode } = (training?.config?.params ?? {}) as {
    trainingData?: unknown;
    mode?: string;
  };
  const label = /,\s*([^,]+?)\s+AS\s+label\b/i.exec(
    typeof trainingData === 'string' ? trainingData : '',
  )?.[1];
  return {
    testingData: `SELECT ${quoteName(id)}({features: {*}})[score] AS score, ${label ?? 'label'} AS label FROM ${quoteName(source ?? 'my_dataset')}`,
    outputDataset: `${id}_tested`,
    ...(mode === undefined ? {} : { mode }),
  };
}
