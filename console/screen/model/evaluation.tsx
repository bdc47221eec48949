// How good a binary model is: one threshold moves every curve and table, down to the rows.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Button, Failure, Field, Waiting } from '../../part/basic.tsx';
import { Picture } from '../../part/chart/picture.tsx';
import { percent } from '../../part/result/column-card.tsx';
import { datasetsOf, quoteName } from '../../part/sql/text.ts';
import { go, place, replacePlace } from '../../route.ts';
import { call } from '../../state/api.ts';
import {
  areaUnder,
  type Confusion,
  calibrationOf,
  cheapest,
  costAt,
  curveOf,
  pointAt,
  precisionPoint,
  rocPoint,
  type Tested,
  thinned,
} from './curve.ts';
import type { TestOfModel } from './related.ts';

const ROW_COUNT_MAX = 500_000;
const DRAWN_POINTS = 600;

export function BinaryEvaluation({ test }: { readonly test: TestOfModel }) {
  const [tested, setTested] = useState<Tested>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    readTest(test.dataset).then(setTested, setError);
  }, [test.dataset]);
  if (error !== undefined) return <Failure error={error} />;
  if (tested === undefined) return <Waiting />;
  if (tested.scores.length === 0) return <p class="dim">The test has no rows.</p>;
  return <Measures tested={tested} test={test} />;
}

async function readTest(dataset: string): Promise<Tested> {
  const q = `SELECT score, label, weight FROM ${quoteName(dataset)} LIMIT ${ROW_COUNT_MAX}`;
  const columns = await call<Record<string, unknown[]>>('POST', '/v1/query', {
    body: { q, format: 'soa', rowNames: false },
  });
  const scores = Float64Array.from(columns.score ?? [], Number);
  return {
    scores,
    labels: Uint8Array.from(columns.label ?? [], (label) => (Number(label) === 1 ? 1 : 0)),
    weights: Float64Array.from(scores, (_, row) => Number(columns.weight?.[row] ?? 1)),
  };
}

function Measures({ tested, test }: { readonly tested: Tested; readonly test: TestOfModel }) {
  const points = useMemo(() => curveOf(tested), [tested]);
  const drawn = useMemo(() => thinned(points, DRAWN_POINTS), [points]);
  const calibration = useMemo(() => calibrationOf(tested), [tested]);
  const { path, query } = place.value;
  const [costs, setCosts] = useState({ falsePositive: 1, falseNegative: 1 });
  const given = query.threshold === undefined ? Number.NaN : Number(query.threshold);
  const isGiven = Number.isFinite(given);
  const threshold = isGiven ? given : cheapest(points, costs).threshold;
  const point = pointAt(points, threshold);
  const set = (value: number) => replacePlace(path, { ...query, threshold: String(value) });
  const index = points.indexOf(point);
  const [recall, precision] = precisionPoint(point);
  const [falsePositiveRate] = rocPoint(point);
  const total =
    point.truePositives + point.falsePositives + point.falseNegatives + point.trueNegatives;
  const area = areaUnder(points);
  return (
    <>
      <div class="figures">
        <Figure value={area.toFixed(4)} what="AUC" title={String(area)} />
        <Figure value={precision.toFixed(3)} what="precision" />
        <Figure value={recall.toFixed(3)} what="recall" />
        <Figure value={falsePositiveRate.toFixed(3)} what="false positive rate" />
        <Figure value={f1(precision, recall).toFixed(3)} what="F1" />
        <Figure value={costAt(point, costs).toLocaleString('en')} what="cost" />
        <Figure value={tested.scores.length.toLocaleString('en')} what="tested rows" />
      </div>
      <div class="threshold">
        <Field
          label={`Threshold ${thresholdText(threshold)}`}
          hint="A row is predicted positive when its score is at least this."
        >
          {(id) => (
            <input
              id={id}
              type="range"
              min={0}
              max={points.length - 1}
              step={1}
              value={points.length - 1 - index}
              aria-valuetext={thresholdText(threshold)}
              onInput={(event) => {
                const chosen = points[points.length - 1 - Number(event.currentTarget.value)];
                if (chosen !== undefined) set(Math.min(chosen.threshold, highest(tested) + 1));
              }}
            />
          )}
        </Field>
        <Field label="Cost of a false alarm">
          {(id) => (
            <CostInput
              id={id}
              value={costs.falsePositive}
              onChange={(falsePositive) => setCosts({ ...costs, falsePositive })}
            />
          )}
        </Field>
        <Field label="Cost of a miss">
          {(id) => (
            <CostInput
              id={id}
              value={costs.falseNegative}
              onChange={(falseNegative) => setCosts({ ...costs, falseNegative })}
            />
          )}
        </Field>
        <Button
          onClick={() => set(Math.min(cheapest(points, costs).threshold, highest(tested) + 1))}
        >
          Least cost
        </Button>
      </div>
      <ConfusionTable point={point} total={total} test={test} threshold={threshold} />
      <div class="curves">
        <Curve
          title="ROC"
          label={`ROC curve, area ${area.toFixed(3)}`}
          x="false positive rate"
          y="true positive rate"
          points={drawn.map(rocPoint)}
          chosen={rocPoint(point)}
          reference={DIAGONAL}
        />
        <Curve
          title="Precision and recall"
          label="Precision over recall"
          x="recall"
          y="precision"
          points={drawn.map(precisionPoint)}
          chosen={precisionPoint(point)}
        />
        <Curve
          title="Calibration"
          label="Share of true labels by mean score, in tenths of the rows"
          x="mean score"
          y="share true"
          points={calibration}
          reference={DIAGONAL}
          hasDots
        />
      </div>
      <details>
        <summary>Curves as numbers</summary>
        <CurveTable points={thinned(points, 40)} />
      </details>
    </>
  );
}

