import type { Path } from '../value/path.ts';

/**
 * Column paths that a scan needs, each with everything below it (`a` stands for `a.b` too); `all`
 * when a wildcard or the whole row is read.
 */
export type NeededColumns = 'all' | readonly Path[];

/** Whether a scan needs something of the column of one element, or below it. */
export function isColumnNeeded(needed: NeededColumns, name: string): boolean {
  return needed === 'all' || needed.some(({ elements }) => elements[0] === name);
}
