import { Type } from 'typebox';
import { frequenciesToJson } from '../../learn/tfidf.ts';
import { inputQuery, outputDataset } from '../../schema/declare.ts';
import { Path } from '../../value/path.ts';
import { flatten, type Row, Scalar, type Value } from '../../value/value.ts';
import {
  checkFunctionUrl,
  functionName,
  optionalModelFileUrl,
} from '../classifier/model-parameter.ts';
import { runOnCreation } from '../parameter.ts';
import { workerProcedure } from '../procedure-type.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import { TRAINING_STEPS } from '../training/training-steps.ts';

const TYPE = 'tfidf.train';
const ROWS_PER_CHECK = 256;

/** Counts the documents in which each term occurs. */
export const tfidfTrain = workerProcedure({
  name: TYPE,
  summary: 'Counts in how many documents each term occurs, for weights by rarity.',
  parameters: Type.Object({
    trainingData: inputQuery({
      description: 'selects documents: a row each, a column for each term that it has',
    }),
    outputDataset: Type.Optional(
      outputDataset({
        description: 'dataset to make of the counts, a row for each term',
        defaultType: 'sparse.mutable',
      }),
    ),
    modelFileUrl: optionalModelFileUrl,
    functionName,
    ...runOnCreation,
  }),
  check(params) {
    checkFunctionUrl(TYPE, params);
    const rules = { type: TYPE, shape: 'any', allowsGroupBy: true } as const;
    checkTrainingQuery(params.trainingData, rules);
  },
  run(context, params) {
    const steps = context.steps(TRAINING_STEPS);
    const { modelFileUrl } = params;
    return withModelFileIfAny(context.files, modelFileUrl, async (save) => {
      steps.next();
      const prepared = context.query(params.trainingData);
      steps.next();
      const tally = new TermTally();
      let documentCount = 0;
      for (const { row } of prepared.run()) {
        if (documentCount++ % ROWS_PER_CHECK === 0) context.checkCancelled();
        tally.add(row);
      }
      const counts = tally.counts();
      steps.next();
      const modelCard = makeModelCard(context, {
        kind: 'tfidf',
        algorithm: 'tfidf',
        configuration: trainingOptions(params),
        trainingQuery: params.trainingData,
        rows: { used: documentCount },
        features: [],
        redactFeatureStats: false,
        randomSeed: null,
      });
      await save(frequenciesToJson({ documentCount, counts }), modelCard);
      if (params.outputDataset != null) {
        const output = context.output(params.outputDataset, 'sparse.mutable');
        for (const [term, count] of counts) {
          const cells = [[Path.of('count'), count, context.startedAt] as const];
          output.record({ name: Path.parse(term), cells });
        }
        output.commit();
      }
      steps.finish();
      if (params.functionName !== '') {
        context.outputFunction({
          id: params.functionName,
          type: 'tfidf',
          params: { modelFileUrl },
        });
      }
      return { details: { modelCard } };
    });
  },
});

/** In how many documents each term occurs. */
class TermTally {
  /** terms of one path element, by that element as it is, which spares printing it for each document */
  readonly #elements = new Map<string, { count: number }>();
  readonly #paths = new Map<string, number>();

  add(document: Row): void {
    const { names, values } = document;
    let before: string | undefined;
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string;
      const value = values[i] as Value;
      if (!(value instanceof Scalar)) {
        this.#addNested(name, value);
        continue;
      }
      // Several values of a term stand side by side, and count once.
      if (value.atom === null || name === before) continue;
      before = name;
      const known = this.#elements.get(name);
      if (known === undefined) this.#elements.set(name, { count: 1 });
      else known.count++;
    }
  }

  #addNested(name: string, value: Value): void {
    let before: string | undefined;
    flatten(value, [name], (path, atom) => {
      const term = path.toString();
      if (atom === null || term === before) return;
      before = term;
      this.#paths.set(term, (this.#paths.get(term) ?? 0) + 1);
    });
  }

  /** By the paths of the terms. */
  counts(): Map<string, number> {
    const counts = new Map(this.#paths);
    for (const [element, { count }] of this.#elements)
      counts.set(Path.of(element).toString(), count);
    return counts;
  }
}
