// Linear models beside scikit-learn and glmnet, where a Python and an R that have them are at hand.

import { airlineCsv } from '../data/airline.mjs';
import { numbersCsv } from '../data/tables.mjs';
import { airlineTask, numbersTask, trainingMeasures } from '../data/trainings.mjs';

export const description = 'logistic, ridge and L1 regressions, each in its own process';

export async function prepare({ rowCount }) {
  const airline = [airlineCsv(rowCount, 1), airlineCsv(100_000, 2)];
  const numbers = [numbersCsv(Math.max(1000, rowCount / 10), 50, 1), numbersCsv(20_000, 50, 2)];
  const ridge = { type: 'glz', link_function: 'linear', regularization_factor: 1 };
  const path = { regularization_factor: -1, regularization_path: 50 };
  const lasso = { ...ridge, regularization: 'l1', ...path };
  const task = (configuration) => numbersTask(numbers, 'y', { configuration });
  return {
    measures: [
      ...trainingMeasures({
        ...{ name: 'logistic, one-hot', peer: 'logistic', args: airline },
        task: airlineTask(airline, { configuration: { type: 'glz' }, equalizationFactor: 0 }),
        ...{ goal: 0.4, tolerance: 0.003 },
      }),
      ...trainingMeasures({
        ...{ name: 'ridge', peer: 'ridge', args: numbers, task: task(ridge) },
        ...{ goal: 1, tolerance: 0.005 },
      }),
      ...trainingMeasures({
        // With the error of each factor, which the peer does not compute.
        ...{ name: 'L1, path of 50', peer: 'glmnet', args: numbers, task: task(lasso) },
        goal: 1,
      }),
    ],
  };
}
