// Models over points, and tables of counts, as formulas.
import type { KmeansModel } from '../model/points-model.ts';
import type { StatsTables } from '../table/stats-table.ts';
import type { ModelFormula } from './formula.ts';

export function kmeansFormula({ columnNames, metric, centroids }: KmeansModel): ModelFormula {
  return {
    member: 'embedding',
    features: columnNames.map((name) => ({ name, kind: 'number', isNeeded: true })),
    outputs: [
      { path: ['cluster'], formula: { kind: 'nearest', metric, centroids }, isInteger: true },
    ],
  };
}

/** Keys of all columns together above which counts are not written as formulas. */
const KEY_COUNT_MAX = 20_000;

/**
 * @param pathOf the elements of a printed path
 * @returns undefined: there are too many keys
 */
export function countsFormula(
  { columns, outcomes }: StatsTables,
  pathOf: (column: string) => readonly string[],
): ModelFormula | undefined {
  const tables = [...columns];
  if (tables.reduce((sum, [, table]) => sum + table.size, 0) > KEY_COUNT_MAX) return undefined;
  return {
    member: 'keys',
    features: tables.map(([name]) => ({ name, kind: 'key' })),
    outputs: tables.flatMap(([name, table], feature) =>
      ['trial', ...outcomes].map((prefix, index) => ({
        path: ['counts', prefix, ...pathOf(name)],
        formula: {
          kind: 'category' as const,
          feature,
          categories: [...table.keys()],
          values: Array.from(table.values(), (counts) => counts[index] as number),
          otherwise: 0,
          missing: 0,
        },
        feature,
      })),
    ),
  };
}
