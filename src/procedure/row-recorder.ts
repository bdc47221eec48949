// Rows for a dataset that stores columns go into a table without a detour over recorded rows.
import { checkDistinctColumns, newColumn } from '../dataset/tabular.ts';
import { type RecordedCell, TableBuilder } from '../value/column/table-builder.ts';
import type { Path } from '../value/path.ts';
import type { OutputDataset, ProcedureContext } from './procedure-type.ts';

export interface RowRecorder {
  record(name: Path, cells: readonly RecordedCell[]): void;
  /** Hands everything over; `commit` of the dataset is still to come. */
  finish(): void;
}

/**
 * Takes the rows of a procedure to its output, by column where the output stores columns; `finish`
 * hands over what is left.
 */
export function rowRecorder(
  output: OutputDataset,
  { arenas }: Pick<ProcedureContext, 'arenas'>,
): RowRecorder {
  if (!output.takesColumns || output.ignoresColumns) {
    return { record: (name, cells) => output.record({ name, cells }), finish() {} };
  }
  const table = new TableBuilder(arenas);
  let rowCount = 0;
  return {
    record(name, cells) {
      if (rowCount++ === 0) checkDistinctColumns({ name, cells });
      else if (!output.addsColumns) {
        for (const [column] of cells) {
          if (!table.hasColumn(column)) throw newColumn(column, table.columnPaths());
        }
      }
      table.addRow(name, cells);
    },
    finish() {
      if (rowCount > 0) output.recordColumns(table.seal());
      else table.release();
    },
  };
}
