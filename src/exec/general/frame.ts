// What an expression is evaluated against. An operator owns one frame and moves it from row to row.
import { Path } from '../../value/path.ts';
import { EMPTY_ROW, type Row, type Value } from '../../value/value.ts';
import { type ExecRow, SINGLE_ROW, WindowRow } from './row.ts';

export class Frame {
  /** the row whose name, sides or group are asked for */
  current: ExecRow = SINGLE_ROW;
  /** the columns; those of `current` unless WHEN has thinned them */
  row: Row = EMPTY_ROW;
  /** the finished output row, while late sort keys are evaluated */
  output: Row = EMPTY_ROW;
  /** the value that the index of an extract reads */
  members: Value = EMPTY_ROW;
  /** the timestamp of the point that WHEN looks at, in seconds */
  pointTs = 0;
  /** the column that COLUMN EXPR looks at */
  column: ColumnCursor = NO_COLUMN;

  /** the results of window functions for the row */
  windows: readonly Value[] = [];

  /** Moves to a row. */
  at(row: ExecRow): this {
    if (row instanceof WindowRow) {
      this.windows = row.results;
      this.current = row.input;
    } else {
      this.current = row;
    }
    this.row = row.row;
    return this;
  }
}

export interface ColumnCursor {
  readonly path: Path;
  /** its points in the current row; several points of a cell in ascending order of value */
  readonly value: Points;
  /** true: a top-level member; false: a flattened column */
  readonly structured: boolean;
}

/** The points of a cell: one value, or several. */
export type Points = Value | readonly Value[];

const NO_COLUMN: ColumnCursor = { path: new Path([]), value: EMPTY_ROW, structured: false };

/** Latest value of one expression for the frame's row. */
export type Evaluator = (frame: Frame) => Value;

/** All points of one expression: what a select list carries over. */
export type PointsEvaluator = (frame: Frame) => Points;

/** IS TRUE of one expression. */
export type Predicate = (frame: Frame) => boolean;
