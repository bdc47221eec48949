// How training grows with rows: from a tenth of them to all, beside peers.

import { airlineCsv } from '../data/airline.mjs';
import { airlineTask, trainingMeasures } from '../data/trainings.mjs';

export const description = 'growth of training with rows: 1 is linear';

const TEST_ROW_COUNT = 100_000;
const FOREST = {
  ...{ featureVectorSamplings: 100, featureVectorSamplingProp: 1, featureSamplings: 1 },
  ...{ featureSamplingProp: 0.5, maxDepth: 20 },
};
const boosting = (own) => ({
  configuration: { type: 'gbt', num_rounds: 100, max_depth: 6, num_leaves: 64, ...own },
  equalizationFactor: 0,
});
const TASKS = [
  ['gbt', 'xgboost', boosting({ min_child_samples: 1 }), 'classifier.train', 1],
  ['gbt', 'lightgbm', boosting({}), 'classifier.train', 1.2],
  ['forest', 'forest', FOREST, 'randomforest.binary.train', 0.08],
];

export async function prepare({ rowCount }) {
  const test = airlineCsv(TEST_ROW_COUNT, 2);
  const measures = TASKS.flatMap(([name, peer, params, type, goal]) => {
    const values = new Map();
    const sized = [rowCount / 10, rowCount].flatMap((count) => {
      const files = [airlineCsv(count, 1), test];
      const task = airlineTask(files, params, type);
      const own = trainingMeasures({
        ...{ name: `${name}, ${count} rows`, task, peer, args: files, goal, tolerance: 0.003 },
      });
      for (const [contender, run] of Object.entries(own[0].contenders)) {
        own[0].contenders[contender] = () => {
          const result = run();
          values.set(`${contender} ${count}`, result.value);
          return result;
        };
      }
      return own;
    });
    const exponent = (contender) => {
      const [small, large] = [rowCount / 10, rowCount].map((n) => values.get(`${contender} ${n}`));
      return { value: Math.log10(large / small) };
    };
    const contenders = Object.keys(sized[0].contenders);
    return [
      ...sized,
      {
        name: `${name}: exponent of growth`,
        unit: '',
        contenders: Object.fromEntries(contenders.map((each) => [each, () => exponent(each)])),
      },
    ];
  });
  return { measures };
}
