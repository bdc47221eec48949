/** Addresses are byte offsets into the arena; counts are in values. */
export interface FillKernels {
  fillF64(address: number, count: number, value: number): void;
  sumF64(address: number, count: number): number;
}
