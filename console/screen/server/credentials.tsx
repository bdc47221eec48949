// Credentials with which the service reads and writes other places.

import { useState } from 'preact/hooks';
import { encodePathElement } from 'rowan-db/client';
import { Button, Failure, Field, Shown } from '../../part/basic.tsx';
import { DeleteDialog, Dialog } from '../../part/dialog.tsx';
import { type JsonObject, ObjectText } from '../../part/form/schema-form.tsx';
import { cached, change } from '../../state/catalogue.ts';

const EXAMPLE = {
  store: {
    resourceType: 'aws:s3',
    resource: 's3://my-bucket/',
    credential: { protocol: 'http', location: 's3.amazonaws.com', id: '', secret: '' },
  },
};

export function Credentials() {
  const credentials = cached<string[]>('/v1/credentials');
  const [isMaking, setMaking] = useState(false);
  const [deleted, setDeleted] = useState<string>();
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          New credential
        </Button>
        <span class="dim">Secrets are kept by the service and never shown again.</span>
      </div>
      <Shown path="/v1/credentials" of={credentials}>
        {(ids) =>
          ids.length === 0 ? (
            <p class="dim">There are none.</p>
          ) : (
            <ul class="plain">
              {ids.map((id) => (
                <li key={id} class="row spread">
                  <span>{id}</span>
                  <Button
                    icon="trash"
                    kind="bare"
                    label={`Delete ${id}`}
                    onClick={() => setDeleted(id)}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      {isMaking && <MakeCredential onClose={() => setMaking(false)} />}
      {deleted !== undefined && (
        <DeleteDialog
          kind="credential"
          id={deleted}
          dependants={['reading and writing what it opens']}
          remove={() => change('DELETE', `/v1/credentials/${encodePathElement(deleted)}`)}
          onClose={() => setDeleted(undefined)}
        />
      )}
    </>
  );
}

function MakeCredential({ onClose }: { readonly onClose: () => void }) {
  const [id, setId] = useState('');
  const [value, setValue] = useState<JsonObject>(EXAMPLE);
  const [error, setError] = useState<unknown>();
  const make = async () => {
    try {
      await change('PUT', `/v1/credentials/${encodePathElement(id)}`, { body: value });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Dialog title="New credential" onClose={onClose} className="wide">
      <Field label="Id">
        {(field) => (
          <input id={field} value={id} onInput={(event) => setId(event.currentTarget.value)} />
        )}
      </Field>
      <ObjectText value={value} onChange={setValue} label="Credential as JSON" />
      {error !== undefined && <Failure error={error} />}
      <footer class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={id === ''} onClick={() => void make()}>
          Save
        </Button>
      </footer>
    </Dialog>
  );
}
