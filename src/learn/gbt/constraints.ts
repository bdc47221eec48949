// Constraints on features, column by column.
import { failure } from '../../util/error.ts';
import type { GrowColumns } from './grow.ts';
import type { GbtOptions } from './options.ts';

/** @throws INVALID_PARAMETER when a constraint is not about a number */
export function monotoneOf({ features, columns }: GrowColumns, { monotone }: GbtOptions): number[] {
  for (const name of Object.keys(monotone)) {
    const feature = features.find((each) => each.name === name);
    if (feature?.kind === 'numeric' || feature?.kind === 'unused') continue;
    throw failure(
      'INVALID_PARAMETER',
      feature === undefined
        ? `monotone_constraints: there is no feature '${name}'`
        : `monotone_constraints: feature '${name}' is categorical; only numbers can be constrained`,
    );
  }
  return columns.map(({ feature }) => monotone[features[feature]?.name ?? ''] ?? 0);
}
