// Text classifiers with shared vectors, as plain values.

export interface FastTextModel {
  readonly type: 'fasttext';
  readonly dimensionCount: number;
  /** a vector for each feature that was seen, by its index; -1: it was not */
  readonly positions: Int32Array;
  readonly inputs: Float32Array;
  /** a vector for each label */
  readonly outputs: Float32Array;
}
