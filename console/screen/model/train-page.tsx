// Trains a model on a dataset: a column to predict is chosen, the rest is proposed and can be changed.
// Rows that are held out test the model at once.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button, Choice, Failure, Field, Shown, Waiting } from '../../part/basic.tsx';
import { SqlEditor } from '../../part/editor/sql-editor.tsx';
import { pathElements, quoteName, quoteText } from '../../part/sql/text.ts';
import { go, href } from '../../route.ts';
import { call, entityPath, messageOf, queryRows } from '../../state/api.ts';
import { cached, change, hasType, may } from '../../state/catalogue.ts';
import { cancelRun, type RunState, runToEnd, shareDone } from '../../state/runs.ts';

type Task = 'boolean' | 'categorical' | 'regression';

interface ColumnFacts {
  readonly name: string;
  readonly isNumber: boolean;
  /** times are no features of models */
  readonly isTime: boolean;
  /** the most frequent values, most first */
  readonly values: readonly unknown[];
}

const COLUMN_COUNT_MAX = 200;
const SAMPLE_ROWS = 2000;
const VALUES_MAX = 30;
/** One row in so many is held out for the test. */
const HELD_OUT = 5;

export function TrainPage({ dataset }: { readonly dataset: string }) {
  const datasets = cached<string[]>('/v1/datasets');
  const [columns, setColumns] = useState<readonly ColumnFacts[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    columnsOf(dataset).then(setColumns, setError);
  }, [dataset]);
  return (
    <div class="page narrow">
      <header>
        <h1>Train a model</h1>
        <Shown path="/v1/datasets" of={datasets} lines={1}>
          {(ids) => (
            <label class="inline">
              <span>on</span>
              <Choice
                value={dataset}
                options={ids.slice(0, 500)}
                onChange={(next) => go(['models', 'train'], { dataset: next })}
              />
            </label>
          )}
        </Shown>
      </header>
      {error !== undefined && <Failure error={error} />}
      {columns === undefined && error === undefined && <Waiting words="Columns are looked at" />}
      {columns !== undefined && <Wizard dataset={dataset} columns={columns} />}
    </div>
  );
}

