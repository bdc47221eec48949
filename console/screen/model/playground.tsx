// A function applied while its inputs are typed, with what moved the score and what would move it.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { encodePathElement } from 'rowan-db/client';
import { Button, Failure, useRested, Waiting } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { ObjectText } from '../../part/form/schema-form.tsx';
import { Snippets } from '../../part/snippet.tsx';
import { quoteName } from '../../part/sql/text.ts';
import { call, entityPath, queryRows } from '../../state/api.ts';
import { cached, type EntityDocument, hasType, may } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { Explanation } from './explanation.tsx';
import {
  type FunctionInfo,
  fieldKey,
  type InputField,
  type InputValues,
  inputFields,
  inputOf,
  outputNumbers,
} from './value-info.ts';
import { WhatIf } from './what-if.tsx';

const APPLY_DELAY_MS = 60;

interface Kept {
  readonly values: InputValues;
  readonly score: number | undefined;
}

export function Playground({
  id,
  config,
  source,
}: {
  readonly id: string;
  readonly config: EntityDocument['config'];
  readonly source: string | undefined;
}) {
  const { value: info, error } = cached<FunctionInfo>(entityPath('functions', id, '/info'));
  const fields = useMemo(() => (info === undefined ? undefined : inputFields(info)), [info]);
  if (error !== undefined) return <Failure error={error} />;
  if (info === undefined) return <Waiting />;
  if (fields === undefined) return <AnyInput id={id} />;
  return <FieldInput id={id} fields={fields} config={config} source={source} />;
}

/** What it takes cannot be listed, so the input is JSON. */
function AnyInput({ id }: { readonly id: string }) {
  const [input, setInput] = useState<Readonly<Record<string, unknown>>>({});
  return (
    <>
      <p class="dim">This function takes what it is given; its inputs cannot be listed.</p>
      <ObjectText value={input} onChange={setInput} label="Input" />
      <Applied id={id} input={input} />
      <CallSnippets id={id} input={input} />
    </>
  );
}

function FieldInput({
  id,
  fields,
  config,
  source,
}: {
  readonly id: string;
  readonly fields: readonly InputField[];
  readonly config: EntityDocument['config'];
  readonly source: string | undefined;
}) {
  const [values, setValues] = useState<InputValues>(new Map());
  const [kept, setKept] = useState<readonly Kept[]>([]);
  const [score, setScore] = useState<number>();
  const [rowNumber, setRowNumber] = useState(0);
  const typed = useRef(new Set<string>());
  const input = useMemo(() => inputOf(fields, values), [fields, values]);
  const modelFileUrl = (config?.params as { modelFileUrl?: string } | undefined)?.modelFileUrl;
  const canExplain = hasType('functions', 'classifier.explain') && typeof modelFileUrl === 'string';

  // Values of a row of the data, so that there is something to vary. What was typed while the row
  // was on its way stays.
  useEffect(() => {
    if (source === undefined) return;
    let isWanted = true;
    const sql = `SELECT * FROM ${quoteName(source)} LIMIT 1 OFFSET ${rowNumber}`;
    queryRows(sql, { isSilent: true }).then(
      ([row]) => {
        if (row === undefined || !isWanted) return;
        setValues((latest) => {
          const kept = [...latest].filter(([name]) => typed.current.has(name));
          return new Map([...valuesOf(fields, row), ...kept]);
        });
      },
      () => undefined,
    );
    return () => {
      isWanted = false;
    };
  }, [source, rowNumber, fields]);

  const anotherRow = () => {
    typed.current.clear();
    setRowNumber(rowNumber + 1);
  };
  const set = (field: InputField, text: string) => {
    typed.current.add(fieldKey(field));
    setValues((latest) => new Map(latest).set(fieldKey(field), text));
  };
  return (
    <div class="playground">
      <section class="panel" aria-label="Inputs">
        <div class="row spread">
          <h2>Inputs</h2>
          {source !== undefined && (
            <Button kind="bare" icon="again" onClick={anotherRow}>
              Another row
            </Button>
          )}
        </div>
        {fields.length === 0 && <p class="dim">It takes no inputs.</p>}
        {fields.map((field) => (
          <FieldRow
            key={fieldKey(field)}
            field={field}
            source={source}
            text={values.get(fieldKey(field)) ?? ''}
            onChange={(text) => set(field, text)}
          />
        ))}
      </section>
      <div class="panel">
        <Applied id={id} input={input} onScore={setScore} />
        <div class="row">
          <Button icon="pin" onClick={() => setKept([...kept, { values, score }])}>
            Keep this case
          </Button>
        </div>
        {canExplain && may('editor') && (
          <Explanation id={id} modelFileUrl={modelFileUrl as string} input={input} score={score} />
        )}
        {fields.length > 0 && <WhatIf id={id} fields={fields} values={values} source={source} />}
      </div>
      {kept.length > 0 && (
        <Cases fields={fields} kept={kept} onUse={setValues} onClear={() => setKept([])} />
      )}
      <CallSnippets id={id} input={input} />
    </div>
  );
}

