/** Kernels of gradient boosting; addresses are byte offsets, see src/kernel/assembly/boost.ts. */
export interface BoostKernels {
  boostLogistic(
    scores: number,
    labels: number,
    weights: number,
    out: number,
    from: number,
    to: number,
  ): void;
  boostSquared(
    scores: number,
    targets: number,
    weights: number,
    out: number,
    from: number,
    to: number,
  ): void;
  boostSoftmax(
    scores: number,
    labels: number,
    weights: number,
    out: number,
    labelCount: number,
    rowCount: number,
    from: number,
    to: number,
  ): void;
  boostHistogram(
    rows: number,
    pairs: number,
    count: number,
    columnCount: number,
    columns: number,
    cells: number,
    counts: number,
  ): void;
  boostSubtract(
    target: number,
    parent: number,
    child: number,
    cellCount: number,
    countsAt: number,
  ): void;
  boostPartition(
    rows: number,
    pairs: number,
    count: number,
    column: number,
    right: number,
    spareRows: number,
    sparePairs: number,
  ): number;
  boostAddScore(rows: number, count: number, scores: number, stride: number, value: number): void;
}
