// What the procedures of the service were told to do: from it follows what made a dataset or a model.
import { datasetsOf } from '../part/sql/text.ts';
import { call, entityPath } from './api.ts';
import { type EntityDocument, idOf } from './catalogue.ts';

/** Of large stores only so many procedures are looked at, the last ones by name. */
const LOOKED_AT_MAX = 500;

export async function procedureDocuments(): Promise<EntityDocument[]> {
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
  return documents.filter((document) => document !== undefined);
}

/** A query is a text, or its clauses. */
export function queryText(query: unknown): string {
  if (typeof query === 'string') return query;
  const { select = '*', from = '' } = (query ?? {}) as { select?: string; from?: unknown };
  return `SELECT ${select} FROM ${typeof from === 'string' ? from : (idOf(from) ?? '')}`;
}

/** The dataset whose rows a procedure reads. */
export function sourceOf({ config }: EntityDocument): string | undefined {
  const { trainingData, inputData } = config?.params ?? {};
  const query = trainingData ?? inputData;
  return query === undefined ? undefined : datasetsOf(queryText(query))[0];
}

/** The dataset from which another was made, row for row, as far as a procedure says so. */
export async function originOf(dataset: string): Promise<string | undefined> {
  const made = (await procedureDocuments()).find(({ config }) => {
    const { outputDataset, rowOutputDataset } = config?.params ?? {};
    return [outputDataset, rowOutputDataset].some((each) => idOf(each) === dataset);
  });
  return made === undefined ? undefined : sourceOf(made);
}
