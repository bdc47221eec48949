// What the service makes of a file: a preview, what it guessed, and the import itself.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure, Field, Waiting } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { type JsonObject, SchemaForm } from '../../part/form/schema-form.tsx';
import { Snippets } from '../../part/snippet.tsx';
import { go, href } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached, change, type TypeInfo } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { startRun } from '../../state/runs.ts';

interface ImportGuess {
  readonly procedure: { readonly type: string; readonly params: JsonObject };
  readonly confidence?: JsonObject | number;
  readonly preview: {
    readonly columns: readonly { readonly name: string; readonly type: string }[];
    readonly rows: readonly (readonly unknown[] | Readonly<Record<string, unknown>>)[];
  };
  readonly warnings: readonly unknown[];
}

const PREVIEW_ROWS = 20;

export function ImportPage({ url }: { readonly url: string }) {
  const [guess, setGuess] = useState<ImportGuess>();
  const [error, setError] = useState<unknown>();
  const ask = () => {
    setError(undefined);
    call<ImportGuess>('POST', '/v1/imports', { body: { url, rows: PREVIEW_ROWS } }).then(
      setGuess,
      setError,
    );
  };
  useEffect(ask, [url]);
  return (
    <div class="page">
      <header>
        <h1>Import {url.replace(/^.*\//, '')}</h1>
        <a href={href([])}>Another file</a>
      </header>
      {error !== undefined && <Failure error={error} retry={ask} />}
      {guess === undefined && error === undefined && <Waiting words="The file is looked at" />}
      {guess !== undefined && <Guess guess={guess} />}
    </div>
  );
}

function Guess({ guess }: { readonly guess: ImportGuess }) {
  const { type } = guess.procedure;
  const [params, setParams] = useState<JsonObject>(guess.procedure.params);
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const output = params.outputDataset;
  const dataset =
    typeof output === 'string' ? output : ((output as { id?: string } | undefined)?.id ?? '');
  const exists = cached<string[]>('/v1/datasets').value?.includes(dataset) === true;
  const info = cached<TypeInfo>(`/v1/types/procedures/${encodeURIComponent(type)}/info`).value;
  const procedure = `import_${dataset}`;
  const path = entityPath('procedures', procedure);
  const start = async () => {
    setBusy(true);
    try {
      await change('PUT', path, { body: { type, params } });
      go(['runs', procedure, await startRun(procedure)]);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return (
    <>
      <form
        class="row import-bar"
        onSubmit={(event) => {
          event.preventDefault();
          if (!exists && dataset !== '') void start();
        }}
      >
        <Field label="Dataset" hint={exists ? 'It exists and will be replaced.' : undefined}>
          {(id) => (
            <input
              id={id}
              value={dataset}
              onInput={(event) =>
                setParams({ ...params, outputDataset: event.currentTarget.value })
              }
            />
          )}
        </Field>
        <Button kind="primary" disabled={isBusy || dataset === ''} onClick={() => void start()}>
          {exists ? 'Replace' : 'Import'}
        </Button>
        <span class="dim">{type}</span>
      </form>
      {error !== undefined && <Failure error={error} />}
      {guess.warnings.length > 0 && (
        <ul class="warnings">
          {guess.warnings.map((warning) => {
            const text = typeof warning === 'string' ? warning : jsonText(warning, 0);
            return <li key={text}>{text}</li>;
          })}
        </ul>
      )}
      <section class="panel">
        <h2>Preview</h2>
        <Preview preview={guess.preview} />
      </section>
      {info !== undefined && (
        <details>
          <summary>How it is read</summary>
          <SchemaForm
            schema={info.configSchema}
            value={params}
            onChange={setParams}
            path="params"
          />
          {guess.confidence !== undefined && (
            <Code text={jsonText(guess.confidence)} language="json" />
          )}
        </details>
      )}
      <details>
        <summary>The call</summary>
        <Snippets
          call={{
            verb: 'PUT',
            path,
            body: jsonText({ type, params: { ...params, runOnCreation: true } }),
          }}
        />
      </details>
    </>
  );
}

function Preview({ preview: { columns, rows } }: { readonly preview: ImportGuess['preview'] }) {
  const cell = (row: ImportGuess['preview']['rows'][number], index: number, name: string) =>
    Array.isArray(row) ? row[index] : (row as Record<string, unknown>)[name];
  return (
    <div class="scroll preview">
      <table class="facts">
        <thead>
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name}>
                {name}
                <br />
                <span class="kind">{type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={`${at} ${JSON.stringify(row).slice(0, 40)}`}>
              {columns.map(({ name, type }, index) => {
                const value = cell(row, index, name);
                const isNumber = /int|num|float|double/i.test(type);
                return (
                  <td key={name} class={isNumber ? 'number' : ''}>
                    {value === null || value === undefined ? (
                      <span class="null">NULL</span>
                    ) : typeof value === 'object' ? (
                      jsonText(value, 0)
                    ) : (
                      String(value)
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
