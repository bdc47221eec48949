// A new entity of any type, from the schema of the type.
import { useEffect, useState } from 'preact/hooks';
import { Button, Choice, Failure, Field, Shown } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { tell } from '../../part/dialog.tsx';
import { type FieldError, type JsonObject, SchemaForm } from '../../part/form/schema-form.tsx';
import { Snippets } from '../../part/snippet.tsx';
import { go, place, replacePlace } from '../../route.ts';
import { call, entityPath, messageOf } from '../../state/api.ts';
import {
  cached,
  change,
  type EntityDocument,
  type Kind,
  may,
  type TypeInfo,
  typesOf,
} from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { startRun } from '../../state/runs.ts';

const KINDS: Readonly<Record<Kind, { readonly noun: string; readonly screen: string }>> = {
  datasets: { noun: 'dataset', screen: 'data' },
  procedures: { noun: 'procedure', screen: 'runs' },
  functions: { noun: 'function', screen: 'models' },
  plugins: { noun: 'plugin', screen: 'plugins' },
};

export function Screen() {
  const [, given, typeName = ''] = place.value.path;
  const kind = (given !== undefined && given in KINDS ? given : 'procedures') as Kind;
  const types = typesOf(kind);
  const { noun } = KINDS[kind];
  return (
    <div class="page narrow">
      <header>
        <h1>New {noun}</h1>
        <label class="inline">
          <span>Kind</span>
          <Choice
            value={kind}
            options={Object.entries(KINDS).map(([id, each]) => [id, each.noun] as const)}
            onChange={(next) => go(['new', next])}
          />
        </label>
        <label class="inline">
          <span>Type</span>
          <Choice
            value={typeName}
            options={[['', 'choose'], ...types.map((name) => [name, name] as const)]}
            onChange={(next) => go(['new', kind, next])}
          />
        </label>
      </header>
      {typeName === '' ? (
        <TypeList kind={kind} types={types} />
      ) : (
        <TypeForm key={`${kind} ${typeName}`} kind={kind} type={typeName} />
      )}
    </div>
  );
}

function TypeList({ kind, types }: { readonly kind: Kind; readonly types: readonly string[] }) {
  return (
    <ul class="plain type-list">
      {types.map((name) => (
        <TypeEntry key={name} kind={kind} name={name} />
      ))}
    </ul>
  );
}

function TypeEntry({ kind, name }: { readonly kind: Kind; readonly name: string }) {
  const info = cached<TypeInfo>(typePath(kind, name)).value;
  return (
    <li>
      <button type="button" class="entry" onClick={() => go(['new', kind, name])}>
        <strong>{name}</strong>
        <span class="dim">{info?.description}</span>
      </button>
    </li>
  );
}

function typePath(kind: Kind, type: string): string {
  return `/v1/types/${kind}/${encodeURIComponent(type)}/info`;
}

function TypeForm({ kind, type }: { readonly kind: Kind; readonly type: string }) {
  const info = cached<TypeInfo>(typePath(kind, type));
  const path = typePath(kind, type);
  return (
    <Shown path={path} of={info}>
      {({ configSchema, description }) => (
        <>
          <p class="dim">
            {description}{' '}
            <a
              href={`doc/reference/${kind}/${encodeURIComponent(type)}.html`}
              target="_blank"
              rel="noopener"
            >
              Reference
            </a>
          </p>
          <EntityForm kind={kind} type={type} schema={configSchema} />
        </>
      )}
    </Shown>
  );
}

