// Naive Bayes as plain values.

/** One test of a feature, and how likely its outcomes are under each label. */
export interface BayesTest {
  readonly feature: number;
  /** one of the tests of decision trees */
  readonly test: number;
  /** as in decision trees: the boundary, or the category */
  readonly operand: number;
  /** log probability of true, false and missing: labels in a row for each */
  readonly logs: Float64Array;
  /** missing values occurred in training, and so mean something */
  readonly countsMissing: boolean;
}

export interface NaiveBayesModel {
  readonly type: 'naive_bayes';
  /** log prior of each label; false and true for two classes without names */
  readonly priors: Float64Array;
  readonly tests: readonly BayesTest[];
}
