// What a finished run offers to do next.
import { Button } from '../../part/basic.tsx';
import { quoteName } from '../../part/sql/text.ts';
import { go } from '../../route.ts';
import { type EntityDocument, idOf } from '../../state/catalogue.ts';

export function NextSteps({
  document,
  status,
}: {
  readonly document: EntityDocument;
  readonly status: Readonly<Record<string, unknown>> | undefined;
}) {
  const params = document.config?.params ?? {};
  const dataset = idOf(params.outputDataset);
  const model = idOf(params.functionName);
  const { auc } = (status ?? {}) as { auc?: number };
  if (dataset === undefined && model === undefined) return null;
  return (
    <p class="next">
      <span>Next</span>
      {dataset !== undefined && (
        <>
          <Button kind="primary" onClick={() => go(['data', dataset])}>
            Look at {dataset}
          </Button>
          <Button
            onClick={() => go(['sql'], { q: `SELECT * FROM ${quoteName(dataset)}`, run: '1' })}
          >
            Query it
          </Button>
          <Button onClick={() => go(['models', 'train'], { dataset })}>Train a model on it</Button>
        </>
      )}
      {model !== undefined && (
        <>
          <Button kind="primary" onClick={() => go(['models', model])}>
            Open model {model}
          </Button>
          <Button onClick={() => go(['models', model], { view: 'try' })}>Try it</Button>
        </>
      )}
      {auc !== undefined && <span class="dim">AUC {auc.toFixed(3)}</span>}
    </p>
  );
}
