// Plugins: their source, their routes to try, their status.
import { useState } from 'preact/hooks';
import { Button, Choice, Empty, Failure, Shown, State } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { DeleteDialog } from '../../part/dialog.tsx';
import { Snippets } from '../../part/snippet.tsx';
import { go, href, place } from '../../route.ts';
import { base, entityPath, rowan } from '../../state/api.ts';
import { cached, change, type EntityDocument, may } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';

export function Screen() {
  const [, id] = place.value.path;
  return id === undefined ? <AllPlugins /> : <PluginPage key={id} id={id} />;
}

function AllPlugins() {
  const plugins = cached<string[]>('/v1/plugins');
  return (
    <div class="page">
      <header>
        <h1>Plugins</h1>
        {may('admin') && (
          <Button kind="primary" icon="plus" onClick={() => go(['new', 'plugins', 'javascript'])}>
            New plugin
          </Button>
        )}
      </header>
      <Shown path="/v1/plugins" of={plugins}>
        {(ids) =>
          ids.length === 0 ? (
            <Empty title="There are no plugins">
              <p>
                A plugin is a JavaScript program that runs beside the service in a sandbox, adds
                routes and may create anything.
              </p>
              <a href="doc/guide/7-plugins.md.html" target="_blank" rel="noopener">
                Read how one is written
              </a>
            </Empty>
          ) : (
            <ul class="plain names">
              {ids.map((id) => (
                <li key={id}>
                  <a href={href(['plugins', id])}>{id}</a>
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
    </div>
  );
}

function PluginPage({ id }: { readonly id: string }) {
  const path = entityPath('plugins', id);
  const document = cached<EntityDocument>(path);
  const [isDeleting, setDeleting] = useState(false);
  return (
    <div class="page">
      <Shown path={path} of={document}>
        {({ state, type, config, status, progress }) => {
          const { source, address } = (config?.params ?? {}) as {
            source?: { main?: string };
            address?: string;
          };
          return (
            <>
              <header>
                <h1>{id}</h1>
                <span class="dim">{type}</span>
                <State of={state} />
                {may('admin') && (
                  <>
                    <Button
                      onClick={() =>
                        go(['new', 'plugins', type ?? 'javascript'], {
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
              {state === 'error' && <Failure error={{ message: exceptionOf(progress) }} />}
              <section class="panel">
                <h2>Try a route</h2>
                <RouteTrial id={id} />
              </section>
              {status !== undefined && (
                <section class="panel">
                  <h2>Status</h2>
                  <Code text={jsonText(status)} language="json" />
                </section>
              )}
              <section class="panel">
                <h2>Source</h2>
                {address !== undefined && <p>{address}</p>}
                {source?.main !== undefined && <Code text={source.main} language="typescript" />}
              </section>
            </>
          );
        }}
      </Shown>
      {isDeleting && (
        <DeleteDialog
          kind="plugin"
          id={id}
          dependants={['whoever calls its routes']}
          remove={async () => {
            await change('DELETE', path);
            go(['plugins']);
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}

function exceptionOf(progress: EntityDocument['progress']): string {
  const { exception } = (progress ?? {}) as { exception?: { error?: string } };
  return exception?.error ?? 'the plugin did not start';
}

const VERBS = ['GET', 'POST', 'PUT', 'DELETE'];

function RouteTrial({ id }: { readonly id: string }) {
  const [verb, setVerb] = useState('GET');
  const [rest, setRest] = useState('/');
  const [body, setBody] = useState('');
  const [reply, setReply] = useState<{ status: number; text: string; type: string }>();
  const [error, setError] = useState<unknown>();
  const path = entityPath('plugins', id, `/routes${rest.startsWith('/') ? '' : '/'}${rest}`);
  const hasBody = verb !== 'GET';
  const send = async () => {
    try {
      const bytes = body === '' || !hasBody ? undefined : new TextEncoder().encode(body);
      const { status, text, contentType } = await rowan.perform(verb, path, { body: bytes });
      setReply({
        status,
        text: contentType?.includes('json') === true ? jsonText(JSON.parse(text)) : text,
        type: contentType ?? '',
      });
      setError(undefined);
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <>
      <form
        class="row wrap route-trial"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <Choice label="Verb" value={verb} options={VERBS} onChange={setVerb} />
        <input
          class="grow"
          aria-label="Path below routes"
          value={rest}
          onInput={(event) => setRest(event.currentTarget.value)}
        />
        <Button kind="primary" type="submit">
          Send
        </Button>
        <a href={base + path} target="_blank" rel="noopener noreferrer">
          Open as a page
        </a>
      </form>
      {hasBody && (
        <textarea
          aria-label="Body"
          rows={3}
          value={body}
          onInput={(event) => setBody(event.currentTarget.value)}
        />
      )}
      {error !== undefined && <Failure error={error} />}
      {reply !== undefined && (
        <>
          <p class="dim">
            {reply.status} {reply.type}
          </p>
          <Code text={reply.text} language={reply.type.includes('json') ? 'json' : 'text'} />
        </>
      )}
      <details>
        <summary>The call</summary>
        <Snippets call={{ verb, path, body: hasBody && body !== '' ? body : undefined }} />
      </details>
    </>
  );
}
