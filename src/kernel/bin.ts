/** Bucket codes; addresses are byte offsets into the arena, see src/kernel/assembly/bin.ts. */
export interface BinKernels {
  binF64(source: number, count: number, boundaries: number, target: number, stride: number): void;
  binCodes(
    source: number,
    width: number,
    count: number,
    table: number,
    target: number,
    stride: number,
  ): void;
  binTotals(
    source: number,
    width: number,
    count: number,
    targets: number,
    weights: number,
    pairs: number,
  ): void;
  binDistinct(
    source: number,
    count: number,
    weights: number,
    limit: number,
    table: number,
    slots: number,
    found: number,
  ): number;
}

/** Boundaries that binF64 reads; unused ones NaN. */
export const BOUNDARY_SLOTS = 256;
/** Slots of the table of binDistinct, two f64 each. */
export const DISTINCT_SLOTS = 1024;
