/** Kernels of text classifiers; addresses are byte offsets, see src/kernel/assembly/text.ts. */
export interface TextKernels {
  textTrain(task: number, from: number, to: number, rate: number, fall: number): number;
}

/** The words of a TextTask, 4 bytes each, in this order. */
export const TEXT_TASK_WORDS = [
  'order',
  'starts',
  'features',
  'counts',
  'labels',
  'weights',
  'inputs',
  'outputs',
  'size',
  'labelCount',
  'hidden',
  'gradient',
  'scores',
] as const;
