// Committees of trees beside ranger and scikit-learn, where R and a Python that has it are at hand.

import { airlineCsv } from '../data/airline.mjs';
import { numbersCsv } from '../data/tables.mjs';
import { airlineTask, numbersTask, trainingMeasures } from '../data/trainings.mjs';

export const description = 'forests, bagging and boosting of trees, each in its own process';

const TEST_ROW_COUNT = 100_000;
const AUC_LOSS_MAX = 0.003;

export async function prepare({ rowCount }) {
  const airline = [airlineCsv(rowCount, 1), airlineCsv(TEST_ROW_COUNT, 2)];
  const numberCount = Math.max(1000, rowCount / 10);
  const numbers = [numbersCsv(numberCount, 50, 1), numbersCsv(20_000, 50, 2)];
  const forest = {
    ...{ featureVectorSamplings: 100, featureVectorSamplingProp: 1, featureSamplings: 1 },
    ...{ featureSamplingProp: 0.5, maxDepth: 20 },
  };
  const bagging = {
    ...{ type: 'bagging', num_bags: 20, validation_split: 0.35 },
    weak_learner: { type: 'decision_tree', max_depth: -1 },
  };
  const boosting = {
    ...{ type: 'boosting', min_iter: 50, max_iter: 50, validate_split: 0 },
    weak_learner: { type: 'decision_tree', max_depth: 3, update_alg: 'gentle' },
  };
  const stumps = { type: 'boosted_stumps', min_iter: 200, max_iter: 200, validate_split: 0 };
  const tolerance = AUC_LOSS_MAX;
  const measure = (name, peer, task, args, goal) =>
    trainingMeasures({ name, peer, task, args, goal, tolerance });
  const forestTask = airlineTask(airline, forest, 'randomforest.binary.train');
  return {
    measures: [
      ...measure('forest 100 x depth 20', 'ranger', forestTask, airline, 0.08),
      ...measure('forest 100 x depth 20', 'forest', forestTask, airline, 0.08),
      ...measure(
        'bagging 20 x unlimited',
        'bagging',
        airlineTask(airline, { configuration: bagging, equalizationFactor: 0 }),
        airline,
        0.08,
      ),
      ...measure(
        'boosting 50 x depth 3',
        'adaboost',
        numbersTask(numbers, 'late', { configuration: boosting, equalizationFactor: 0 }),
        [...numbers, 50, 3],
        0.3,
      ),
      ...measure(
        'boosted stumps 200',
        'stumps',
        numbersTask(numbers, 'late', { configuration: stumps, equalizationFactor: 0 }),
        [...numbers, 200, 1],
        0.3,
      ),
    ],
  };
}
