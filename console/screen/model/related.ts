// What made a model, and what tested it, found among the procedures.
import { type EntityDocument, idOf } from '../../state/catalogue.ts';
import { procedureDocuments, queryText, sourceOf } from '../../state/procedures.ts';

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

export async function relatedTo(model: string): Promise<Related> {
  const found = await procedureDocuments();
  const ofModel = found.filter(({ config }) => config?.params?.functionName === model);
  const training = ofModel.find(({ config }) => config?.type !== 'classifier.importance');
  return {
    training,
    source: training === undefined ? undefined : sourceOf(training),
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
