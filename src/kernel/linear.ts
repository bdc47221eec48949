/** Kernels of linear models; addresses are byte offsets, see src/kernel/assembly/linear.ts. */
export interface LinearKernels {
  linearPredict(design: number, from: number, to: number, beta: number, out: number): void;
  linearTransposed(design: number, from: number, to: number, r: number, out: number): void;
  linearGram(
    design: number,
    from: number,
    to: number,
    w: number,
    z: number,
    gram: number,
    right: number,
  ): void;
  choleskyRows(
    a: number,
    size: number,
    fromRow: number,
    rowCount: number,
    diagonal: number,
    tolerance: number,
  ): number;
  choleskySolve(a: number, size: number, b: number): void;
  lassoSweeps(
    gram: number,
    size: number,
    residual: number,
    beta: number,
    lambda: number,
    epsilon: number,
    sweepCount: number,
  ): number;
}

/** rowCount, denseCount, columnCount, dense, starts, columns, values: u32 each. */
export const DESIGN_SIZE = 28;
