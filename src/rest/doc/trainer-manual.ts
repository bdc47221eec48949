// What the page of trainers says of each beside its parameters.
import type { EntityKind } from '../../dataset/entity-type.ts';

export interface TrainerManual {
  readonly when: string;
  /** formulas and rules */
  readonly method: readonly string[];
  readonly typical: string;
  /** n rows, p columns */
  readonly cost: string;
  readonly source: string;
  /** the type of the functions that it makes, or that serve what it makes */
  readonly functionType?: string;
}

const PLATT =
  'Platt, "Probabilistic outputs for support vector machines", 1999; Zadrozny & Elkan, "Transforming classifier scores into accurate multiclass probability estimates", KDD 2002.';

/** By type of procedure. Each is made by the example of its reference page, which runs as a test. */
export const TRAINER_MANUALS: Readonly<Record<string, TrainerManual>> = {
  'kmeans.train': {
    when: 'Rows of numbers that fall into groups of about one size and shape, where the number of groups is known or may be tried.',
    method: [
      'Lloyd’s algorithm: each point goes to the nearest centroid, each centroid to the mean of its points, until no point moves. The first centroid is a random point, each further one the point that is farthest from those that there are, among all points or, beyond 100 for each cluster, random candidates. Ties go to the lower number; a cluster without points keeps its centroid.',
      'euclidean: d(x, c) = ‖x − c‖, and a centroid is a mean. cosine: d(x, c) = −cos(x, c), and a centroid is the mean of the points scaled to length 1.',
    ],
    typical:
      '`numClusters` 2 to 100; `metric` euclidean for measurements of one scale (scale columns first), cosine for counts and embeddings. `maxIterations` 100 is seldom reached.',
    cost: 'O(n k p) an iteration on all threads; memory of n p numbers.',
    source: 'Lloyd, "Least squares quantization in PCM", 1982.',
    functionType: 'kmeans',
  },
  'gaussianclustering.train': {
    when: 'Groups of different spread and direction: each cluster is a normal distribution of its own.',
    method: [
      'Expectation and maximisation: r(i, j) ∝ N(x_i; μ_j, Σ_j), which sum to 1 over j; μ_j and Σ_j are the mean and the covariance of all points by their weights r(·, j). Clusters have no prior shares. It begins with the centroids of kmeans and Σ = I, and ends after `maxIterations`, or when no point changes its cluster and no parameter moves by more than 1e-9.',
      'A singular Σ is inverted on its eigenvalues above 1e-4. A point belongs to the cluster of the largest density.',
    ],
    typical: '`numClusters` 2 to 20, with at least some p² points for each cluster.',
    cost: 'O(n k p²) an iteration on all threads, and O(k p³).',
    source:
      'Dempster, Laird & Rubin, "Maximum likelihood from incomplete data via the EM algorithm", 1977.',
    functionType: 'gaussianclustering',
  },
  'svd.train': {
    when: 'Rows of many columns, numbers, texts or words, that are to become short vectors: for neighbours, clusters, or features of another model.',
    method: [
      'A column of numbers becomes x̃ = (x − mean)/deviation, and 0 where it is missing; a column of anything else one column of 0 and 1 for each of its values. C = X̃ᵀX̃/n has the eigenvalues s_d² and eigenvectors V. A row is embedded as e_d = (1/s_d) Σ_c x̃_c V_cd, so each dimension has mean square 1.',
      'At most `numDenseBasisVectors` columns, those that most rows have, take part in C; others get their vectors by v = (1/s²) C V. Directions with s_d ≤ 1e-6 s_0 are dropped.',
    ],
    typical:
      '`numSingularValues` 10 to 200; `numDenseBasisVectors` 500 to 5000 for words, more than there are columns for an exact decomposition.',
    cost: 'O(cells × b) for C over b basis columns, or O(cells × k) where Lanczos iterations need less; memory b².',
    source:
      'Golub & Van Loan, "Matrix Computations", chapters 8 and 10; Deerwester et al., "Indexing by latent semantic analysis", 1990.',
    functionType: 'svd.embedRow',
  },
  'tsne.train': {
    when: 'A picture of many columns in which neighbours stay neighbours. Distances between groups, and their sizes, mean little.',
    method: [
      'p(j|i) ∝ exp(−‖x_i − x_j‖²/2σ_i²), σ_i such that the perplexity of p(·|i) is `perplexity`; p_ij = (p(j|i) + p(i|j))/2n. The layout y minimises KL(p‖q), q_ij ∝ 1/(1 + ‖y_i − y_j‖²), by gradient descent with momentum 0.5, then 0.8, after early exaggeration; forces of far points are summed by cells (Barnes-Hut).',
    ],
    typical:
      '`perplexity` 5 to 50, less than a third of the rows; 500 to 1000 iterations. Reduce more than 50 columns by `svd.train` first.',
    cost: 'O(n log n) an iteration; memory of n × 3 perplexity neighbours.',
    source:
      'van der Maaten & Hinton, "Visualizing data using t-SNE", JMLR 2008; van der Maaten, "Accelerating t-SNE using tree-based algorithms", JMLR 2014.',
    functionType: 'tsne.embedRow',
  },
  'umap.train': {
    when: 'As `tsne.train`, quicker on many rows, and with more of the shape of the whole; new rows are placed well.',
    method: [
      'The k nearest neighbours of a point have memberships exp(−max(0, d − ρ_i)/σ_i), which sum to log₂ k; both directions are united by a + b − ab. The layout pulls neighbours and pushes `negativeSampleRate` random points for each, by the gradient of the cross entropy with 1/(1 + a d^{2b}), whose a and b are fitted to `minDist` and `spread`.',
    ],
    typical:
      '`numNeighbors` 5 to 50: few show detail, many the whole; `minDist` 0 to 0.5; `numEpochs` auto.',
    cost: 'O(n log n) for neighbours and O(n k) an epoch; memory of n k edges.',
    source:
      'McInnes, Healy & Melville, "UMAP: Uniform manifold approximation and projection", 2018.',
    functionType: 'umap.embedRow',
  },
  'svm.train': {
    when: 'Up to some ten thousand rows of numbers whose classes are parted by a smooth, curved border; `one class` finds rows that are unlike the others.',
    method: [
      'The dual of min ½‖w‖² + C Σ ξ_i is solved by sequential minimal optimisation, two variables at a time, chosen by second-order information, until the violation is below `eps`. Several classes vote one against one; ties go to the class that came first.',
      'Kernels: linear x·y; poly (γ x·y + c₀)^d; rbf exp(−γ‖x − y‖²); sigmoid tanh(γ x·y + c₀).',
    ],
    typical:
      'Scale columns first. `kernel` rbf with C 0.1 to 100 and `gamma` around 1/columns; `nu` 0.05 to 0.5 for the nu types and `one class`; `p` a tenth of the noise for regressions.',
    cost: 'O(n² p) to O(n³); memory of the rows of the kernel matrix that are in use.',
    source:
      'Cortes & Vapnik, "Support-vector networks", 1995; Fan, Chen & Lin, "Working set selection using second order information", JMLR 2005.',
    functionType: 'svm',
  },
  'randomforest.binary.train': {
    when: 'Two classes, many rows, numbers and texts mixed: a strong model without tuning, trained on all threads.',
    method: [
      '`featureVectorSamplings` samples of rows, each a share `featureVectorSamplingProp` drawn with replacement, times `featureSamplings` trees, each of which sees a feature with probability `featureSamplingProp`. A test is the one with the least 2(√(a₀a₁) + √(b₀b₁)) over the class weights of both sides; a leaf says the share of true. The score is the mean of the trees. A missing value where none was seen gets the share of the node.',
    ],
    typical:
      '100 trees (5 × 20), depth 10 to 20; `featureSamplingProp` 0.3 to 0.7. `classifier.train` with `bagging` has weights of classes, more classes, and regression.',
    cost: 'O(trees × n × features × depth) over columns of bytes; a tree is one unit of work.',
    source: 'Breiman, "Random forests", Machine Learning 45, 2001.',
    functionType: 'classifier',
  },
  'probabilizer.train': {
    when: 'Scores of a classifier (boosting, margins, one class against the others) that are to be read as probabilities. Train it on rows that the classifier did not see.',
    method: [
      '`glz`: prob = link⁻¹(a · score + b), fitted by iteratively reweighted least squares; weights count as repetitions. `isotonic`: pool adjacent violators; a step for each block of scores, straight lines between their means, constant outside.',
    ],
    typical:
      'LOGIT with hundreds of rows; `isotonic` from some thousand rows, which it needs to be smooth.',
    cost: 'O(n) an iteration; isotonic O(n log n).',
    source: PLATT,
    functionType: 'probabilizer',
  },
  'tfidf.train': {
    when: 'Words of documents that are to be weighed by how rare they are, for search, clusters or a linear model.',
    method: [
      'Counts in how many of N documents each term is (n). The function gives tf · idf of each term of its input, with f its count and F the largest one. tf: `raw` f; `log` ln(1 + f); `augmented` 0.5 + 0.5 f/F.',
      'idf: `unary` 1; `inverse` ln(N/(1 + n)); `inverseSmooth` ln(1 + N/(1 + n)); `inverseMax` ln(1 + M/(1 + n)), M the largest n among the terms of the input; `probabilisticInverse` ln((N − n)/(1 + n)).',
    ],
    typical:
      '`tfType` log and `idfType` inverseSmooth for long texts; the defaults for short ones. Terms are taken as they are: `tokenize`, `filter_stopwords` and `stemmer` come before.',
    cost: 'O(cells); memory of one number a term.',
    source:
      'Manning, Raghavan & Schütze, "Introduction to information retrieval", 2008, chapter 6.',
    functionType: 'tfidf',
  },
  'statsTable.train': {
    when: 'Columns of very many values (hosts, products, postcodes) that are to become rates: how often a value was seen, and with which outcome.',
    method: [
      'Rows are taken in the order of the query. Before a row is counted, its output says `trial.<column>`, how often its value was seen, and `<outcome>.<column>`, how often with the outcome true; so no row tells its own label. Give an ORDER BY by time.',
      'The function says the counts of all rows. `experimental.statsTable.derivedColumnsGenerator` makes rates of them, for instance `counts.click / counts.trial`.',
    ],
    typical:
      'One to five outcomes. Add a constant to both sides of a rate, or a weight, where values are rare.',
    cost: 'O(rows × columns); memory of one entry a value and column.',
    source:
      'Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes", SIGKDD Explorations 3, 2001.',
    functionType: 'statsTable.getCounts',
  },
  'statsTable.bagOfWords.train': {
    when: 'Texts with an outcome: which words speak most for it and against it.',
    method: [
      'For each word the rows that have it (trials), and those of them in which each outcome is true. The function keeps words of at least `minTrials` trials, and of them the `numPos` with the highest and the `numNeg` with the lowest p = outcome/trials, ties included; it gives p of the words of its input that are kept.',
    ],
    typical:
      '`minTrials` 10 to 100: below, p is mostly chance, and with the default 50 small corpora give nothing. `numPos` and `numNeg` 50 to 1000.',
    cost: 'O(cells); memory of one entry a word.',
    source: 'Forman, "An extensive empirical study of feature selection metrics", JMLR 3, 2003.',
    functionType: 'statsTable.bagOfWords.posneg',
  },
  'experimental.statsTable.derivedColumnsGenerator': {
    when: 'After `statsTable.train`: the same rate of the counts of every column.',
    method: [
      'For each table T the expression is repeated with `trial.T` for `trial`, `<outcome>.T` for the name of an outcome, and T for `$tbl`; all of them together are a function of type `sql.expression`.',
    ],
    typical: '`counts.click / counts.trial AS ctr_$tbl`',
    cost: 'None to speak of.',
    source: 'As `statsTable.train`.',
    functionType: 'sql.expression',
  },
  'experimental.distTable.train': {
    when: 'As `statsTable.train`, where the outcome is a number, such as a price: its mean, deviation and range by value.',
    method: [
      'Rows are taken in the order of the query, and told what was there before them: `<outcome>.<column>.<statistic>`. avg and std are kept by Welford’s updates; std is that of a sample, NaN below two values. Before any value count and sum are 0, all others NaN. Mode `bagOfWords` has one table whose keys are names of columns.',
      'The function takes further observations by `POST …/routes/increment`, and saves what it has by `POST …/routes/persist`.',
    ],
    typical: 'The default statistics; `last` for prices that move.',
    cost: 'O(rows × columns × outcomes); memory of seven numbers a value, column and outcome.',
    source:
      'Welford, "Note on a method for calculating corrected sums of squares and products", 1962.',
    functionType: 'experimental.distTable.getStats',
  },
  'classifier.test': {
    when: 'After training, on rows that were not trained on.',
    method: [
      'boolean: the curve over all thresholds (AUC by trapezoids, ties count half) and its best points by F₁ and by MCC = (TP·TN − FP·FN)/√((TP+FP)(TP+FN)(TN+FP)(TN+FN)); with `calibrationBins` Brier score, log loss and calibration errors, with `prCurve` the average precision. regression: mse, r² and quantiles of |score/label − 1|. categorical: confusion matrix, statistics of labels, and their mean by support. multilabel: recall among the best n and coverage error.',
    ],
    typical: '`calibrationBins` 10; `recallOverN` [1, 5].',
    cost: 'O(n log n) and what the scores cost.',
    source:
      'Fawcett, "An introduction to ROC analysis", 2006; Naeini et al., "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015; Tsoumakas et al., "Mining multi-label data", 2010.',
  },
  'classifier.experiment': {
    when: 'To know how well a configuration does before it is used, and how much that varies.',
    method: [
      'Trains and tests over folds: those of `datasetFolds`, or `kfold` parts of rows by the hash of their names, or one half against the other. `stratify` gives each fold its share of each label, `groupBy` keeps rows of one value in one fold, `repeats` does it again with other hashes. Each number of the tests is told with least, greatest, mean and deviation over the folds.',
    ],
    typical: '`kfold` 5 or 10 with `stratify`; `repeats` 2 to 5 below a thousand rows.',
    cost: 'Folds times training and test.',
    source:
      'Kohavi, "A study of cross-validation and bootstrap for accuracy estimation and model selection", IJCAI 1995.',
    functionType: 'classifier',
  },
  'classifier.importance': {
    when: 'What a whole model rests on, whatever its family.',
    method: [
      'The values of a feature are permuted among the rows, missing ones included, `repeats` times. Its importance is how much the metric loses on average (mse and logLoss: gain). A feature that the model ignores has exactly 0. Features that say the same share what they are worth: permuting one leaves the other.',
    ],
    typical: '`repeats` 5 to 20 on held-out rows.',
    cost: 'Features × repeats × scoring of at most `maxRows` rows, on all threads.',
    source:
      'Breiman, "Random forests", 2001; Fisher, Rudin & Dominici, "All models are wrong, but many are useful", JMLR 2019.',
  },
  'model.export': {
    when: 'A model that is to score in another program: in a browser, on a device, in a Java service.',
    method: [
      'Writes trees as TreeEnsemble operators (missing values as NaN), linear models and perceptrons as matrix operators. Scores agree within 1e-5, because ONNX tensors hold 32-bit numbers. The file names its features and labels.',
    ],
    typical: '`opset` 17; runtimes before 2022 may want 13 to 15.',
    cost: 'O(size of the model).',
    source: 'https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md',
    functionType: 'onnx',
  },
  'model.import': {
    when: 'Trees and linear models of scikit-learn, XGBoost or LightGBM that are to be scored at full speed in SQL, and explained. Any other ONNX file is served by a function of type `onnx`.',
    method: [
      'Reads tree ensembles and linear models with the scalers and links around them into an artifact of the type `classifier`; other operators are refused by name.',
    ],
    typical: '`featureNames` in the order of the columns that the model was trained on.',
    cost: 'O(size of the model).',
    source: 'https://github.com/onnx/onnx/blob/main/docs/Operators-ml.md',
    functionType: 'classifier',
  },
};

