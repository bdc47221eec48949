// Rows of columns as lines of text: each unit writes some rows into memory of its own.

import {
  JSON_NODE,
  JSON_NODE_SIZE,
  ROW_TEXT_REPORT,
  ROW_TEXT_REPORT_SIZE,
} from '../../kernel/generated.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { registerParallelJob } from '../parallel.ts';
import { Scratch } from '../vector/scratch.ts';
import { cellTextOf } from './cell-text.ts';
import type { JsonMember } from './json-members.ts';
import type { LineForm } from './line-form.ts';
import { type LineColumn, TextColumns } from './text-columns.ts';

export interface RowTextArgs {
  readonly form: LineForm;
  readonly arena: number;
  /** the columns of chunks of rows */
  readonly chunks: readonly (readonly LineColumn[])[];
  readonly units: readonly {
    readonly chunk: number;
    /** rows of the chunk */
    readonly from: number;
    readonly to: number;
    readonly out: Span;
  }[];
}

/** What a unit has written: whole lines, as many as there was room for. */
export interface WrittenText {
  readonly rowCount: number;
  readonly sizeBytes: number;
}

export const rowTextJob = registerParallelJob<RowTextArgs, WrittenText>({
  name: 'row-text',
  execute({ form, arena, chunks, units }, unit, scope) {
    scope.checkCancelled();
    const { chunk, from, to, out } = units[unit] as RowTextArgs['units'][number];
    const scratch = new Scratch(arena);
    try {
      const columns = new TextColumns(chunks[chunk] as readonly LineColumn[], {
        from,
        to,
        scratch,
        cellText: cellTextOf(form),
      });
      const report = scratch.take(ROW_TEXT_REPORT_SIZE);
      const write = lineWriter(form, columns, scratch, out, report);
      const word = (offset: number) => scratch.arena.i32[(report + offset) >> 2] as number;
      for (;;) {
        const rowCount = write();
        const hardColumn = word(ROW_TEXT_REPORT.hardColumn);
        if (hardColumn < 0) {
          return { rowCount, sizeBytes: (word(ROW_TEXT_REPORT.next) >>> 0) - out.offset };
        }
        // A value that kernels do not write: all of its column are written here.
        columns.printCells(hardColumn);
      }
    } finally {
      scratch.release();
    }
  },
});

/** Writes the rows into `out`. */
function lineWriter(
  form: LineForm,
  columns: TextColumns,
  scratch: Scratch,
  out: Span,
  report: number,
): () => number {
  const { kernels } = scratch;
  const { address, count, from, to } = columns;
  const end = out.offset + out.sizeBytes;
  if (form.kind === 'csv') {
    const [delimiter, quote] = [form.delimiter.charCodeAt(0), form.quoteChar.charCodeAt(0)];
    return () =>
      kernels.csvRows(address, count, from, to, out.offset, end, delimiter, quote, report);
  }
  const nodes = jsonNodes(form.members, scratch);
  const line = scratch.take(64);
  const { includesNulls } = form;
  return () =>
    kernels.jsonRows(address, nodes, from, to, out.offset, end, includesNulls, line, report);
}

function jsonNodes(members: readonly JsonMember[], scratch: Scratch): number {
  const address = scratch.take(members.length * JSON_NODE_SIZE);
  const names = Buffer.from(members.map(({ name }) => name).join(''));
  let nameAt = scratch.take(names.length);
  scratch.arena.u8.set(names, nameAt);
  const { i32 } = scratch.arena;
  members.forEach(({ kind, column, name, end, element }, index) => {
    const at = address + index * JSON_NODE_SIZE;
    const length = Buffer.byteLength(name);
    i32[(at + JSON_NODE.kind) >> 2] = kind;
    i32[(at + JSON_NODE.column) >> 2] = column;
    i32[(at + JSON_NODE.name) >> 2] = nameAt;
    i32[(at + JSON_NODE.nameLength) >> 2] = length;
    i32[(at + JSON_NODE.end) >> 2] = end;
    i32[(at + JSON_NODE.element) >> 2] = element;
    nameAt += length;
  });
  return address;
}
