// When rows go to a scratch file.
import type { ScratchRoom, VectorEngine } from '../../vector/engine.ts';

/** Parts are smaller than what is worked on without them: each costs a little. */
const SHARES = 4;

/** Where rows go of which that many bytes would have to be in memory; undefined: they have room. */
export function roomInScratch(
  sizeBytes: number,
  { scratch, isFrugal = true }: VectorEngine,
): ScratchRoom | undefined {
  if (scratch === undefined || !isFrugal) return undefined;
  return sizeBytes > SHARES * scratch.shareBytes ? scratch : undefined;
}
