// What a model is: how it was made, from what, what it takes and gives.
import { Button } from '../../part/basic.tsx';
import { Code } from '../../part/code.tsx';
import { Snippets } from '../../part/snippet.tsx';
import { go, href } from '../../route.ts';
import { entityPath } from '../../state/api.ts';
import { cached, type EntityDocument } from '../../state/catalogue.ts';
import { jsonText } from '../../state/json.ts';
import { queryText } from '../../state/procedures.ts';
import type { Related } from './related.ts';
import { type ModelFacts, TrainingFacts } from './training-facts.tsx';
import { type FunctionInfo, fieldKey, inputFields } from './value-info.ts';

export function Card({
  id,
  document,
  related,
}: {
  readonly id: string;
  readonly document: EntityDocument;
  readonly related: Related | undefined;
}) {
  const { config } = document;
  const info = cached<FunctionInfo>(entityPath('functions', id, '/info')).value;
  const card = cached<ModelFacts>(entityPath('functions', id, '/card')).value;
  const training = related?.training;
  const trainingConfig = training?.config as
    | { id?: string; type?: string; params?: Record<string, unknown> }
    | undefined;
  const fields = info === undefined ? undefined : inputFields(info);
  const surface = surfaceOf(document);
  return (
    <>
      <dl class="definition">
        {trainingConfig !== undefined && (
          <>
            <dt>Trained by</dt>
            <dd>
              <a href={href(['runs', trainingConfig.id ?? ''])}>{trainingConfig.id}</a>{' '}
              <span class="dim">{trainingConfig.type}</span>
            </dd>
          </>
        )}
        {related?.source !== undefined && (
          <>
            <dt>Trained on</dt>
            <dd>
              <a href={href(['data', related.source])}>{related.source}</a>
            </dd>
          </>
        )}
        {(related?.tests.length ?? 0) > 0 && (
          <>
            <dt>Tested by</dt>
            <dd>
              {related?.tests.map(({ procedure }) => (
                <a
                  key={procedure}
                  href={href(['models', id], { view: 'evaluate', test: procedure })}
                >
                  {procedure}{' '}
                </a>
              ))}
            </dd>
          </>
        )}
        <dt>Takes</dt>
        <dd>
          {fields === undefined
            ? 'any input'
            : fields.length === 0
              ? 'nothing'
              : fields.map((field) => (
                  <span key={fieldKey(field)} class="tag">
                    {field.path.join('.')} <span class="kind">{field.kind}</span>
                  </span>
                ))}
        </dd>
      </dl>
      {(related?.tests.length ?? 0) > 0 && (
        <p class="next">
          <span>Next</span>
          <Button kind="primary" onClick={() => go(['models', id], { view: 'evaluate' })}>
            See how good it is
          </Button>
          <Button onClick={() => go(['models', id], { view: 'try' })}>Try it</Button>
        </p>
      )}
      {surface !== undefined && (
        <section class="panel">
          <h2>Expression</h2>
          <Code text={surface} language="sql" />
        </section>
      )}
      {card !== undefined && <TrainingFacts card={card} />}
      {card?.trainingQuery === undefined && trainingConfig?.params?.trainingData !== undefined && (
        <section class="panel">
          <h2>Training query</h2>
          <Code text={queryText(trainingConfig.params.trainingData)} language="sql" />
        </section>
      )}
      <section class="panel">
        <h2>Configuration</h2>
        <Code text={jsonText(config?.params ?? {})} language="json" />
      </section>
      <details>
        <summary>How it is made by a program</summary>
        <Snippets
          call={{
            verb: 'PUT',
            path: entityPath('functions', id),
            body: jsonText({ type: config?.type, params: config?.params ?? {} }),
          }}
        />
      </details>
    </>
  );
}

/** The text of a function that is an expression or a query. */
function surfaceOf({ config }: EntityDocument): string | undefined {
  const { expression, query } = (config?.params ?? {}) as { expression?: unknown; query?: unknown };
  if (typeof expression === 'string') return expression;
  return query === undefined ? undefined : queryText(query);
}
