// Writes content that is stored by column.
import type { Snapshot } from '../value/column/snapshot.ts';
import { TableBuilder } from '../value/column/table-builder.ts';
import type { ContentWriter, DatasetContent, WriterContext } from './dataset-type.ts';

/** Goes on from the columns of `previous`, where it has that layout; else starts anew. */
export function openColumnarWriter(context: WriterContext): ContentWriter {
  const previous = context.previous?.snapshot;
  const builder =
    previous?.layout === 'columnar'
      ? TableBuilder.from(previous, context.arenas)
      : new TableBuilder(context.arenas);
  return {
    add: (row) => builder.addRow(row.name, row.cells),
    finish: () => builder.seal(() => context.checkCancelled()),
  };
}

/** Rows and columns of content, as `status` has them. */
export function columnarStatus({ snapshot }: Pick<DatasetContent, 'snapshot'>): unknown {
  return { rowCount: snapshot.rowCount, columnCount: columnCountOf(snapshot) };
}

/** How many columns a snapshot has, whatever its layout. */
export function columnCountOf(snapshot: Snapshot): number {
  return snapshot.layout === 'sparse' ? snapshot.columnCount : snapshot.columns.length;
}
