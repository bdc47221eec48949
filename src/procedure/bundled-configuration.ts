// The configurations that algorithms are picked from when a procedure brings none.

export const BUNDLED_CONFIGURATIONS = {
  dt: { type: 'decision_tree', max_depth: 8, update_alg: 'prob' },
} as const;
