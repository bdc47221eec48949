// One cell as a whole: long texts, nested values, and the versions of the cell with their times.
import { useEffect, useState } from 'preact/hooks';
import { call, messageOf } from '../../state/api.ts';
import { jsonText } from '../../state/json.ts';
import type { Result } from '../../state/result.ts';
import type { ResultColumn } from '../../worker/protocol.ts';
import { Button, Failure, Waiting } from '../basic.tsx';
import { Code } from '../code.tsx';
import { copyText, Dialog } from '../dialog.tsx';
import { quoteName, quoteText } from '../sql/text.ts';

interface FullRow {
  readonly columns?: readonly (readonly [column: string, cell: unknown, timestamp: string])[];
}

export function Inspector({
  result,
  row,
  column,
  dataset,
  onClose,
}: {
  readonly result: Result;
  readonly row: number;
  readonly column: number;
  readonly dataset: string | undefined;
  readonly onClose: () => void;
}) {
  const { name, kind } = result.columns.value[column] as ResultColumn;
  const [text, setText] = useState<string | null>();
  const [error, setError] = useState<unknown>();
  const [versions, setVersions] = useState<FullRow['columns']>();
  const nameColumn = result.columns.value.findIndex((each) => each.name === '_rowName');

  useEffect(() => {
    result.value(row, column).then(({ text: whole, value }) => {
      const isNested = typeof value === 'object' && value !== null;
      setText(isNested ? jsonText(value) : whole);
    }, setError);
    if (dataset === undefined || nameColumn < 0) return;
    void result
      .value(row, nameColumn)
      .then(({ text: rowName }) => readVersions(dataset, rowName ?? '', name))
      .then(setVersions, setError);
  }, [result, row, column]);

  return (
    <Dialog title={name} onClose={onClose} className="wide">
      <p class="dim">
        Row {row + 1}, {kind}
        {text !== undefined && text !== null && `, ${text.length} letters`}
      </p>
      {error !== undefined && <Failure error={error} />}
      {text === undefined && error === undefined && <Waiting lines={3} />}
      {text === null && <p class="null">NULL</p>}
      {typeof text === 'string' && (
        <Code text={text} language={kind === 'mixed' ? 'json' : 'text'} />
      )}
      {versions !== undefined && versions.length > 0 && (
        <table class="facts">
          <thead>
            <tr>
              <th>Value</th>
              <th>Time of the cell</th>
            </tr>
          </thead>
          <tbody>
            {versions.map(([, cell, timestamp], index) => (
              <tr key={`${timestamp} ${index}`}>
                <td>{typeof cell === 'string' ? cell : jsonText(cell, 0)}</td>
                <td>{timestamp}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {typeof text === 'string' && (
        <footer class="row end">
          <Button icon="copy" onClick={() => copyText(text, 'Cell')}>
            Copy
          </Button>
        </footer>
      )}
    </Dialog>
  );
}

async function readVersions(dataset: string, rowName: string, column: string) {
  const q = `SELECT * FROM ${quoteName(dataset)} WHERE rowName() = ${quoteText(rowName)} LIMIT 1`;
  const rows = await call<FullRow[]>('POST', '/v1/query', { body: { q, format: 'full' } }).catch(
    (thrown: unknown) => {
      throw new Error(`times of the cell: ${messageOf(thrown)}`);
    },
  );
  return rows[0]?.columns?.filter(([name]) => name === column);
}
