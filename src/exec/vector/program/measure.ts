// What is accumulated for each group, and how partial results of units are put together.
import type { Kernels } from '../../../kernel/kernels.ts';
import type { CodeProgram, NumberProgram } from './program.ts';

export type Measure =
  /** rows of the group */
  | { readonly kind: 'rows' }
  /** rows with a value in a column */
  | { readonly kind: 'count'; readonly column: number }
  /** rows with a value of an expression */
  | { readonly kind: 'values'; readonly numbers: NumberProgram }
  | { readonly kind: 'sum'; readonly numbers: NumberProgram; readonly exact: boolean }
  | { readonly kind: 'min' | 'max'; readonly numbers: NumberProgram }
  | { readonly kind: 'moments'; readonly numbers: NumberProgram }
  /** a byte for each code of each group: whether it was met */
  | { readonly kind: 'distinct'; readonly codes: CodeProgram };

/** Bytes of one group's cell. */
export function cellSize(measure: Measure): number {
  switch (measure.kind) {
    case 'rows':
    case 'count':
    case 'values':
      return 8;
    case 'sum':
    case 'min':
    case 'max':
      return 16;
    case 'moments':
      return 32;
    case 'distinct':
      return measure.codes.cardinality;
  }
}

/** Adds the cells of a unit to those of the units before it. */
export function mergeCells(
  kernels: Kernels,
  memory: { readonly f64: Float64Array },
  measure: Measure,
  target: number,
  source: number,
  cellCount: number,
): void {
  switch (measure.kind) {
    case 'rows':
    case 'count':
    case 'values':
      kernels.addCounts(target, source, cellCount);
      break;
    case 'sum':
      if (measure.exact) kernels.addCellsI64(target, source, cellCount);
      else kernels.addCellsF64(target, source, cellCount);
      break;
    case 'min':
      kernels.mergeExtremes(target, source, cellCount, 1);
      break;
    case 'max':
      kernels.mergeExtremes(target, source, cellCount, -1);
      break;
    case 'distinct':
      kernels.orBytes(target, source, cellCount * measure.codes.cardinality);
      break;
    case 'moments':
      mergeMoments(memory.f64, target / 8, source / 8, cellCount);
      break;
  }
}

/**
 * Count, mean and squares of two parts become those of the whole.
 * See Chan, Golub & LeVeque, "Updating formulae and a pairwise algorithm for computing sample
 * variances", 1979.
 */
function mergeMoments(f64: Float64Array, target: number, source: number, cellCount: number): void {
  for (let cell = 0; cell < cellCount; cell++) {
    const a = target + cell * 4;
    const b = source + cell * 4;
    const more = f64[b] as number;
    if (more === 0) continue;
    const have = f64[a] as number;
    const count = have + more;
    const delta = (f64[b + 1] as number) - (f64[a + 1] as number);
    f64[a] = count;
    f64[a + 1] = (f64[a + 1] as number) + (delta * more) / count;
    f64[a + 2] =
      (f64[a + 2] as number) + (f64[b + 2] as number) + (delta * delta * have * more) / count;
  }
}
