// Sort keys are about the input row; late ones see the finished output row as well.
import type { Frame } from '../frame.ts';
import { type ExecRow, ProjectedRow } from '../row.ts';

/** Puts a frame where the keys of ORDER BY and DISTINCT ON are evaluated for a row. */
export function moveTo(frame: Frame, row: ExecRow, late: boolean): Frame {
  if (!late || !(row instanceof ProjectedRow)) return frame.at(row);
  frame.at(row.input);
  frame.output = row.row;
  return frame;
}
