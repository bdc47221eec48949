// What a finished run offers to do next.
import { Button } from '../../part/basic.tsx';
import { go } from '../../route.ts';
import type { EntityDocument } from '../../state/catalogue.ts';

export function NextSteps({
  document,
  status,
}: {
  readonly document: EntityDocument;
  readonly status: Readonly<Record<string, unknown>> | undefined;
}) {
  const params = document.config?.params ?? {};
  const dataset = idOf(params.outputDataset);
  const { auc } = (status ?? {}) as { auc?: number };
  if (dataset === undefined) return null;
  return (
    <p class="next">
      <span>Next</span>
      {dataset !== undefined && (
        <>
          <Button kind="primary" onClick={() => go(['data', dataset])}>
            Look at {dataset}
          </Button>
          <Button
            onClick={() =>
              go(['sql'], { q: `SELECT * FROM "${dataset.replaceAll('"', '""')}"`, run: '1' })
            }
          >
            Query it
          </Button>
        </>
      )}
      {auc !== undefined && <span class="dim">AUC {auc.toFixed(3)}</span>}
    </p>
  );
}

/** The id in a reference, which is a text or a configuration. */
export function idOf(reference: unknown): string | undefined {
  const id =
    typeof reference === 'object' && reference !== null
      ? (reference as { id?: unknown }).id
      : reference;
  return typeof id === 'string' && id !== '' ? id : undefined;
}
