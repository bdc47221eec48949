// Tests of models that choose among labels, or give a number.
import { useEffect, useState } from 'preact/hooks';
import { Failure, Waiting } from '../../part/basic.tsx';
import { Picture } from '../../part/chart/picture.tsx';
import { conditionOf } from '../../part/result/result-grid.tsx';
import { quoteName } from '../../part/sql/text.ts';
import { go } from '../../route.ts';
import { queryRows } from '../../state/api.ts';
import type { TestOfModel } from './related.ts';

export function OtherEvaluation({ test }: { readonly test: TestOfModel }) {
  if (test.mode === 'regression') return <Regression test={test} />;
  return <Categories test={test} />;
}

interface Counted {
  readonly label: unknown;
  readonly predicted: unknown;
  readonly count: number;
}

const LABELS_SHOWN = 20;

/** Labels by predictions; a cell opens its rows. */
function Categories({ test }: { readonly test: TestOfModel }) {
  const [cells, setCells] = useState<readonly Counted[]>();
  const [error, setError] = useState<unknown>();
  const dataset = quoteName(test.dataset);
  useEffect(() => {
    const sql = `SELECT label AS label, maxLabel AS predicted, sum(weight) AS count FROM ${dataset} GROUP BY label, maxLabel`;
    queryRows<Counted>(sql).then(setCells, setError);
  }, [dataset]);
  if (error !== undefined) return <Failure error={error} />;
  if (cells === undefined) return <Waiting />;
  const labels = [
    ...new Set(cells.flatMap(({ label, predicted }) => [String(label), String(predicted)])),
  ].slice(0, LABELS_SHOWN);
  const total = cells.reduce((sum, { count }) => sum + count, 0);
  const right = cells.reduce(
    (sum, { label, predicted, count }) => sum + (label === predicted ? count : 0),
    0,
  );
  const find = (label: string, predicted: string) =>
    cells.find((cell) => String(cell.label) === label && String(cell.predicted) === predicted);
  const open = ({ label, predicted }: Counted) => {
    const kind = (value: unknown) => (typeof value === 'number' ? 'number' : 'text');
    const q = `SELECT * FROM ${dataset}\nWHERE ${conditionOf('label', kind(label), label)} AND ${conditionOf('maxLabel', kind(predicted), predicted)}`;
    go(['sql'], { q, run: '1' });
  };
  return (
    <>
      <div class="figures">
        <div>
          <strong>{(right / Math.max(1, total)).toFixed(3)}</strong>
          <span>accuracy</span>
        </div>
      </div>
      <div class="scroll">
        <table class="confusion" aria-label="Labels by predictions">
          <thead>
            <tr>
              <td />
              {labels.map((label) => (
                <th key={label} scope="col">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {labels.map((label) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                {labels.map((predicted) => {
                  const cell = find(label, predicted);
                  const style = { '--share': (cell?.count ?? 0) / Math.max(1, total) };
                  return (
                    <td
                      key={predicted}
                      class={label === predicted ? 'right' : 'missed'}
                      style={style}
                    >
                      {cell !== undefined && (
                        <button type="button" onClick={() => open(cell)}>
                          {cell.count.toLocaleString('en')}
                        </button>
                      )}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

const POINTS_MAX = 5000;

function Regression({ test }: { readonly test: TestOfModel }) {
  const [points, setPoints] = useState<readonly (readonly [number, number])[]>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const sql = `SELECT label AS label, score AS score FROM ${quoteName(test.dataset)} LIMIT ${POINTS_MAX}`;
    queryRows<{ label: number; score: number }>(sql).then(
      (rows) => setPoints(rows.map(({ label, score }) => [label, score] as const)),
      setError,
    );
  }, [test.dataset]);
  if (error !== undefined) return <Failure error={error} />;
  if (points === undefined) return <Waiting />;
  const mean = points.reduce((sum, [label]) => sum + label, 0) / Math.max(1, points.length);
  const squares = points.reduce((sum, [label, score]) => sum + (label - score) ** 2, 0);
  const variance = points.reduce((sum, [label]) => sum + (label - mean) ** 2, 0);
  return (
    <>
      <div class="figures">
        <div>
          <strong>{Math.sqrt(squares / Math.max(1, points.length)).toPrecision(4)}</strong>
          <span>root mean squared error</span>
        </div>
        <div>
          <strong>{variance === 0 ? '–' : (1 - squares / variance).toFixed(3)}</strong>
          <span>R²</span>
        </div>
      </div>
      <Picture
        label="Score over label"
        height={360}
        inputs={[points]}
        draw={(drawing, size) =>
          drawing.drawChart(
            { mark: 'dot', x: 'label', y: 'score', aggregate: 'count', colour: '', facet: '' },
            points.map(([x, y]) => ({ x, y })),
            undefined,
            size,
          )
        }
      />
    </>
  );
}
