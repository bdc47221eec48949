// What moved the score of a case: a bias and one part for each feature, which sum to the score.
import { useEffect, useState } from 'preact/hooks';
import { Button, Failure, useRested } from '../../part/basic.tsx';
import { call, entityPath } from '../../state/api.ts';
import { cached, change, type EntityDocument } from '../../state/catalogue.ts';
import { outputNumbers } from './value-info.ts';

interface Explained {
  readonly bias: number;
  readonly parts: readonly (readonly [feature: string, part: number])[];
}

const PARTS_SHOWN = 14;
const DELAY_MS = 120;

export function Explanation({
  id,
  modelFileUrl,
  input,
  score,
}: {
  readonly id: string;
  readonly modelFileUrl: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly score: number | undefined;
}) {
  const name = `${id}_explain`;
  const isListed = cached<string[]>('/v1/functions').value?.includes(name) === true;
  // A function is listed from the moment that it is being made.
  const made = isListed ? cached<EntityDocument>(entityPath('functions', name)).value : undefined;
  const exists = made?.state === 'ok';
  const [explained, setExplained] = useState<Explained>();
  const [error, setError] = useState<unknown>();
  const rested = useRested(input, DELAY_MS);
  useEffect(() => {
    if (!exists) return;
    const abort = new AbortController();
    const body = { input: { label: 1, ...rested }, outputFormat: 'json' };
    call('POST', entityPath('functions', name, '/application'), {
      body,
      signal: abort.signal,
      isSilent: true,
    }).then(
      (output) => {
        setExplained(explainedOf(output));
        setError(undefined);
      },
      (thrown: unknown) => {
        if (!abort.signal.aborted) setError(thrown);
      },
    );
    return () => abort.abort();
  }, [exists, rested, name]);
  const make = () =>
    change('PUT', entityPath('functions', name), {
      body: { type: 'classifier.explain', params: { modelFileUrl } },
    }).catch(setError);
  return (
    <section class="panel">
      <h2>Explanation</h2>
      {!exists && (
        <div class="row">
          <Button onClick={() => void make()}>Explain the score</Button>
          <span class="dim">makes the function {name}</span>
        </div>
      )}
      {error !== undefined && <Failure error={error} />}
      {exists && explained !== undefined && <Bars explained={explained} score={score} />}
    </section>
  );
}

function explainedOf(output: unknown): Explained {
  const { bias = 0, explanation } = output as { bias?: number; explanation?: unknown };
  const parts = [...outputNumbers(explanation)].sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  return { bias, parts };
}

function Bars({
  explained: { bias, parts },
  score,
}: {
  readonly explained: Explained;
  readonly score: number | undefined;
}) {
  const shown = parts.slice(0, PARTS_SHOWN);
  const rest = parts.slice(PARTS_SHOWN).reduce((sum, [, part]) => sum + part, 0);
  const all = [
    ['bias', bias] as const,
    ...shown,
    ...(rest === 0 ? [] : [['all others', rest] as const]),
  ];
  const largest = Math.max(1e-12, ...all.map(([, part]) => Math.abs(part)));
  const sum = bias + parts.reduce((total, [, part]) => total + part, 0);
  return (
    <table class="facts bars">
      <tbody>
        {all.map(([feature, part]) => (
          <tr key={feature}>
            <th scope="row">{feature}</th>
            <td class="number">{signed(part)}</td>
            <td class="bar-cell">
              <span
                class={part < 0 ? 'bar-part less' : 'bar-part'}
                style={{ '--share': Math.abs(part) / largest }}
              />
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">sum</th>
          <td class="number">
            <strong>{Number(sum.toPrecision(6))}</strong>
          </td>
          <td class="dim">
            {score !== undefined && Math.abs(sum - score) > 1e-6 * Math.max(1, Math.abs(score))
              ? 'before the link to a probability'
              : ''}
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toPrecision(4)}`;
}