const DIAGONAL = [
  [0, 0],
  [1, 1],
] as const;

function highest({ scores }: Tested): number {
  let best = Number.NEGATIVE_INFINITY;
  for (const score of scores) if (score > best) best = score;
  return best;
}

function thresholdText(threshold: number): string {
  return Number.isFinite(threshold) ? String(Number(threshold.toPrecision(6))) : 'above all';
}

function f1(precision: number, recall: number): number {
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}

function CostInput({
  id,
  value,
  onChange,
}: {
  readonly id: string;
  readonly value: number;
  readonly onChange: (value: number) => void;
}) {
  return (
    <input
      id={id}
      type="number"
      min={0}
      step="any"
      class="short"
      value={value}
      onInput={(event) => onChange(Math.max(0, Number(event.currentTarget.value) || 0))}
    />
  );
}

function Figure({
  value,
  what,
  title,
}: {
  readonly value: string;
  readonly what: string;
  readonly title?: string;
}) {
  return (
    <div>
      <strong title={title}>{value}</strong>
      <span>{what}</span>
    </div>
  );
}

function Curve({
  title,
  label,
  ...curve
}: {
  readonly title: string;
  readonly label: string;
  readonly x: string;
  readonly y: string;
  readonly points: readonly (readonly [number, number])[];
  readonly chosen?: readonly [number, number];
  readonly reference?: readonly (readonly [number, number])[];
  readonly hasDots?: boolean;
}) {
  const { x, y, points, chosen, reference, hasDots } = curve;
  return (
    <figure>
      <figcaption>{title}</figcaption>
      <Picture
        label={label}
        height={260}
        inputs={[points, chosen?.join()]}
        draw={(drawing, size) =>
          drawing.drawCurve({
            ...size,
            ...{ xLabel: x, yLabel: y, points, chosen },
            ...(reference === undefined ? {} : { reference }),
            ...(hasDots === undefined ? {} : { hasDots }),
          })
        }
      />
    </figure>
  );
}

const CELLS = [
  { key: 'truePositives', label: 1, predicted: true, title: 'true positives' },
  { key: 'falseNegatives', label: 1, predicted: false, title: 'false negatives (misses)' },
  { key: 'falsePositives', label: 0, predicted: true, title: 'false positives (false alarms)' },
  { key: 'trueNegatives', label: 0, predicted: false, title: 'true negatives' },
] as const;

/** A cell opens exactly its rows. */
function ConfusionTable({
  point,
  total,
  test,
  threshold,
}: {
  readonly point: Confusion;
  readonly total: number;
  readonly test: TestOfModel;
  readonly threshold: number;
}) {
  const open = (label: number, predicted: boolean) =>
    go(['sql'], { q: rowsSql(test, label, predicted, threshold), run: '1' });
  const cell = ({ key, label, predicted, title }: (typeof CELLS)[number]) => {
    const isRight = (label === 1) === predicted;
    return (
      <td
        key={key}
        class={isRight ? 'right' : 'missed'}
        style={{ '--share': point[key] / Math.max(1, total) }}
      >
        <button type="button" onClick={() => open(label, predicted)} title={`Show the ${title}`}>
          <strong>{point[key].toLocaleString('en')}</strong>
          <span class="dim">
            {title}, {percent(point[key], total)}
          </span>
        </button>
      </td>
    );
  };
  return (
    <table class="confusion" aria-label="Confusion at the threshold">
      <thead>
        <tr>
          <td />
          <th scope="col">predicted positive</th>
          <th scope="col">predicted negative</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">label true</th>
          {CELLS.slice(0, 2).map(cell)}
        </tr>
        <tr>
          <th scope="row">label false</th>
          {CELLS.slice(2).map(cell)}
        </tr>
      </tbody>
    </table>
  );
}

/** The tested rows with what they were made of, where the test reads one dataset. */
export function rowsSql(
  { dataset, query }: TestOfModel,
  label: number,
  predicted: boolean,
  threshold: number,
): string {
  const limit = Number.isFinite(threshold) ? String(threshold) : '1e308';
  const tested = quoteName(dataset);
  const condition = `tested.label = ${label} AND tested.score ${predicted ? '>=' : '<'} ${limit}`;
  const sources = datasetsOf(query);
  const [source] = sources;
  if (source === undefined || sources.length > 1) {
    return `SELECT tested.score AS score, tested.label AS label\nFROM ${tested} AS tested\nWHERE ${condition}\nORDER BY tested.score DESC`;
  }
  return `SELECT tested.score AS score, tested.label AS label, source.* AS *\nFROM ${tested} AS tested\nJOIN ${quoteName(source)} AS source ON source.rowName() = tested.rowName()\nWHERE ${condition}\nORDER BY tested.score DESC`;
}

function CurveTable({ points }: { readonly points: ReturnType<typeof curveOf> }) {
  return (
    <div class="scroll">
      <table class="facts">
        <thead>
          <tr>
            <th>Threshold</th>
            <th class="number">True positives</th>
            <th class="number">False positives</th>
            <th class="number">False negatives</th>
            <th class="number">True negatives</th>
            <th class="number">Precision</th>
            <th class="number">Recall</th>
          </tr>
        </thead>
        <tbody>
          {points.map((point) => {
            const [recall, precision] = precisionPoint(point);
            return (
              <tr key={point.threshold}>
                <td>{thresholdText(point.threshold)}</td>
                <td class="number">{point.truePositives}</td>
                <td class="number">{point.falsePositives}</td>
                <td class="number">{point.falseNegatives}</td>
                <td class="number">{point.trueNegatives}</td>
                <td class="number">{precision.toFixed(3)}</td>
                <td class="number">{recall.toFixed(3)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