/** By type of function: those that no trainer above is for, or that have a matter of their own. */
export const MODEL_FUNCTION_MANUALS: Readonly<Record<string, TrainerManual>> = {
  'classifier.explain': {
    when: 'Why this row has this score: what each feature adds to what the model says of nothing.',
    method: [
      'bias + Σ contributions = score of the label (margin before the link for `gbt` and `glz`). `path`: each test on the way from root to leaf credits the change of the node’s output to its feature. `treeshap`: Shapley values φ_f = Σ_S |S|!(p − |S| − 1)!/p! (v(S ∪ f) − v(S)), where v follows both sides of tests of features outside S, by the rows that went there in training. `interventional`: v takes their values from rows of `backgroundData`.',
    ],
    typical:
      '`path` for one row at a time in microseconds; `treeshap` where features share effects; `interventional` with 100 to 1000 rows to compare with a population.',
    cost: 'path O(depth) a tree; treeshap O(leaves × depth) a tree, less for many rows at once; interventional times the background rows.',
    source:
      'Lundberg, Erion & Lee, "Consistent individualized feature attribution for tree ensembles", 2018; Lundberg et al., Nature Machine Intelligence 2, 2020.',
  },
  feature_hasher: {
    when: 'Columns of any names, also ones never seen before, that are to become a fixed number of columns without training.',
    method: [
      'The 64-bit hash h of a column’s name (`columnsAndValues`: of name::value) is cut into pieces of `numBits`; piece i adds 1 to the column of its number for even i, −1 for odd i. With more than 16 bits columns that are 0 are left out.',
    ],
    typical: '`numBits` 8 to 18: enough columns that few names meet.',
    cost: 'O(64/numBits) a column.',
    source: 'Weinberger et al., "Feature hashing for large scale multitask learning", ICML 2009.',
  },
  'embedding.neighbors': {
    when: 'The nearest rows of an embedding: similar products, documents, pictures.',
    method: [
      'Searches the index of the dataset: `vptree` and `flat` are exact, `hnsw` follows a graph whose recall at 10 the dataset’s status tells. Distances are those of the dataset’s metric, in 32-bit numbers; a row is its own first neighbour.',
    ],
    typical: '`index` hnsw beyond 10,000 rows of 20 and more columns; `efSearch` 64 to 400.',
    cost: 'flat O(n p); vptree O(log n) in few dimensions; hnsw O(log n × efSearch × p).',
    source:
      'Malkov & Yashunin, "Efficient and robust approximate nearest neighbor search using HNSW graphs", 2018; Yianilos, "Data structures and algorithms for nearest neighbor search in general metric spaces", SODA 1993.',
  },
  onnx: {
    when: 'Models of other programs, of any operators, as functions.',
    method: [
      'Runs the file through onnxruntime, which is installed beside the service where it is wanted. Inputs are features by name; missing numbers are NaN, missing texts empty, missing whole numbers refused. Outputs are scalars, vectors or rows of labels.',
    ],
    typical: '`batchSize` 256; `inputs` where tensors do not bear the names of features.',
    cost: 'That of the runtime; rows are scored in batches.',
    source: 'https://onnxruntime.ai',
  },
};

export function trainerManual(kind: EntityKind, name: string): TrainerManual | undefined {
  if (kind === 'procedure') return TRAINER_MANUALS[name];
  return kind === 'function' ? MODEL_FUNCTION_MANUALS[name] : undefined;
}

/** Head and text of each paragraph. */
export function manualParagraphs(manual: TrainerManual): readonly (readonly [string, string])[] {
  const { cost, method, source, typical, when } = manual;
  return [
    ['When', when],
    ['How', method.join(' ')],
    ['Typical values', typical],
    ['Cost', cost],
    ['Source', source],
  ];
}
