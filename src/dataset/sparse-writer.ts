// Writes content that is stored as compressed sparse rows.
import { SparseBuilder } from '../value/column/sparse-builder.ts';
import type { Path } from '../value/path.ts';
import { columnCountOf } from './columnar-writer.ts';
import type { ContentWriter, DatasetContent, WriterContext } from './dataset-type.ts';
import { visitBatch } from './recorded-batch.ts';
import { cellsOfRow } from './recorded-row.ts';

/** Rows taken over between two looks at the cancel flag. */
const ROWS_PER_CHECK = 1024;

/** Goes on from the rows of `previous`, whatever their layout. */
export function openSparseWriter(context: WriterContext): ContentWriter {
  const { previous, arenas } = context;
  const base = previous?.snapshot.layout === 'sparse' ? previous.snapshot : undefined;
  const builder = new SparseBuilder(arenas, base);
  if (previous !== undefined && base === undefined) {
    let rowCount = 0;
    for (const { name, row } of previous.relation.scan('all')) {
      if (rowCount++ % ROWS_PER_CHECK === 0) context.checkCancelled();
      builder.addRow(name, cellsOfRow(row));
    }
  }
  const target = {
    column: (bytes: Uint8Array, start: number, end: number) =>
      builder.columnIdOfBytes(bytes, start, end),
    row: (name: Path) => builder.beginRow(name),
    cell: (column: number, bytes: Uint8Array, start: number, end: number, ts: number) =>
      builder.addCellBytes(column, bytes, start, end, ts),
  };
  return {
    add: (row) => builder.addRow(row.name, row.cells),
    addBatch: (batch) => visitBatch(batch, target, () => context.checkCancelled()),
    finish: () => builder.seal(() => context.checkCancelled()),
  };
}

/** Rows, columns and data points, as `status` has them. */
export function sparseStatus({ snapshot }: Pick<DatasetContent, 'snapshot'>): unknown {
  return {
    rowCount: snapshot.rowCount,
    columnCount: columnCountOf(snapshot),
    valueCount:
      snapshot.layout === 'sparse'
        ? snapshot.pointCount
        : snapshot.columns.reduce((sum, column) => sum + snapshot.rowCount - column.nullCount, 0),
  };
}
