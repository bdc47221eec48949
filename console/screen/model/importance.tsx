// What a model loses when the values of one feature are permuted: measured by the service, on rows
// that did not train it where a test says which those are.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { datasetsOf, whereOf, withWhere } from '../../part/sql/text.ts';
import { href } from '../../route.ts';
import { call, entityPath } from '../../state/api.ts';
import { cached, change, may, type RunSummary } from '../../state/catalogue.ts';
import { queryText } from '../../state/procedures.ts';
import { type RunState, runPath, runToEnd, shareDone } from '../../state/runs.ts';
import type { Related } from './related.ts';

interface Measured {
  readonly metric: string;
  readonly features: readonly (readonly [name: string, importance: number, std: number])[];
}

const FEATURES_SHOWN = 20;

export function Importance({ id, related }: { readonly id: string; readonly related: Related }) {
  const procedure = `importance_${id}`;
  const exists = cached<string[]>('/v1/procedures').value?.includes(procedure) === true;
  const [measured, setMeasured] = useState<Measured>();
  const [working, setWorking] = useState<Partial<RunState>>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (exists) lastResult(procedure).then((found) => found && setMeasured(found), setError);
  }, [exists, procedure]);
  const query = testingQuery(related);
  const measure = async () => {
    setError(undefined);
    setWorking({});
    try {
      const { mode = 'boolean' } = (related.training?.config?.params ?? {}) as { mode?: string };
      const params = { functionName: id, testingData: query, mode };
      const body = { type: 'classifier.importance', params };
      await change('PUT', entityPath('procedures', procedure), { body });
      const { status } = await runToEnd(procedure, (_, state) => setWorking(state));
      setMeasured(status as unknown as Measured);
    } catch (thrown) {
      setError(thrown);
    } finally {
      setWorking(undefined);
    }
  };
  if (query === undefined && measured === undefined) return null;
  return (
    <section class="panel">
      <h2>Importance</h2>
      {error !== undefined && <Failure error={error} />}
      {measured !== undefined && <Bars measured={measured} />}
      {working !== undefined ? (
        <progress value={shareDone(working.progress)} max={1} aria-label="Importance is measured" />
      ) : (
        query !== undefined &&
        may('editor') && (
          <div class="row wrap">
            <Button icon="chart" onClick={() => void measure()}>
              {measured === undefined ? 'Measure importance' : 'Measure again'}
            </Button>
            <span class="dim">
              {measured === undefined ? 'makes and runs the procedure ' : 'by the procedure '}
              {exists ? <a href={href(['runs', procedure])}>{procedure}</a> : procedure}
            </span>
          </div>
        )
      )}
      {query !== undefined && (
        <details>
          <summary>On which rows</summary>
          <Code text={query} language="sql" />
        </details>
      )}
    </section>
  );
}

async function lastResult(procedure: string): Promise<Measured | undefined> {
  const query = { procedure, state: 'finished', limit: '1' };
  const [last] = await call<RunSummary[]>('GET', '/v1/runs', { query, isSilent: true });
  if (last === undefined) return undefined;
  const { status } = await call<RunState>('GET', runPath(procedure, last.id), { isSilent: true });
  return status as unknown as Measured;
}

/** The training query over the rows of the last test, if that reads the same dataset; else over its own. */
function testingQuery({ training, tests }: Related): string | undefined {
  const { trainingData } = training?.config?.params ?? {};
  if (trainingData === undefined) return undefined;
  const sql = queryText(trainingData);
  const test = tests.at(-1)?.query ?? '';
  const where = whereOf(test);
  const isSame = datasetsOf(test)[0] === datasetsOf(sql)[0];
  return where !== '' && isSame ? withWhere(sql, where) : sql;
}

function Bars({ measured: { metric, features } }: { readonly measured: Measured }) {
  const shown = features.slice(0, FEATURES_SHOWN);
  const largest = Math.max(1e-12, ...shown.map(([, importance]) => Math.abs(importance)));
  return (
    <>
      <p class="dim">How much {metric} falls when the values of one feature are permuted.</p>
      <table class="facts bars" aria-label="Importance of the features">
        <tbody>
          {shown.map(([name, importance, std]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td class="number">
                {importance.toFixed(4)} <span class="dim">± {std.toFixed(4)}</span>
              </td>
              <td class="bar-cell">
                <span
                  class={importance < 0 ? 'bar-part less' : 'bar-part'}
                  style={{ '--share': Math.abs(importance) / largest }}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {features.length > shown.length && (
        <p class="dim">and {features.length - shown.length} features of less importance</p>
      )}
    </>
  );
}
