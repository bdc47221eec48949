/** Kernel of UMAP layouts, see src/kernel/assembly/umap.ts. */
export interface UmapKernels {
  /** Takes the turns of some edges in an epoch, with steps of size `rate`. */
  umapEpoch(task: number, from: number, to: number, epoch: number, rate: number): void;
}

/** Byte offsets of a UmapTask: 32-bit words, then three f64. */
export const UMAP_TASK = {
  positions: 0,
  pointCount: 4,
  dimension: 8,
  heads: 12,
  tails: 16,
  intervals: 20,
  nextTurns: 24,
  nextPushes: 28,
  random: 32,
  negativeSampleRate: 40,
  a: 48,
  b: 56,
} as const;
export const UMAP_TASK_SIZE = 64;