function EntityForm({
  kind,
  type,
  schema,
}: {
  readonly kind: Kind;
  readonly type: string;
  readonly schema: TypeInfo['configSchema'];
}) {
  const { query } = place.value;
  const [id, setId] = useState(query.id ?? '');
  const [params, setParams] = useState<JsonObject>(() => parsedParams(query.params));
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const [isSnippetShown, setSnippetShown] = useState(false);
  const [theirs, setTheirs] = useState<{ readonly params: JsonObject | undefined }>();
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map());
  const exists = cached<string[]>(`/v1/${kind}`).value?.includes(id) === true;
  const { noun, screen } = KINDS[kind];
  const isProcedure = kind === 'procedures';
  // Whether it runs at once is said by the button.
  const { runOnCreation: _button, ...properties } = schema.properties ?? {};
  const shownSchema = isProcedure ? { ...schema, properties } : schema;
  const body = { type, params };
  const path = entityPath(kind, id === '' ? `my_${noun}` : id);

  // A reload while the form is filled loses nothing.
  useEffect(() => {
    const text = jsonText(params, 0);
    replacePlace(['new', kind, type], {
      id: id === '' ? undefined : id,
      params: text === '{}' ? undefined : text,
    });
  }, [id, params]);

  // What is there while the form is filled; somebody else may change it before it is sent.
  useEffect(() => {
    if (exists && !known.has(id)) void paramsOf(path).then(know, setError);
  }, [exists, id]);
  const know = (found: JsonObject | undefined) =>
    setKnown((before) => new Map(before).set(id, jsonText(found ?? {})));

  const create = async (runs: boolean, replacesTheirs = false) => {
    setBusy(true);
    setError(undefined);
    setTheirs(undefined);
    try {
      if (!replacesTheirs) {
        const found = await paramsOf(path);
        if (found !== undefined && jsonText(found) !== known.get(id)) {
          know(found);
          setTheirs({ params: found });
          return;
        }
      }
      await change('PUT', entityPath(kind, id), { body });
      if (runs) {
        const run = await startRun(id);
        go(['runs', id, run]);
      } else {
        tell(`${noun} ${id} was created`);
        go([screen, id]);
      }
    } catch (thrown) {
      setError(thrown);
    } finally {
      setBusy(false);
    }
  };
  const fieldError = fieldErrorOf(error);
  return (
    <form
      class="fields entity-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (id !== '' && !exists) void create(isProcedure);
      }}
    >
      <Field
        label="Id"
        hint={
          known.has(id) && exists
            ? `There is a ${noun} of this id. It will be replaced.`
            : undefined
        }
      >
        {(field) => (
          <input
            id={field}
            value={id}
            autocomplete="off"
            onInput={(event) => setId(event.currentTarget.value)}
          />
        )}
      </Field>
      <SchemaForm
        schema={shownSchema}
        value={params}
        onChange={setParams}
        error={fieldError}
        path="params"
      />
      {error !== undefined && <Failure error={error} />}
      {theirs !== undefined && (
        <div class="failure" role="alert">
          <p>
            The {noun} {id} has changed since this form was opened. It is now:
          </p>
          <Code text={jsonText(theirs.params ?? {})} language="json" />
          <div class="row wrap">
            <Button kind="danger" onClick={() => void create(false, true)}>
              Replace it all the same
            </Button>
            <Button
              onClick={() => {
                setParams(theirs.params ?? {});
                setTheirs(undefined);
              }}
            >
              Take that into the form
            </Button>
          </div>
        </div>
      )}
      <div class="row wrap actions-row">
        {isProcedure && (
          <Button
            kind="primary"
            icon="play"
            disabled={id === '' || isBusy || !may('editor')}
            onClick={() => void create(true)}
          >
            {exists ? 'Replace and run' : 'Create and run'}
          </Button>
        )}
        <Button
          kind={isProcedure ? 'plain' : 'primary'}
          disabled={id === '' || isBusy || !may('editor')}
          onClick={() => void create(false)}
        >
          {exists ? 'Replace' : 'Create'}
        </Button>
        <Button
          icon="code"
          aria-pressed={isSnippetShown}
          onClick={() => setSnippetShown(!isSnippetShown)}
        >
          Call
        </Button>
        {!may('editor') && <span class="dim">This needs the role editor.</span>}
      </div>
      {isSnippetShown && <Snippets call={{ verb: 'PUT', path, body: jsonText(body) }} />}
    </form>
  );
}

/** What an entity was made with; undefined when there is none. */
async function paramsOf(path: string): Promise<JsonObject | undefined> {
  try {
    const { config } = await call<EntityDocument>('GET', path, { isSilent: true });
    return { ...config?.params };
  } catch (thrown) {
    if ((thrown as { httpCode?: number }).httpCode === 404) return undefined;
    throw thrown;
  }
}

function parsedParams(text: string | undefined): JsonObject {
  try {
    return text === undefined ? {} : (JSON.parse(text) as JsonObject);
  } catch {
    return {};
  }
}

/** The field that an error is about, by its path or by how its words begin. */
function fieldErrorOf(error: unknown): FieldError | undefined {
  if (error === undefined) return undefined;
  const message = messageOf(error);
  const { details } = error as { details?: { path?: string } };
  const named = details?.path ?? /^((?:params\.)?[A-Za-z]\w*)(?:\[|:| is )/.exec(message)?.[1];
  if (named === undefined) return undefined;
  return { path: named.startsWith('params') ? named : `params.${named}`, message };
}
