// One member of a configuration. Which control shows it follows from the role of the value; values
// that the control cannot show, for instance an object in place of an id, are shown as JSON.
import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { queryRows } from '../../state/api.ts';
import { cached, type Schema } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { Button, Choice, Failure } from '../basic.tsx';
import { SqlEditor } from '../editor/sql-editor.tsx';
import { type FieldError, FieldSet, type JsonObject } from './schema-form.tsx';
import { UploadButton } from './upload-button.tsx';

interface WidgetProps {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
  readonly error: FieldError | undefined;
  readonly path: string;
}

type Control =
  | 'dataset'
  | 'function'
  | 'output'
  | 'query'
  | 'url'
  | 'enum'
  | 'boolean'
  | 'number'
  | 'integer'
  | 'text'
  | 'list'
  | 'object'
  | 'json';

const ROLES: Readonly<Record<string, Control>> = {
  dataset: 'dataset',
  table: 'dataset',
  'output-dataset': 'output',
  function: 'json',
  'output-function': 'json',
  procedure: 'json',
  'input-query': 'query',
  url: 'url',
};

export function Widget(props: WidgetProps) {
  const { name, schema, isRequired, value, error, path } = props;
  const id = useId();
  const natural = controlOf(schema);
  const [isJson, setJson] = useState(false);
  const control = isJson || !canShow(natural, schema, value) ? 'json' : natural;
  const own =
    error !== undefined &&
    (error.path === path || (control !== 'object' && error.path.startsWith(`${path}.`)));
  const hint = own ? error.message : schema.description;
  const fallback = schema.default === undefined ? '' : `, default ${jsonText(schema.default, 0)}`;
  return (
    <div class={`field${own ? ' wrong' : ''}`} data-path={path} data-control={control}>
      <div class="row spread">
        <label for={id}>
          {name}
          <span class="dim">
            {isRequired ? ' required' : ''}
            {fallback.length < 40 ? fallback : ''}
          </span>
        </label>
        {(natural === 'dataset' || natural === 'query' || natural === 'output') && (
          <Button kind="bare" aria-pressed={control === 'json'} onClick={() => setJson(!isJson)}>
            as JSON
          </Button>
        )}
      </div>
      <ControlFor {...props} id={id} control={control} />
      {hint !== undefined && <p class="hint">{hint}</p>}
    </div>
  );
}

function controlOf(schema: Schema): Control {
  const role = schema.rowan === undefined ? undefined : ROLES[schema.rowan];
  if (role !== undefined) return role;
  if (schema.enum !== undefined) return 'enum';
  if (schema.anyOf?.some(({ rowan }) => rowan === 'url') === true) return 'url';
  switch (schema.type) {
    case 'boolean':
    case 'integer':
    case 'number':
      return schema.type;
    case 'string':
      return 'text';
    case 'array': {
      const items = schema.items as Schema | undefined;
      return items?.type === 'string' || items?.type === 'integer' || items?.type === 'number'
        ? 'list'
        : 'json';
    }
    case 'object':
      return schema.properties === undefined ? 'json' : 'object';
    default:
      return 'json';
  }
}

/** Whether a control shows a value without loss. */
function canShow(control: Control, schema: Schema, value: unknown): boolean {
  if (value === undefined) return true;
  switch (control) {
    case 'dataset':
    case 'output':
    case 'query':
    case 'url':
    case 'text':
      return typeof value === 'string';
    case 'enum':
      return schema.enum?.includes(value) === true;
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'string';
    case 'list':
      return Array.isArray(value) && value.every((item) => typeof item !== 'object');
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return true;
  }
}

