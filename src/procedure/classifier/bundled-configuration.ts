// The configurations that algorithms are picked from when a procedure brings none.

const gentleTree = (max_depth: number, random_feature_propn: number) => ({
  type: 'decision_tree',
  max_depth,
  update_alg: 'gentle',
  random_feature_propn,
});

const boosting = (min_iter: number, max_iter: number, weak_learner: object, more: object = {}) => ({
  type: 'boosting',
  min_iter,
  max_iter,
  ...more,
  weak_learner,
});

const bagging = (num_bags: number, weak_learner: object, more: object = {}) => ({
  type: 'bagging',
  num_bags,
  ...more,
  weak_learner,
});

const TRACED = { trace_training_acc: true };

export const BUNDLED_CONFIGURATIONS = {
  nn: { type: 'perceptron', arch: 50, max_iter: 100, learning_rate: 0.01, batch_size: 10 },
  bbdt: bagging(5, boosting(5, 30, gentleTree(3, 0.5))),
  bbdt2: bagging(32, boosting(5, 10, gentleTree(5, 0.8))),
  bbdt_d2: bagging(5, boosting(5, 30, gentleTree(2, 1))),
  bbdt_d5: bagging(5, boosting(5, 30, gentleTree(5, 1))),
  bdt: bagging(20, { type: 'decision_tree', max_depth: 5 }),
  dt: { type: 'decision_tree', max_depth: 8, update_alg: 'prob' },
  glz_linear: { type: 'glz', link_function: 'linear', normalize: true, regularization: 'l2' },
  glz: { type: 'glz', link_function: 'logit', normalize: true, regularization: 'l2' },
  glz2: { type: 'glz' },
  bglz: bagging(32, { type: 'glz', feature_proportion: 1 }, { validation_split: 0.1 }),
  bs: { type: 'boosted_stumps', min_iter: 10, max_iter: 200, update_alg: 'gentle' },
  bs2: boosting(5, 300, gentleTree(1, 1), TRACED),
  bbs2: bagging(5, boosting(5, 300, gentleTree(1, 1), TRACED)),
  gbt: { type: 'gbt' },
  naive_bayes: { type: 'naive_bayes', feature_prop: 1 },
  rf: bagging(
    100,
    { type: 'decision_tree', max_depth: 20, update_alg: 'prob', random_feature_propn: 0.3 },
    { validation_split: 0.35 },
  ),
} as const;
