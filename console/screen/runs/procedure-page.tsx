// One procedure: its configuration, its runs, and a run with other parameters.
import { useState } from 'preact/hooks';
import { Button, Failure, Shown, useRefresh } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { DeleteDialog, Dialog } from '../../part/dialog.tsx';
import { type JsonObject, SchemaForm } from '../../part/form/schema-form.tsx';
import { go } from '../../route.ts';
import { entityPath } from '../../state/api.ts';
import {
  cached,
  change,
  type EntityDocument,
  may,
  type RunSummary,
  type TypeInfo,
} from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { startRun } from '../../state/runs.ts';
import { RunTable } from './index.tsx';

export function ProcedurePage({ id }: { readonly id: string }) {
  const path = entityPath('procedures', id);
  const runsPath = `/v1/runs?limit=200&procedure=${encodeURIComponent(id)}`;
  const document = cached<EntityDocument>(path);
  const runs = cached<RunSummary[]>(runsPath);
  const [dialog, setDialog] = useState<'delete' | 'again'>();
  const [error, setError] = useState<unknown>();
  useRefresh(runsPath, 2000);
  const run = async (params: JsonObject = {}) => {
    try {
      go(['runs', id, await startRun(id, params)]);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <div class="page">
      <Shown path={path} of={document}>
        {({ config }) => (
          <>
            <header>
              <h1>{id}</h1>
              <span class="dim">{config?.type}</span>
              {may('editor') && (
                <>
                  <Button kind="primary" icon="play" onClick={() => void run()}>
                    Run
                  </Button>
                  <Button onClick={() => setDialog('again')}>Run with changes</Button>
                  <Button
                    onClick={() =>
                      go(['new', 'procedures', config?.type ?? ''], {
                        id,
                        params: jsonText(config?.params ?? {}, 0),
                      })
                    }
                  >
                    Edit
                  </Button>
                  <Button icon="trash" label="Delete" onClick={() => setDialog('delete')} />
                </>
              )}
            </header>
            {error !== undefined && <Failure error={error} />}
            <section class="panel">
              <h2>Runs</h2>
              <Shown path={runsPath} of={runs}>
                {(found) =>
                  found.length === 0 ? (
                    <p class="dim">It has not run yet.</p>
                  ) : (
                    <RunTable runs={found} />
                  )
                }
              </Shown>
            </section>
            <section class="panel">
              <h2>Configuration</h2>
              <Code text={jsonText(config?.params ?? {})} language="json" />
            </section>
            {dialog === 'again' && (
              <RunDialog
                type={config?.type ?? ''}
                params={config?.params ?? {}}
                run={run}
                onClose={() => setDialog(undefined)}
              />
            )}
            {dialog === 'delete' && (
              <DeleteDialog
                kind="procedure"
                id={id}
                dependants={
                  (runs.value ?? []).length === 0
                    ? []
                    : [`${runs.value?.length} runs, which go with it`]
                }
                remove={async () => {
                  await change('DELETE', path);
                  go(['runs']);
                }}
                onClose={() => setDialog(undefined)}
              />
            )}
          </>
        )}
      </Shown>
    </div>
  );
}

/** Parameters that differ from those of the procedure; only they are sent. */
export function RunDialog({
  type,
  params,
  run,
  onClose,
}: {
  readonly type: string;
  readonly params: JsonObject;
  readonly run: (params: JsonObject) => Promise<void>;
  readonly onClose: () => void;
}) {
  const [value, setValue] = useState(params);
  const path = `/v1/types/procedures/${encodeURIComponent(type)}/info`;
  const info = cached<TypeInfo>(path);
  const changed = Object.fromEntries(
    Object.entries(value).filter(([name, each]) => jsonText(each) !== jsonText(params[name])),
  );
  return (
    <Dialog title="Run with changes" onClose={onClose} className="wide">
      <Shown path={path} of={info}>
        {({ configSchema }) => (
          <SchemaForm schema={configSchema} value={value} onChange={setValue} path="params" />
        )}
      </Shown>
      <footer class="row end">
        <span class="dim">
          {Object.keys(changed).length === 0
            ? 'Nothing differs.'
            : `Differs: ${Object.keys(changed).join(', ')}`}
        </span>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind="primary"
          onClick={() => {
            onClose();
            void run(changed);
          }}
        >
          Run
        </Button>
      </footer>
    </Dialog>
  );
}