/** From the first rows: which columns are numbers, and their frequent values. */
async function columnsOf(dataset: string): Promise<ColumnFacts[]> {
  const sql = `SELECT * FROM ${quoteName(dataset)} LIMIT ${SAMPLE_ROWS}`;
  const [printed, rows] = await Promise.all([
    call<string[]>('GET', entityPath('datasets', dataset, `/columns?limit=${COLUMN_COUNT_MAX}`)),
    queryRows(sql),
  ]);
  return printed.map((name) => {
    const key = pathElements(name).join('.');
    const counts = new Map<unknown, number>();
    for (const row of rows) {
      const value = row[name] ?? row[key];
      if (value === null || value === undefined || typeof value === 'object') continue;
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    const values = [...counts].sort((a, b) => b[1] - a[1]).map(([value]) => value);
    const isNumber = values.length > 0 && values.every((value) => typeof value === 'number');
    const isTime = rows.some((row) => isTimestamp(row[name] ?? row[key]));
    return { name, isNumber, isTime, values };
  });
}

function isTimestamp(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'ts' in value;
}

function Wizard({
  dataset,
  columns,
}: {
  readonly dataset: string;
  readonly columns: readonly ColumnFacts[];
}) {
  const [label, setLabel] = useState(() => proposedLabel(columns));
  const facts = columns.find(({ name }) => name === label);
  const [task, setTask] = useState<Task>('boolean');
  const [positive, setPositive] = useState('');
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [name, setName] = useState(() => modelName(dataset));
  const [algorithm, setAlgorithm] = useState('forest');
  const [file, setFile] = useState<string>();
  const [own, setOwn] = useState<string>();
  const url = file ?? `file://rowan_models/${name}.cls`;
  useEffect(() => {
    if (facts === undefined) return;
    const isManyNumbers = facts.isNumber && facts.values.length > 12;
    setTask(isManyNumbers ? 'regression' : 'boolean');
    setPositive(proposedValue(facts.values));
    setOwn(undefined);
  }, [label]);
  const features = columns.filter(
    (column) => column.name !== label && !column.isTime && !left.has(column.name),
  );
  const labelSql = useMemo(() => labelExpression(facts, task, positive), [facts, task, positive]);
  const featureSql = `{${features.map((column) => columnSql(column.name)).join(', ')}} AS features`;
  const sql =
    own ??
    `SELECT ${featureSql},\n  ${labelSql} AS label\nFROM ${quoteName(dataset)}\nWHERE rowHash() % ${HELD_OUT} != 0`;
  const exists = cached<string[]>('/v1/functions').value?.includes(name) === true;
  const plan = trainingPlan({ task, algorithm, name, url, sql, dataset, labelSql });
  const toggle = (column: string) => {
    const next = new Set(left);
    if (!next.delete(column)) next.add(column);
    setLeft(next);
    setOwn(undefined);
  };
  return (
    <div class="fields">
      <Field label="Predict">
        {(id) => (
          <Choice
            id={id}
            value={label}
            options={columns.map((column) => column.name)}
            onChange={setLabel}
          />
        )}
      </Field>
      <Field label="As">
        {(id) => (
          <Choice
            id={id}
            value={task}
            options={[
              ['boolean', 'whether it is so'],
              ...(facts?.isNumber === true ? [['regression', 'a number'] as const] : []),
              ['categorical', 'which of its values'],
            ]}
            onChange={(next) => {
              setTask(next as Task);
              setOwn(undefined);
            }}
          />
        )}
      </Field>
      {task === 'boolean' && (
        <Field label={`${label} is`}>
          {(id) => (
            <Choice
              id={id}
              value={positive}
              options={[
                ...(facts?.values ?? [])
                  .slice(0, VALUES_MAX)
                  .map((value) => [String(value), String(value)] as const),
                ...(facts?.values ?? [])
                  .slice(0, VALUES_MAX)
                  .map((value) => [`!${String(value)}`, `not ${String(value)}`] as const),
              ]}
              onChange={(next) => {
                setPositive(next);
                setOwn(undefined);
              }}
            />
          )}
        </Field>
      )}
      <fieldset>
        <legend>From</legend>
        <div class="checks">
          {columns
            .filter((column) => column.name !== label)
            .map((column) => (
              <label key={column.name} class="check">
                <input
                  type="checkbox"
                  checked={!column.isTime && !left.has(column.name)}
                  disabled={column.isTime}
                  onChange={() => toggle(column.name)}
                />
                {column.name}
                {column.isTime && <span class="dim"> a time, which models do not take</span>}
              </label>
            ))}
        </div>
      </fieldset>
      <Field label="By">
        {(id) => (
          <Choice id={id} value={algorithm} options={algorithmsFor(task)} onChange={setAlgorithm} />
        )}
      </Field>
      <Field
        label="Name"
        hint={
          exists
            ? 'There is a function of this name. It will be replaced.'
            : `One row in ${HELD_OUT} is held out and tests the model.`
        }
      >
        {(id) => (
          <input id={id} value={name} onInput={(event) => setName(event.currentTarget.value)} />
        )}
      </Field>
      <details>
        <summary>Query and file</summary>
        <div class="fields">
          <SqlEditor
            key={`${label} ${task} ${positive} ${left.size}`}
            isCompact
            text={sql}
            label="Training query"
            onChange={setOwn}
          />
          <Field label="Model file" hint="where the service keeps the trained model">
            {(id) => (
              <input id={id} value={url} onInput={(event) => setFile(event.currentTarget.value)} />
            )}
          </Field>
        </div>
      </details>
      <Training
        plan={plan}
        name={name}
        exists={exists}
        isReady={name !== '' && features.length > 0 && labelSql !== ''}
      />
    </div>
  );
}

/** A column of few values is what people ask about. */
function proposedLabel(columns: readonly ColumnFacts[]): string {
  const named = columns.find(({ name }) => /label|target|class|damage|survived|churn/i.test(name));
  const few = columns.find(({ values }) => values.length === 2);
  return (named ?? few ?? columns[columns.length - 1])?.name ?? '';
}

/** The rarer of two values; of more, whatever is not the usual one. */
function proposedValue(values: readonly unknown[]): string {
  const [usual = '', rarer] = values;
  if (values.length === 2) return String(rarer);
  return values.length > 2 ? `!${String(usual)}` : String(usual);
}

function modelName(dataset: string): string {
  return `${dataset.replace(/\W+/g, '_')}_model`;
}

function columnSql(printed: string): string {
  return pathElements(printed).map(quoteName).join('.');
}

function labelExpression(facts: ColumnFacts | undefined, task: Task, positive: string): string {
  if (facts === undefined) return '';
  const column = columnSql(facts.name);
  if (task !== 'boolean') return column;
  const isNegated = positive.startsWith('!');
  const value = isNegated ? positive.slice(1) : positive;
  const literal = facts.isNumber ? value : quoteText(value);
  return `${column} ${isNegated ? '!=' : '='} ${literal}`;
}

function algorithmsFor(task: Task): (readonly [string, string])[] {
  return [
    ...(task === 'boolean' && hasType('procedures', 'randomforest.binary.train')
      ? [['forest', 'a random forest'] as const]
      : []),
    ['decision_tree', 'a decision tree'],
    ['bagged', 'trees that vote'],
  ];
}

interface PlanOptions {
  readonly task: Task;
  readonly algorithm: string;
  readonly name: string;
  readonly url: string;
  readonly sql: string;
  readonly dataset: string;
  readonly labelSql: string;
}

interface PlannedProcedure {
  readonly id: string;
  readonly title: string;
  readonly config: { readonly type: string; readonly params: Readonly<Record<string, unknown>> };
}

const CONFIGURATIONS: Readonly<Record<string, unknown>> = {
  decision_tree: { type: 'decision_tree', max_depth: 8 },
  bagged: {
    type: 'bagging',
    num_bags: 20,
    weak_learner: { type: 'decision_tree', max_depth: 10, random_feature_propn: 0.5 },
  },
};

function trainingPlan({
  task,
  algorithm,
  name,
  url,
  sql,
  dataset,
  labelSql,
}: PlanOptions): PlannedProcedure[] {
  const shared = { trainingData: sql, modelFileUrl: url, functionName: name };
  const isForest = algorithm === 'forest' && task === 'boolean';
  const configuration = CONFIGURATIONS[algorithm] ?? CONFIGURATIONS.decision_tree;
  const model = `${quoteName(name)}({features: {*}})`;
  const score = task === 'categorical' ? `${model}[scores] AS score` : `${model}[score] AS score`;
  return [
    {
      id: `train_${name}`,
      title: 'Train',
      config: isForest
        ? { type: 'randomforest.binary.train', params: shared }
        : { type: 'classifier.train', params: { ...shared, mode: task, configuration } },
    },
    {
      id: `test_${name}`,
      title: 'Test',
      config: {
        type: 'classifier.test',
        params: {
          mode: task,
          testingData: `SELECT ${score}, ${labelSql} AS label FROM ${quoteName(dataset)} WHERE rowHash() % ${HELD_OUT} = 0`,
          outputDataset: `${name}_tested`,
        },
      },
    },
  ];
}

interface Working {
  readonly title: string;
  readonly procedure: string;
  readonly run: string;
  readonly state: Partial<RunState>;
}

function Training({
  plan,
  name,
  exists,
  isReady,
}: {
  readonly plan: readonly PlannedProcedure[];
  readonly name: string;
  readonly exists: boolean;
  readonly isReady: boolean;
}) {
  const [working, setWorking] = useState<Working>();
  const [error, setError] = useState<unknown>();
  const train = async () => {
    setError(undefined);
    try {
      for (const { id, title, config } of plan) {
        await change('PUT', entityPath('procedures', id), { body: config });
        await runToEnd(id, (run, state) => setWorking({ title, procedure: id, run, state }));
      }
      go(['models', name], { view: 'evaluate' });
    } catch (thrown) {
      setError(thrown);
    } finally {
      setWorking(undefined);
    }
  };
  return (
    <>
      {error !== undefined && (
        <Failure error={error}>
          <a href={href(['runs', plan[0]?.id ?? ''])}>
            {messageOf(error) === '' ? '' : 'See its runs'}
          </a>
        </Failure>
      )}
      {working === undefined ? (
        <div class="row">
          <Button
            kind="primary"
            icon="play"
            disabled={!isReady || !may('editor')}
            onClick={() => void train()}
          >
            {exists ? 'Replace and test' : 'Train and test'}
          </Button>
        </div>
      ) : (
        <div class="panel" role="status">
          <div class="row spread">
            <strong>{working.title}</strong>
            <Button
              icon="stop"
              onClick={() => void cancelRun(working.procedure, working.run).catch(setError)}
            >
              Cancel
            </Button>
          </div>
          <progress value={shareDone(working.state.progress)} max={1} aria-label={working.title} />
        </div>
      )}
    </>
  );
}
