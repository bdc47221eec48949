import type { ColumnarSnapshot } from '../value/column/snapshot.ts';

/** The content of a dataset that keeps no rows itself: no memory, so shared by all. */
export const NO_ROWS: ColumnarSnapshot = {
  layout: 'columnar',
  id: 0,
  rowCount: 0,
  chunkRowCounts: [],
  columns: [],
  rowNames: { kind: 'sequence', first: 0 },
  timestamps: { kind: 'constant', ts: Number.NEGATIVE_INFINITY },
};