function valuesOf(
  fields: readonly InputField[],
  row: Readonly<Record<string, unknown>>,
): InputValues {
  return new Map(
    fields.map((field) => {
      const value = row[field.path.at(-1) as string];
      const text =
        value === null || value === undefined || typeof value === 'object' ? '' : String(value);
      return [fieldKey(field), text] as const;
    }),
  );
}

const CHOICES_MAX = 30;

function FieldRow({
  field,
  source,
  text,
  onChange,
}: {
  readonly field: InputField;
  readonly source: string | undefined;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) {
  const name = field.path.at(-1) as string;
  const id = `input-${field.path.join('-').replace(/\W+/g, '-')}`;
  const path =
    source === undefined || field.kind === 'number'
      ? undefined
      : entityPath(
          'datasets',
          source,
          `/columns/${encodePathElement(quoteName(name))}/valuecounts?limit=${CHOICES_MAX}`,
        );
  const choices = path === undefined ? undefined : cached<[unknown, number][]>(path).value;
  return (
    <div class="input-row">
      <label for={id}>{name}</label>
      <input
        id={id}
        list={choices === undefined ? undefined : `${id}-list`}
        inputMode={field.kind === 'number' ? 'decimal' : undefined}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {choices !== undefined && (
        <datalist id={`${id}-list`}>
          {choices.map(([value]) => (
            <option key={String(value)} value={String(value)} />
          ))}
        </datalist>
      )}
    </div>
  );
}

/** The output, asked for while the input is typed. */
function Applied({
  id,
  input,
  onScore,
}: {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly onScore?: (score: number | undefined) => void;
}) {
  const rested = useRested(input, APPLY_DELAY_MS);
  const [output, setOutput] = useState<unknown>();
  const [error, setError] = useState<unknown>();
  const latest = useRef(onScore);
  latest.current = onScore;
  useEffect(() => {
    const abort = new AbortController();
    const body = { input: rested, outputFormat: 'json' };
    call('POST', entityPath('functions', id, '/application'), {
      body,
      signal: abort.signal,
      isSilent: true,
    }).then(
      (found) => {
        setOutput(found);
        setError(undefined);
        latest.current?.(scoreOf(found)?.[1]);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setError(thrown);
      },
    );
    return () => abort.abort();
  }, [id, rested]);
  const score = scoreOf(output);
  return (
    <section class="panel" aria-live="polite" aria-label="Output">
      <h2>Output</h2>
      {error !== undefined && <Failure error={error} />}
      {score !== undefined && error === undefined && (
        <div class="figures">
          <div>
            <strong class="score" data-score={String(score[1])} title={String(score[1])}>
              {Number(score[1].toPrecision(6))}
            </strong>
            <span>{score[0]}</span>
          </div>
          {score[1] >= 0 && score[1] <= 1 && (
            <span class="gauge" style={{ '--share': score[1] }} aria-hidden="true" />
          )}
        </div>
      )}
      {output !== undefined && error === undefined && (
        <Code text={jsonText(output)} language="json" />
      )}
    </section>
  );
}

/** The number that is called a score, or the only one. */
export function scoreOf(output: unknown): [name: string, value: number] | undefined {
  const numbers = [...outputNumbers(output)];
  return (
    numbers.find(([name]) => name === 'score') ?? (numbers.length === 1 ? numbers[0] : undefined)
  );
}

function CallSnippets({
  id,
  input,
}: {
  readonly id: string;
  readonly input: Readonly<Record<string, unknown>>;
}) {
  const path = entityPath('functions', id, '/application');
  return (
    <section class="panel take-along">
      <h2>Take it along</h2>
      <Snippets call={{ verb: 'POST', path, body: jsonText({ input, outputFormat: 'json' }) }} />
    </section>
  );
}

function Cases({
  fields,
  kept,
  onUse,
  onClear,
}: {
  readonly fields: readonly InputField[];
  readonly kept: readonly Kept[];
  readonly onUse: (values: InputValues) => void;
  readonly onClear: () => void;
}) {
  const differs = (field: InputField) =>
    new Set(kept.map(({ values }) => values.get(fieldKey(field)))).size > 1;
  return (
    <section class="panel take-along">
      <div class="row spread">
        <h2>Cases</h2>
        <Button kind="bare" onClick={onClear}>
          Forget
        </Button>
      </div>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th>Input</th>
              {kept.map(({ values }, index) => (
                <th key={`${index} ${[...values.values()].join()}`}>
                  <button type="button" class="button bare" onClick={() => onUse(values)}>
                    Case {index + 1}
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">score</th>
              {kept.map(({ score }, index) => (
                <td key={`${index} ${score}`}>
                  <strong>{score === undefined ? '' : Number(score.toPrecision(6))}</strong>
                </td>
              ))}
            </tr>
            {fields.map((field) => (
              <tr key={fieldKey(field)} class={differs(field) ? 'different' : ''}>
                <th scope="row">{field.path.at(-1)}</th>
                {kept.map(({ values }, index) => (
                  <td key={`${index} ${values.get(fieldKey(field))}`}>
                    {values.get(fieldKey(field))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
