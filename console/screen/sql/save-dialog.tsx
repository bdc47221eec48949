// Saves a statement as a function that programs call.
import { useState } from 'preact/hooks';
import { Button, Failure, Field } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { Dialog, tell } from '../../part/dialog.tsx';
import { href } from '../../route.ts';
import { entityPath } from '../../state/api.ts';
import { cached, change } from '../../state/catalogue.ts';

export function SaveDialog({
  sql,
  onClose,
}: {
  readonly sql: string;
  readonly onClose: () => void;
}) {
  const [id, setId] = useState('');
  const [error, setError] = useState<unknown>();
  const [output, setOutput] = useState('FIRST_ROW');
  const exists = cached<string[]>('/v1/functions').value?.includes(id) === true;
  const save = async () => {
    try {
      const body = { type: 'sql.query', params: { query: sql, output } };
      await change('PUT', entityPath('functions', id), { body });
      tell(`function ${id} was saved`, { text: 'Open it', href: href(['models', id]) });
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Dialog title="Save as function" onClose={onClose}>
      <Code text={sql} language="sql" />
      <p class="dim">Names that begin with $ are its inputs.</p>
      <Field
        label="Name"
        error={exists ? 'There is a function of this name; it will be replaced.' : undefined}
      >
        {(field) => (
          <input id={field} value={id} onInput={(event) => setId(event.currentTarget.value)} />
        )}
      </Field>
      <Field label="Gives">
        {(field) => (
          <select
            id={field}
            value={output}
            onChange={(event) => setOutput(event.currentTarget.value)}
          >
            <option value="FIRST_ROW">its first row</option>
            <option value="NAMED_COLUMNS">
              a row of pairs from the columns named column and value
            </option>
          </select>
        )}
      </Field>
      {error !== undefined && <Failure error={error} />}
      <footer class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={id === ''} onClick={() => void save()}>
          {exists ? 'Replace' : 'Save'}
        </Button>
      </footer>
    </Dialog>
  );
}
