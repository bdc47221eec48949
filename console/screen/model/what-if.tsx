// One input varied while the others stay: all cases in one call.
import { useEffect, useState } from 'preact/hooks';
import { Choice, Failure, useRested } from '../../part/basic.tsx';
import { Picture } from '../../part/chart/picture.tsx';
import { columnExpression, quoteName } from '../../part/sql/text.ts';
import { call, entityPath, queryRows } from '../../state/api.ts';
import { scoreOf } from './playground.tsx';
import { fieldKey, type InputField, type InputValues, inputOf } from './value-info.ts';

const STEPS = 41;
const CHOICES_MAX = 24;
const DELAY_MS = 150;

interface Varied {
  readonly field: InputField;
  readonly points: readonly { readonly x: string | number; readonly y: number }[];
}

export function WhatIf({
  id,
  fields,
  values,
  source,
}: {
  readonly id: string;
  readonly fields: readonly InputField[];
  readonly values: InputValues;
  readonly source: string | undefined;
}) {
  const [key, setKey] = useState(fieldKey(fields[0] as InputField));
  const [varied, setVaried] = useState<Varied>();
  const [error, setError] = useState<unknown>();
  const rested = useRested(values, DELAY_MS);
  const field = fields.find((each) => fieldKey(each) === key) ?? (fields[0] as InputField);
  useEffect(() => {
    const abort = new AbortController();
    const vary = async () => {
      const tried = await valuesToTry(field, rested, source);
      const input = tried.map((value) =>
        inputOf(fields, new Map(rested).set(fieldKey(field), String(value))),
      );
      const path = entityPath('functions', id, '/batch');
      const outputs = await call<unknown[]>('POST', path, {
        body: { input },
        signal: abort.signal,
        isSilent: true,
      });
      const points = tried.map((x, index) => ({
        x,
        y: scoreOf(outputs[index])?.[1] ?? Number.NaN,
      }));
      setVaried({ field, points });
      setError(undefined);
    };
    vary().catch((thrown: unknown) => {
      if (!abort.signal.aborted) setError(thrown);
    });
    return () => abort.abort();
  }, [id, field, rested, source]);
  const name = field.path.at(-1) as string;
  const isLine = varied?.points.every(({ x }) => typeof x === 'number') === true;
  return (
    <section class="panel">
      <div class="row spread">
        <h2>What if</h2>
        <Choice
          label="Input to vary"
          value={key}
          options={fields.map((each) => [fieldKey(each), each.path.at(-1) as string] as const)}
          onChange={setKey}
        />
      </div>
      {error !== undefined && <Failure error={error} />}
      {varied !== undefined && varied.points.length > 0 && (
        <>
          <Picture
            label={`Score by ${name}`}
            height={isLine ? 200 : Math.max(120, varied.points.length * 20 + 50)}
            inputs={[varied]}
            draw={(drawing, size) =>
              drawing.drawChart(
                {
                  mark: isLine ? 'line' : 'bar',
                  x: name,
                  y: 'score',
                  aggregate: 'avg',
                  colour: '',
                  facet: '',
                },
                varied.points,
                undefined,
                size,
                'score',
              )
            }
          />
          <details>
            <summary>As numbers</summary>
            <div class="scroll">
              <table class="facts">
                <tbody>
                  {varied.points.map(({ x, y }) => (
                    <tr key={x}>
                      <th scope="row">{x}</th>
                      <td class="number">{Number(y.toPrecision(6))}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </details>
        </>
      )}
    </section>
  );
}

/** Numbers between the least and the greatest of the data; the most frequent of other values. */
async function valuesToTry(
  field: InputField,
  values: InputValues,
  source: string | undefined,
): Promise<(string | number)[]> {
  const current = values.get(fieldKey(field)) ?? '';
  const name = field.path.at(-1) as string;
  if (field.kind !== 'number') {
    if (source === undefined) return current === '' ? [] : [current];
    const sql = `SELECT ${quoteName(name)} AS x FROM ${quoteName(source)} WHERE ${quoteName(name)} IS NOT NULL GROUP BY ${quoteName(name)} ORDER BY count(*) DESC LIMIT ${CHOICES_MAX}`;
    const rows = await queryRows<{ x: unknown }>(sql, { isSilent: true });
    return rows.map(({ x }) => String(x));
  }
  const [low, high] = await rangeOf(name, Number(current || 0), source);
  const step = (high - low) / (STEPS - 1) || 1;
  return Array.from({ length: STEPS }, (_, index) => Number((low + index * step).toPrecision(8)));
}

async function rangeOf(
  name: string,
  current: number,
  source: string | undefined,
): Promise<[number, number]> {
  const around: [number, number] = [Math.min(0, current * 2), Math.max(1, current * 2)];
  if (source === undefined) return around;
  const column = columnExpression(quoteName(name));
  const sql = `SELECT min(${column}) AS low, max(${column}) AS high FROM ${quoteName(source)}`;
  const [row] = await queryRows<{ low: number; high: number }>(sql, { isSilent: true });
  const isKnown = typeof row?.low === 'number' && typeof row.high === 'number';
  return isKnown ? [row.low, row.high] : around;
}
