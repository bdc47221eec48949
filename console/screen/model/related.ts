// What made a model, and what tested it, found among the procedures.
import { datasetsOf } from '../../part/sql/text.ts';
import { call, entityPath } from '../../state/api.ts';
import { type EntityDocument, idOf } from '../../state/catalogue.ts';

export interface TestOfModel {
  readonly procedure: string;
  readonly dataset: string;
  readonly mode: string;
  readonly query: string;
}

export interface Related {
  readonly training: EntityDocument | undefined;
  readonly tests: readonly TestOfModel[];
  /** the dataset that it was trained on, where that is one */
  readonly source: string | undefined;
}

/** Of large stores only so many procedures are looked at, the last ones by name. */
const LOOKED_AT_MAX = 500;

export async function relatedTo(model: string): Promise<Related> {
  const ids = await call<string[]>('GET', '/v1/procedures', { isSilent: true });
  const documents = await Promise.all(
    ids
      .slice(-LOOKED_AT_MAX)
      .map((id) =>
        call<EntityDocument>('GET', entityPath('procedures', id), { isSilent: true }).catch(
          () => undefined,
        ),
      ),
  );
  const found = documents.filter((document) => document !== undefined);
  const training = found.find(({ config }) => config?.params?.functionName === model);
  const query = queryText(training?.config?.params?.trainingData);
  return {
    training,
    source: datasetsOf(query)[0],
    tests: found.flatMap((document) => testOf(document, model) ?? []),
  };
}

function testOf({ id, config }: EntityDocument, model: string): TestOfModel | undefined {
  const {
    testingData,
    outputDataset,
    mode = 'boolean',
  } = (config?.params ?? {}) as Record<string, unknown>;
  const query = queryText(testingData);
  const dataset = idOf(outputDataset);
  const isCalled = query.includes(`${model}(`) || query.includes(`"${model}"(`);
  if (config?.type !== 'classifier.test' || dataset === undefined || !isCalled) return undefined;
  const procedure = (config as { id?: string }).id ?? id;
  return { procedure, dataset, mode: String(mode), query };
}

/** A query is a text, or its clauses. */
export function queryText(query: unknown): string {
  if (typeof query === 'string') return query;
  const { select = '*', from = '' } = (query ?? {}) as { select?: string; from?: unknown };
  return `SELECT ${select} FROM ${typeof from === 'string' ? from : (idOf(from) ?? '')}`;
}