function ControlFor({
  control,
  ...props
}: WidgetProps & { readonly control: Control; readonly id: string }): ComponentChildren {
  const { id, name, schema, value, onChange } = props;
  const text = typeof value === 'string' ? value : '';
  const setText = (next: string) => onChange(next === '' ? undefined : next);
  switch (control) {
    case 'dataset':
      return (
        <>
          <input
            id={id}
            list={`${id}-list`}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <DatasetOptions id={`${id}-list`} />
        </>
      );
    case 'query':
      return <QueryField label={name} text={text} onChange={setText} />;
    case 'url':
      return (
        <div class="row">
          <input
            id={id}
            class="grow"
            placeholder="https://…, file://…, upload://…"
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <UploadButton onUrl={setText} />
        </div>
      );
    case 'enum':
      return (
        <Choice
          id={id}
          value={value === undefined ? '' : String(value)}
          options={[
            ['', '(default)'],
            ...(schema.enum ?? []).map((each) => [String(each), String(each)] as const),
          ]}
          onChange={(next) => onChange(schema.enum?.find((each) => String(each) === next))}
        />
      );
    case 'boolean':
      return (
        <Choice
          id={id}
          value={value === undefined ? '' : String(value)}
          options={[
            ['', '(default)'],
            ['true', 'yes'],
            ['false', 'no'],
          ]}
          onChange={(next) => onChange(next === '' ? undefined : next === 'true')}
        />
      );
    case 'integer':
    case 'number':
      return (
        <input
          id={id}
          inputMode="decimal"
          value={value === undefined ? '' : String(value)}
          placeholder={schema.default === undefined ? undefined : String(schema.default)}
          onInput={(event) => onChange(numberOf(event.currentTarget.value))}
        />
      );
    case 'list':
      return (
        <ListField
          id={id}
          schema={schema}
          value={value as readonly unknown[] | undefined}
          onChange={onChange}
        />
      );
    case 'object':
      return (
        <div class="nested">
          <FieldSet
            schema={schema}
            value={(value ?? {}) as JsonObject}
            onChange={(next) => onChange(Object.keys(next).length === 0 ? undefined : next)}
            error={props.error}
            path={props.path}
          />
        </div>
      );
    case 'json':
      return <JsonField id={id} value={value} onChange={onChange} />;
    default: {
      const isLong = text.includes('\n') || /source|expression|script/i.test(name);
      return isLong ? (
        <textarea
          id={id}
          rows={4}
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      ) : (
        <input id={id} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      );
    }
  }
}

/** A text that is no number is sent as it is, so that the service says what is wrong with it. */
function numberOf(text: string): unknown {
  if (text.trim() === '') return undefined;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

function DatasetOptions({ id }: { readonly id: string }) {
  const ids = cached<string[]>('/v1/datasets').value ?? [];
  return (
    <datalist id={id}>
      {ids.slice(0, 500).map((each) => (
        <option key={each} value={each} />
      ))}
    </datalist>
  );
}

const PREVIEW_ROWS = 5;

function QueryField({
  label,
  text,
  onChange,
}: {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const [preview, setPreview] = useState<readonly Record<string, unknown>[]>();
  const [error, setError] = useState<unknown>();
  const show = () => {
    const sql = `SELECT * FROM (${text}\n) LIMIT ${PREVIEW_ROWS}`;
    queryRows(sql).then(
      (rows) => {
        setPreview(rows);
        setError(undefined);
      },
      (thrown: unknown) => {
        setPreview(undefined);
        setError(thrown);
      },
    );
  };
  return (
    <>
      <SqlEditor
        isCompact
        text={text}
        label={label}
        hint="SELECT …"
        onChange={onChange}
        onRun={show}
      />
      <div class="row">
        <Button kind="bare" icon="eye" disabled={text.trim() === ''} onClick={show}>
          Preview
        </Button>
      </div>
      {error !== undefined && <Failure error={error} />}
      {preview !== undefined && <PreviewTable rows={preview} />}
    </>
  );
}

const PREVIEW_COLUMNS_MAX = 12;

export function PreviewTable({
  rows,
}: {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].slice(0, PREVIEW_COLUMNS_MAX);
  if (rows.length === 0) return <p class="dim">No rows.</p>;
  return (
    <div class="scroll">
      <table class="facts">
        <thead>
          <tr>
            {names.map((each) => (
              <th key={each}>{each}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {names.map((each) => (
                <td key={each}>{previewText(row[each])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function previewText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const text = typeof value === 'object' ? jsonText(value, 0) : String(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

function ListField({
  id,
  schema,
  value,
  onChange,
}: {
  readonly id: string;
  readonly schema: Schema;
  readonly value: readonly unknown[] | undefined;
  readonly onChange: (value: unknown) => void;
}) {
  const [text, setText] = useState((value ?? []).join('\n'));
  const isNumeric = (schema.items as Schema).type !== 'string';
  const change = (next: string) => {
    setText(next);
    const items = next.split('\n').filter((line) => line !== '');
    onChange(items.length === 0 ? undefined : isNumeric ? items.map(numberOf) : items);
  };
  return (
    <textarea
      id={id}
      rows={Math.min(8, Math.max(2, text.split('\n').length))}
      placeholder="one a line"
      value={text}
      onInput={(event) => change(event.currentTarget.value)}
    />
  );
}

function JsonField({
  id,
  value,
  onChange,
}: {
  readonly id: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}) {
  const [text, setText] = useState(value === undefined ? '' : jsonText(value));
  const [problem, setProblem] = useState<string>();
  const change = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? undefined : JSON.parse(next));
      setProblem(undefined);
    } catch (thrown) {
      setProblem((thrown as Error).message);
    }
  };
  return (
    <>
      <textarea
        id={id}
        rows={Math.min(12, Math.max(2, text.split('\n').length))}
        placeholder="JSON"
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {problem !== undefined && <p class="hint wrong">{problem}</p>}
    </>
  );
}
