// API keys: made, shown once, revoked.
import { useState } from 'preact/hooks';
import { Button, Choice, Failure, Field, Shown } from '../../part/basic.tsx';
import { copyText, DeleteDialog, Dialog } from '../../part/dialog.tsx';
import { localTime } from '../../part/words.ts';
import { cached, change } from '../../state/catalogue.ts';

interface Key {
  readonly id: string;
  readonly role: string;
  readonly name?: string;
  readonly expires?: string;
  readonly created?: string;
}

const ROLES = [
  ['reader', 'reader: reads, queries, calls'],
  ['editor', 'editor: and creates, runs, deletes'],
  ['admin', 'admin: and plugins, scripts, keys, shutdown'],
] as const;

export function Keys() {
  const keys = cached<Key[]>('/v1/keys');
  const own = cached<{ id?: string }>('/v1/keys/current').value?.id;
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key>();
  return (
    <>
      <div class="row">
        <Button kind="primary" icon="plus" onClick={() => setMaking(true)}>
          New key
        </Button>
        <span class="dim">As soon as one key exists, every call needs one.</span>
      </div>
      <Shown path="/v1/keys" of={keys}>
        {(found) =>
          found.length === 0 ? (
            <p class="dim">There are no keys. Whoever reaches this address may do everything.</p>
          ) : (
            <div class="scroll">
              <table class="facts">
                <thead>
                  <tr>
                    <th>Name</th>
                    <th>Role</th>
                    <th>Id</th>
                    <th>Created</th>
                    <th>Expires</th>
                    <th>
                      <span class="unseen">Revoke</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {found.map((key) => (
                    <tr key={key.id}>
                      <td>
                        {key.name} {key.id === own && <span class="dim">(yours)</span>}
                      </td>
                      <td>{key.role}</td>
                      <td class="id">{key.id}</td>
                      <td>{localTime(key.created)}</td>
                      <td>{key.expires ?? 'never'}</td>
                      <td>
                        <Button
                          icon="trash"
                          kind="bare"
                          label={`Revoke ${key.name ?? key.id}`}
                          onClick={() => setRevoked(key)}
                        />
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Shown>
      {isMaking && (
        <MakeKey isFirst={(keys.value ?? []).length === 0} onClose={() => setMaking(false)} />
      )}
      {revoked !== undefined && (
        <DeleteDialog
          kind="key"
          id={revoked.name ?? revoked.id}
          dependants={['every program that uses it']}
          remove={() => change('DELETE', `/v1/keys/${encodeURIComponent(revoked.id)}`)}
          onClose={() => setRevoked(undefined)}
        />
      )}
    </>
  );
}

function MakeKey({
  isFirst,
  onClose,
}: {
  readonly isFirst: boolean;
  readonly onClose: () => void;
}) {
  const [role, setRole] = useState<string>(isFirst ? 'admin' : 'reader');
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const [made, setMade] = useState<string>();
  const [error, setError] = useState<unknown>();
  const make = async () => {
    try {
      const body = {
        role,
        ...(name === '' ? {} : { name }),
        ...(expires === '' ? {} : { expires }),
      };
      const { key } = await change<{ key: string }>('POST', '/v1/keys', { body });
      setMade(key);
    } catch (thrown) {
      setError(thrown);
    }
  };
  if (made !== undefined) {
    return (
      <Dialog title="The new key" onClose={onClose}>
        <p>It is shown this once; only its hash is kept.</p>
        <p class="id secret">{made}</p>
        <footer class="row end">
          <Button icon="copy" onClick={() => copyText(made, 'Key')}>
            Copy
          </Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </footer>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      {isFirst && (
        <p>This is the first key: from now on every call needs one, also those of this console.</p>
      )}
      <Field label="Role">
        {(id) => <Choice id={id} value={role} options={ROLES} onChange={setRole} />}
      </Field>
      <Field label="Name" hint="who holds it">
        {(id) => (
          <input id={id} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        )}
      </Field>
      <Field label="Expires" hint="empty: never">
        {(id) => (
          <input
            id={id}
            type="date"
            value={expires}
            onInput={(event) => setExpires(event.currentTarget.value)}
          />
        )}
      </Field>
      {error !== undefined && <Failure error={error} />}
      <footer class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" onClick={() => void make()}>
          Make
        </Button>
      </footer>
    </Dialog>
  );
}
