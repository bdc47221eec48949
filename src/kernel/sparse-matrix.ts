/** Kernels over sparse matrices and rows of vectors, see src/kernel/assembly/sparse-matrix.ts. */
export interface SparseMatrixKernels {
  /** z += A'(A x) for some rows. */
  addNormalProduct(
    starts: number,
    columns: number,
    values: number,
    from: number,
    to: number,
    x: number,
    z: number,
  ): void;
  /** The dot product of `x` with each row; lengths are multiples of ROW_GROUP. */
  rowDots(rows: number, rowCount: number, length: number, x: number, out: number): void;
  /** x += the weighted sum of the rows; lengths are multiples of ROW_GROUP. */
  addRows(rows: number, rowCount: number, length: number, weights: number, x: number): void;
}

/** Lengths of dense rows are multiples of it; what is behind the last value is 0. */
export const ROW_GROUP = 4;
