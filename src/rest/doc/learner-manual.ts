// What the page of learners says of each beside its options.

export interface LearnerManual {
  readonly when: string;
  /** formulas and rules, a paragraph each */
  readonly method: readonly string[];
  readonly typical: string;
  /** n rows, p columns */
  readonly cost: string;
  readonly source: string;
  readonly mode: 'boolean' | 'regression' | 'categorical' | 'multilabel';
  readonly example: object;
}

/** By type. Every learner has one, and its example trains: a test says so. */
export const LEARNER_MANUALS: Readonly<Record<string, LearnerManual>> = {
  bagging: {
    when: 'The inner learner varies much from sample to sample, as deep trees do. With `decision_tree` inside and `random_feature_propn` below 1 it is a random forest.',
    method: [
      'Each of m members sees a share `1 - validation_split` of the rows, drawn anew, whose weights are multiplied by the counts of n draws with replacement. The score is the mean: f(x) = (1/m) Σ f_j(x).',
    ],
    typical: '20 to 200 bags of trees of depth 8 to 20; `random_feature_propn` 0.3 to 0.7.',
    cost: 'Time and memory are m times those of the member; trees are trained on all threads.',
    source: 'Breiman, "Bagging predictors", Machine Learning 24, 1996; "Random forests", 45, 2001.',
    mode: 'boolean',
    example: {
      type: 'bagging',
      num_bags: 10,
      weak_learner: { type: 'decision_tree', max_depth: 8, random_feature_propn: 0.5 },
    },
  },
  boosted_stumps: {
    when: 'Many features of which each says a little, clean labels, and a model that stays a list of tests.',
    method: [
      'Boosting with one test a round. The test is the one with the least Z = 2 Σ √(w⁺ w⁻) over its outcomes and labels; an outcome says ½ ln((w⁺ + ε)/(w⁻ + ε)).',
    ],
    typical:
      '50 to 500 rounds; `validate_split` 0.3 chooses the round by rows that do not train, 0 by those that do, which are all.',
    cost: 'O(n p) a round; memory of n rows of bytes a column.',
    source:
      'Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37, 1999; Freund & Schapire, J. of Computer and System Sciences 55, 1997.',
    mode: 'boolean',
    example: { type: 'boosted_stumps', min_iter: 10, max_iter: 50 },
  },
  boosting: {
    when: 'Small trees on clean labels. Labels that are often wrong gain weight round by round; `gbt` bears them better.',
    method: [
      'Weights v of rows and labels begin as the weights of the rows. After each round v(i, l) is multiplied by exp(−f(i, l)) where l is the label of row i, by exp(f(i, l)) elsewhere, and scaled to sum 1. The score is the sum of the rounds up to the best one on the rows that were set aside.',
    ],
    typical:
      'Trees of depth 1 to 4 with `update_alg` gentle, 10 to 300 rounds. `validate_split` 0 with few rows: all of them train, and as many rounds as `max_iter` says.',
    cost: 'Rounds times the cost of the inner learner, and O(n) a round for weights.',
    source:
      'Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", Machine Learning 37, 1999.',
    mode: 'boolean',
    example: {
      type: 'boosting',
      min_iter: 5,
      max_iter: 20,
      weak_learner: { type: 'decision_tree', max_depth: 3, update_alg: 'gentle' },
    },
  },
  decision_tree: {
    when: 'One model that a person can follow, or the member of a committee.',
    method: [
      'A test has three outcomes: true, false and missing. Classification takes the test with the least Z = 2 Σ √(w⁺ w⁻) over outcomes and labels, regression the one with the least Σ w (y − mean)².',
      'A leaf says w⁺/(w⁺ + w⁻) (`prob`), (w⁺ − w⁻)/(w⁺ + w⁻) (`gentle`) or ½ ln((w⁺ + ε)/(w⁻ + ε)) with ε = 1/rows (`normal`); in regression the weighted mean.',
    ],
    typical: '`max_depth` 4 to 8 to be read, 10 to 20 in a bag.',
    cost: 'O(n p) a level: columns are at most 255 buckets of a byte a row.',
    source:
      'Breiman et al., "Classification and regression trees", 1984; Schapire & Singer 1999 for the score.',
    mode: 'boolean',
    example: { type: 'decision_tree', max_depth: 6 },
  },
  fasttext: {
    when: 'Bags of words with many texts, where a word counts as often as it occurs.',
    method: [
      'A row is the mean h of the vectors of its words, as often as each occurs; P(l) = exp(u_l · h) / Σ exp(u_k · h). Stochastic gradient descent lowers −ln P(label), with a rate that falls from 0.05 to 0. The score of a label is ln P(l).',
    ],
    typical: '`dims` 10 to 100, `epoch` 5 to 25.',
    cost: 'O(words × dims × epoch); memory (words + labels) × dims floats.',
    source: 'Joulin et al., "Bag of tricks for efficient text classification", EACL 2017.',
    mode: 'categorical',
    example: { type: 'fasttext', epoch: 5, dims: 10 },
  },
  gbt: {
    when: 'The first choice for tables of numbers and texts, with or without missing values.',
    method: [
      'Each round fits a tree to gradients g and hessians h of the loss. A split gains ½ [T(G_L)/(H_L + λ) + T(G_R)/(H_R + λ) − T(G)/(H + λ)] − γ with T(G) = max(0, |G| − α)²; a leaf says −η sign(G) max(0, |G| − α)/(H + λ).',
      'Missing values go to the side where they gain more. Few categories are tested one against the rest; many are sorted by G/(H + `cat_smooth`) and cut in two sets.',
    ],
    typical:
      '100 to 1000 rounds, `learning_rate` 0.03 to 0.1, `max_depth` 4 to 8; `early_stopping_rounds` 20 finds the number of rounds; `subsample` and `colsample` 0.5 to 0.9 against overfitting.',
    cost: 'O(n p depth) a round, less where the sibling of a node is subtracted; memory of n rows of a byte a column and 8 bytes for gradients.',
    source:
      'Friedman, "Greedy function approximation", Annals of Statistics 29, 2001; Chen & Guestrin, "XGBoost", KDD 2016; Ke et al., "LightGBM", NeurIPS 2017.',
    mode: 'boolean',
    example: { type: 'gbt', num_rounds: 50, learning_rate: 0.1, max_depth: 6 },
  },
  glz: {
    when: 'Few rows, many features, or coefficients that are to be read; with link linear for numbers.',
    method: [
      'P = g⁻¹(β₀ + Σ β_j x_j) with g logit, probit, complementary log-log, linear or log. Iteratively reweighted least squares lower the deviance + λ‖β‖² (`l2`) or + λ‖β‖₁ (`l1`, by coordinate descent: β_j = S(x_jᵀ r_j, λ/2)/x_jᵀ x_j). Sums are penalised, not means: a solver of (1/2n)‖·‖² + α‖·‖₁ has λ = 2nα.',
      'A number that is sometimes missing has two columns, its value and whether it is there; each category is a column.',
    ],
    typical:
      '`regularization_factor` 1e-5 to 10 with `normalize`; −1 chooses it by the squared error of rows left out, Σ((y − ŷ)/(1 − h))² with leverages h; `l1` where few features matter, with −1 and `regularization_path` 50: a path of factors, each of which begins where the one before ended. `iterations` of the run list what was tried.',
    cost: 'O(n c² + c³) an iteration for c columns, of which absent categories cost nothing; above 4000 columns conjugate gradients, O(n c) a step.',
    source:
      'McCullagh & Nelder, "Generalized linear models", 1989; Friedman, Hastie & Tibshirani, J. of Statistical Software 33, 2010.',
    mode: 'boolean',
    example: { type: 'glz', regularization: 'l2', regularization_factor: 0.01 },
  },
  naive_bayes: {
    when: 'Very few rows and very many features.',
    method: [
      'P(l | x) is proportional to P(l) Π max(ε, P(outcome of feature f | l)), where each feature is cut in two by its best test and ε = 1/(rows × labels). A missing value is a factor of 1, unless values were missing in training too.',
    ],
    typical: 'It has hardly anything to choose; `feature_prop` below 1 only inside committees.',
    cost: 'O(n p), one pass.',
    source:
      'Hand & Yu, "Idiot\'s Bayes: not so stupid after all?", Int. Statistical Review 69, 2001.',
    mode: 'categorical',
    example: { type: 'naive_bayes' },
  },
  null: {
    when: 'What any model has to beat.',
    method: ['The first label scores 1, the others 0; in regression every row scores 1.'],
    typical: 'No options.',
    cost: 'Nothing.',
    source: 'None.',
    mode: 'boolean',
    example: { type: 'null' },
  },
  onevsall: {
    when: 'Mode `multilabel`: rows that have any number of labels.',
    method: [
      'For each label a boolean model of the rows that have it against the others, then P = 1/(1 + exp(−(a s + b))) of its score s, fitted on the training scores. Probabilities are independent of one another.',
    ],
    typical: 'Whatever suits the inner learner.',
    cost: 'Labels times the cost of the inner learner.',
    source: 'Platt, "Probabilistic outputs for support vector machines", 1999, for the scaling.',
    mode: 'multilabel',
    example: { type: 'onevsall', weak_learner: { type: 'glz' } },
  },
  perceptron: {
    when: 'Smooth relations between numbers; texts are columns of 0 and 1.',
    method: [
      'Layers a(W x + b) over whitened inputs, trained by stochastic gradient descent on squared error (softmax outputs: log loss) against targets of ±`target_value`. The round that is best on the rows set aside is kept; scores are mapped from ±`target_value` to 0 to 1 and cut there.',
    ],
    typical:
      '`arch` "20" or "50_20", `max_iter` 50 to 300, `batch_size` 10 to 1024. `decorrelate` false where columns say much the same: whitening makes as much of their small differences as of what they share.',
    cost: 'O(n × weights) a pass; whitening is O(n p² + p³).',
    source: 'LeCun et al., "Efficient backprop", 1998.',
    mode: 'boolean',
    example: { type: 'perceptron', arch: '8', min_iter: 5, max_iter: 20, batch_size: 32 },
  },
  stump: {
    when: 'The best single test: a baseline, or the member of boosting.',
    method: [
      'The test with the least Z, or the `committee_size` best of different columns, weighted by 1/Z. Outputs are those of the leaves of a tree.',
    ],
    typical: '`committee_size` 1 to 20.',
    cost: 'O(n p), one pass.',
    source:
      'Schapire & Singer, "Improved boosting algorithms using confidence-rated predictions", 1999.',
    mode: 'boolean',
    example: { type: 'stump', committee_size: 3 },
  },
};
