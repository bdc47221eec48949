// Records rows by hand, one JSON object a row.
import { useState } from 'preact/hooks';
import { Button, Failure } from '../../part/basic.tsx';
import { Dialog, tell } from '../../part/dialog.tsx';
import { entityPath } from '../../state/api.ts';
import { change, invalidate } from '../../state/catalogue.ts';

const EXAMPLE = `{"rowName": "first", "name": "Ada", "age": 36}
{"rowName": "second", "name": "Grace", "age": 45}`;

export function RecordDialog({
  id,
  onClose,
}: {
  readonly id: string;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [error, setError] = useState<unknown>();
  const record = async () => {
    try {
      const rows = rowsOf(text);
      await change('POST', entityPath('datasets', id, '/multirows'), { body: rows });
      await change('POST', entityPath('datasets', id, '/commit'), { body: {} });
      invalidate(entityPath('datasets', id));
      tell(`${rows.length} ${rows.length === 1 ? 'row was' : 'rows were'} recorded`);
      onClose();
    } catch (thrown) {
      setError(thrown);
    }
  };
  return (
    <Dialog title={`Record rows in ${id}`} onClose={onClose} className="wide">
      <label class="stack">
        One JSON object a line; rowName names the row
        <textarea
          rows={8}
          spellcheck={false}
          placeholder={EXAMPLE}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      {error !== undefined && <Failure error={error} />}
      <footer class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={text.trim() === ''} onClick={() => void record()}>
          Record
        </Button>
      </footer>
    </Dialog>
  );
}

type RecordedRow = readonly [
  rowName: string,
  cells: readonly (readonly [column: string, value: unknown, ts: number])[],
];

/** @throws Error naming the line */
function rowsOf(text: string): RecordedRow[] {
  const now = Date.now() / 1000;
  return text
    .split('\n')
    .map((line, index) => ({ line: line.trim(), number: index + 1 }))
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => {
      let row: Record<string, unknown>;
      try {
        row = JSON.parse(line) as Record<string, unknown>;
      } catch (thrown) {
        throw new Error(`line ${number}: ${(thrown as Error).message}`);
      }
      const { rowName, ...cells } = row;
      if (typeof rowName !== 'string' || rowName === '') {
        throw new Error(`line ${number}: rowName must be a text that is not empty`);
      }
      return [
        rowName,
        Object.entries(cells).map(([column, value]) => [column, value, now] as const),
      ] as const;
    });
}
