// A form made of a type's schema. Its value is the JSON that is sent; widgets show parts of it.
import { useState } from 'preact/hooks';
import type { Schema } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { Button } from '../basic.tsx';
import { Widget } from './widget.tsx';

export type JsonObject = Readonly<Record<string, unknown>>;

/** What the service said about a field, by the path of the field. */
export interface FieldError {
  readonly path: string;
  readonly message: string;
}

interface FormProps {
  readonly schema: Schema;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
  readonly error?: FieldError | undefined;
  /** of the object within the configuration, for instance `params` */
  readonly path: string;
}

export function SchemaForm(props: FormProps) {
  const [isText, setText] = useState(false);
  return (
    <div class="schema-form">
      <div class="row end">
        <Button kind="bare" icon="code" aria-pressed={isText} onClick={() => setText(!isText)}>
          JSON
        </Button>
      </div>
      {isText ? (
        <ObjectText value={props.value} onChange={props.onChange} />
      ) : (
        <FieldSet {...props} />
      )}
    </div>
  );
}

/** Members of an object: what must be given first, what has a default folded away. */
export function FieldSet({ schema, value, onChange, error, path }: FormProps) {
  const members = Object.entries(schema.properties ?? {});
  const required = new Set(schema.required ?? []);
  const isMain = ([name, member]: [string, Schema]) =>
    required.has(name) || isProminent(name, member) || value[name] !== undefined;
  const [opened] = useState(() => new Set(members.filter(isMain).map(([name]) => name)));
  const main = members.filter(([name]) => opened.has(name));
  const order = (name: string) => (required.has(name) ? 0 : 1);
  main.sort(([a], [b]) => order(a) - order(b));
  const others = members.filter(([name]) => !opened.has(name));
  const isErrorHidden = others.some(([name]) => error?.path.startsWith(`${path}.${name}`) === true);
  const set = (name: string, next: unknown) => {
    const { [name]: _old, ...rest } = value;
    onChange(next === undefined ? rest : { ...value, [name]: next });
  };
  const field = ([name, member]: [string, Schema]) => (
    <Widget
      key={name}
      name={name}
      schema={member}
      isRequired={required.has(name)}
      value={value[name]}
      onChange={(next) => set(name, next)}
      error={error}
      path={`${path}.${name}`}
    />
  );
  return (
    <div class="fields">
      {members.length === 0 && <p class="dim">It has no parameters.</p>}
      {main.map(field)}
      {others.length > 0 && main.length === 0 && !schema.required?.length ? (
        others.map(field)
      ) : others.length > 0 ? (
        <details open={isErrorHidden}>
          <summary>
            {others.length} more with {others.length === 1 ? 'its default' : 'their defaults'}
          </summary>
          <div class="fields">{others.map(field)}</div>
        </details>
      ) : null}
    </div>
  );
}

/** Not required, yet what most people come for. */
function isProminent(name: string, { rowan, anyOf }: Schema): boolean {
  if (rowan === 'url' || anyOf?.some((each) => each.rowan === 'url') === true) return true;
  if (rowan === 'output-dataset' || rowan === 'input-query' || rowan === 'dataset') return true;
  return ['functionName', 'configuration', 'modelFileUrl', 'source'].includes(name);
}

/** The whole value as text; it is taken over while it is JSON. */
export function ObjectText({
  value,
  onChange,
  label = 'JSON',
}: {
  readonly value: unknown;
  readonly onChange: (value: JsonObject) => void;
  readonly label?: string;
}) {
  const [text, setText] = useState(() => jsonText(value));
  const [problem, setProblem] = useState<string>();
  const change = (next: string) => {
    setText(next);
    try {
      const parsed: unknown = JSON.parse(next);
      const isObject = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
      setProblem(isObject ? undefined : 'an object is wanted');
      if (isObject) onChange(parsed as JsonObject);
    } catch (thrown) {
      setProblem((thrown as Error).message);
    }
  };
  return (
    <div class={`field${problem === undefined ? '' : ' wrong'}`}>
      <textarea
        aria-label={label}
        rows={Math.min(24, Math.max(6, text.split('\n').length + 1))}
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {problem !== undefined && <p class="hint">{problem}</p>}
    </div>
  );
}
