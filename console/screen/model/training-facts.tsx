// The card that a training run leaves with its model: what it was trained on, how, and how it did.
import type { ComponentChildren } from 'preact';
import { Code } from '../../part/code.tsx';
import { percent } from '../../part/result/column-card.tsx';
import { durationText } from '../../part/words.ts';
import { href } from '../../route.ts';
import { jsonText } from '../../state/json.ts';

/** As `GET /v1/functions/<f>/card` gives it; members that a model does not have are missing or null. */
export interface ModelFacts {
  readonly kind?: string | null;
  readonly mode?: string | null;
  readonly algorithm?: string | null;
  readonly configuration?: unknown;
  readonly trainingQuery?: string | null;
  readonly datasets?:
    | readonly {
        readonly id: string;
        readonly rowCount?: number | null;
        readonly latestTimestamp?: string | null;
      }[]
    | null;
  readonly rows?: { readonly used?: number; readonly skippedNullLabel?: number } | null;
  readonly labelDistribution?: readonly (readonly [label: unknown, weight: number])[] | null;
  readonly features?: readonly FeatureFacts[] | null;
  readonly metrics?: unknown;
  readonly randomSeed?: number | null;
  readonly createdAt?: string | null;
  readonly durationSecs?: number | null;
  readonly rowanVersion?: string | null;
  readonly parentProcedure?: string | null;
  readonly runId?: string | null;
}

interface FeatureFacts {
  readonly name: string;
  readonly type?: string;
  /** a share */
  readonly missing?: number;
  readonly distinct?: number;
  readonly min?: unknown;
  readonly max?: unknown;
  readonly mean?: number;
}

const LABELS_SHOWN = 12;
const FEATURES_SHOWN = 100;

export function TrainingFacts({ card }: { readonly card: ModelFacts }) {
  const { rows, datasets, labelDistribution, features, metrics, configuration } = card;
  const labels = [...(labelDistribution ?? [])].sort((a, b) => b[1] - a[1]);
  return (
    <>
      <section class="panel">
        <h2>Training</h2>
        <dl class="definition">
          <Fact
            name="Model"
            value={[card.algorithm ?? card.kind, card.mode].filter(isThere).join(', ')}
          />
          {rows?.used !== undefined && (
            <Fact
              name="Rows"
              value={`${rows.used.toLocaleString('en')}${
                (rows.skippedNullLabel ?? 0) === 0
                  ? ''
                  : `, ${rows.skippedNullLabel?.toLocaleString('en')} without a label left out`
              }`}
            />
          )}
          {datasets?.map(({ id, rowCount, latestTimestamp }) => (
            <Fact
              key={id}
              name="Dataset"
              value={
                <>
                  <a href={href(['data', id])}>{id}</a>{' '}
                  <span class="dim">
                    {[
                      typeof rowCount === 'number'
                        ? `${rowCount.toLocaleString('en')} rows`
                        : undefined,
                      isThere(latestTimestamp) ? `latest cell ${latestTimestamp}` : undefined,
                    ]
                      .filter(isThere)
                      .join(', ')}
                  </span>
                </>
              }
            />
          ))}
          <Fact name="Seed" value={card.randomSeed} />
          <Fact name="Made" value={card.createdAt} />
          <Fact
            name="Took"
            value={
              typeof card.durationSecs === 'number'
                ? durationText(card.durationSecs * 1000)
                : undefined
            }
          />
          <Fact name="By Rowan" value={card.rowanVersion} />
          {isThere(card.parentProcedure) && isThere(card.runId) && (
            <Fact
              name="Run"
              value={<a href={href(['runs', card.parentProcedure, card.runId])}>{card.runId}</a>}
            />
          )}
        </dl>
      </section>
      {labels.length > 0 && <Labels labels={labels} />}
      {(features?.length ?? 0) > 0 && <Features features={features ?? []} />}
      {isThere(metrics) && (
        <section class="panel">
          <h2>Last test</h2>
          <Code text={jsonText(metrics)} language="json" />
        </section>
      )}
      {isThere(card.trainingQuery) && (
        <section class="panel">
          <h2>Training query</h2>
          <Code text={card.trainingQuery} language="sql" />
        </section>
      )}
      {isThere(configuration) && (
        <details>
          <summary>Options with their defaults</summary>
          <Code text={jsonText(configuration)} language="json" />
        </details>
      )}
    </>
  );
}

function isThere<Value>(value: Value | null | undefined): value is Value {
  return value !== undefined && value !== null && value !== '';
}

function Fact({ name, value }: { readonly name: string; readonly value: ComponentChildren }) {
  if (!isThere(value)) return null;
  return (
    <>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

function Labels({ labels }: { readonly labels: readonly (readonly [unknown, number])[] }) {
  const total = labels.reduce((sum, [, weight]) => sum + weight, 0);
  const most = Math.max(1e-12, ...labels.map(([, weight]) => weight));
  return (
    <section class="panel">
      <h2>Labels</h2>
      <table class="facts bars">
        <tbody>
          {labels.slice(0, LABELS_SHOWN).map(([label, weight]) => (
            <tr key={String(label)}>
              <th scope="row">{typeof label === 'object' ? jsonText(label) : String(label)}</th>
              <td class="number">
                {Number(weight.toPrecision(8)).toLocaleString('en')}{' '}
                <span class="dim">{percent(weight, total)}</span>
              </td>
              <td class="bar-cell">
                <span class="bar-part" style={{ '--share': weight / most }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {labels.length > LABELS_SHOWN && (
        <p class="dim">and {labels.length - LABELS_SHOWN} rarer labels</p>
      )}
    </section>
  );
}

function Features({ features }: { readonly features: readonly FeatureFacts[] }) {
  const number = (value: unknown) =>
    typeof value === 'number'
      ? String(Number(value.toPrecision(6)))
      : isThere(value)
        ? String(value)
        : '';
  return (
    <section class="panel">
      <h2>Features</h2>
      <div class="scroll">
        <table class="facts">
          <thead>
            <tr>
              <th>Name</th>
              <th>Type</th>
              <th class="number">Missing</th>
              <th class="number">Distinct</th>
              <th class="number">Least</th>
              <th class="number">Mean</th>
              <th class="number">Greatest</th>
            </tr>
          </thead>
          <tbody>
            {features
              .slice(0, FEATURES_SHOWN)
              .map(({ name, type, missing, distinct, ...range }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="dim">{type}</td>
                  <td class="number">{missing === undefined ? '' : percent(missing, 1)}</td>
                  <td class="number">{distinct?.toLocaleString('en')}</td>
                  <td class="number">{number(range.min)}</td>
                  <td class="number">{number(range.mean)}</td>
                  <td class="number">{number(range.max)}</td>
                </tr>
              ))}
          </tbody>
        </table>
      </div>
      {features.length > FEATURES_SHOWN && (
        <p class="dim">and {(features.length - FEATURES_SHOWN).toLocaleString('en')} more</p>
      )}
    </section>
  );
}
