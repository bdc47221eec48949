import { type Static, Type } from 'typebox';
import { fitIsotonic } from '../../learn/glz/isotonic.ts';
import { LINKS, type Link } from '../../learn/glz/link.ts';
import { fitProbabilizer } from '../../learn/glz/probabilizer.ts';
import { emptyTestSet } from '../../learn/metric/test-set.ts';
import {
  type ProbabilizerModel,
  probabilizerDocument,
  probabilizerToJson,
} from '../../learn/model/probabilizer-json.ts';
import { choice, inputQuery } from '../../schema/declare.ts';
import { runOnCreation } from '../parameter.ts';
import { type ProcedureContext, workerProcedure } from '../procedure-type.ts';
import { fitContext } from '../training/fit-context.ts';
import { makeModelCard, trainingOptions } from '../training/model-card.ts';
import { withModelFileIfAny } from '../training/model-file.ts';
import { checkTrainingQuery } from '../training/training-query.ts';
import {
  checkFunctionUrl,
  functionName,
  optionalModelFileUrl,
  redactFeatureStats,
} from './model-parameter.ts';
import { readTestRows, type TestRow } from './test-rows.ts';

const TYPE = 'probabilizer.train';

const UPPER_LINKS = ['LOGIT', 'PROBIT', 'COMP_LOG_LOG', 'LINEAR', 'LOG'] as const;

const PARAMETERS = Type.Object({
  trainingData: inputQuery({ description: 'selects a score, a label, and perhaps a weight' }),
  link: choice(UPPER_LINKS, {
    description: 'method glz: from slope x score + constant to a probability',
    default: 'LOGIT',
  }),
  method: choice(['glz', 'isotonic'], {
    description: 'glz: a formula of two numbers; isotonic: any function that never falls',
    default: 'glz',
  }),
  modelFileUrl: optionalModelFileUrl,
  functionName,
  redactFeatureStats,
  ...runOnCreation,
});

/** Learns to turn scores into probabilities. */
export const probabilizerTrain = workerProcedure({
  name: TYPE,
  summary: 'Learns to turn the scores of a classifier into probabilities.',
  parameters: PARAMETERS,
  check(params) {
    checkFunctionUrl(TYPE, params);
    checkTrainingQuery(params.trainingData, { type: TYPE, shape: 'score and label' });
  },
  async run(context, params) {
    const { modelFileUrl, functionName: name } = params;
    const steps = context.steps([
      { name: 'extracting features', type: 'percentile' },
      { name: 'training', type: 'percentile' },
      { name: 'saving model', type: 'percentile' },
    ]);
    const { result, modelCard } = await withModelFileIfAny(
      context.files,
      modelFileUrl,
      async (save) => {
        steps.next();
        const rows = readTestRows(context, params.trainingData, 'boolean');
        if (rows.length === 0) throw emptyTestSet(TYPE);
        steps.next();
        const model = fit(context, rows, params);
        steps.next();
        const scores = Float64Array.from(rows, ({ score }) => score);
        const card = makeModelCard(context, {
          kind: 'probabilizer',
          mode: 'boolean',
          algorithm: params.method,
          configuration: trainingOptions(params),
          trainingQuery: params.trainingData,
          rows: { used: rows.length },
          labelDistribution: truthWeights(rows),
          features: [{ kind: 'numbers' as const, name: 'score', pieces: [{ values: scores }] }],
          redactFeatureStats: params.redactFeatureStats,
          randomSeed: null,
        });
        await save(probabilizerToJson(model), card);
        return { result: probabilizerDocument(model), modelCard: card };
      },
    );
    steps.finish();
    if (name !== '') {
      context.outputFunction({ id: name, type: 'probabilizer', params: { modelFileUrl } });
    }
    return { result, details: { modelCard } };
  },
});

function truthWeights(rows: readonly TestRow[]): [unknown, number][] {
  const totals = [0, 0];
  for (const { truth, weight } of rows) {
    totals[Number(truth)] = (totals[Number(truth)] as number) + weight;
  }
  return totals.map((total, label) => [label, total]);
}

function fit(
  context: ProcedureContext,
  rows: ReturnType<typeof readTestRows>,
  { link, method }: Static<typeof PARAMETERS>,
): ProbabilizerModel {
  const scores = Float64Array.from(rows, ({ score }) => score);
  const targets = Float64Array.from(rows, ({ truth }) => Number(truth));
  const weights = Float64Array.from(rows, ({ weight }) => weight);
  if (method === 'isotonic') {
    return { style: 'isotonic', ...fitIsotonic(scores, targets, weights) };
  }
  const own = LINKS[UPPER_LINKS.indexOf(link)] as Link;
  const learning = fitContext(context, () => undefined);
  const params = fitProbabilizer(learning, scores, targets, weights, own);
  return { style: 'glz', link: own, params };
}
