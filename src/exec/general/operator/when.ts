// WHEN: rows keep only the points for which the condition holds.
import type { WhenNode } from '../../../plan/plan.ts';
import { EMPTY_ROW, Embedding, Row, type Value } from '../../../value/value.ts';
import type { Compiler } from '../compiler.ts';
import { Frame } from '../frame.ts';
import { type ExecRow, JoinedRow, TableRow } from '../row.ts';
import type { RowSource } from './source.ts';

export function compileWhen(node: WhenNode, input: RowSource, compiler: Compiler): RowSource {
  const test = compiler.predicate(node.condition);
  const { perPoint } = node;
  return function* () {
    const frame = new Frame();
    const keeps = (ts: number): boolean => {
      frame.pointTs = ts;
      return test(frame);
    };
    for (const row of input()) {
      frame.at(row);
      if (perPoint) yield withColumns(row, thinRow(row.row, keeps));
      else yield test(frame) ? row : withColumns(row, EMPTY_ROW);
    }
  };
}

function thinRow(row: Row, keeps: (ts: number) => boolean): Row {
  const names: string[] = [];
  const values: Value[] = [];
  for (let i = 0; i < row.length; i++) {
    const value = row.values[i] as Value;
    const kept = thinValue(value, keeps);
    if (kept === undefined) continue;
    names.push(row.names[i] as string);
    values.push(kept);
  }
  return names.length === row.length && values.every((value, i) => value === row.values[i])
    ? row
    : new Row(names, values);
}

/** An embedding has one timestamp for all its atoms: it stays or goes as a whole. */
function thinValue(value: Value, keeps: (ts: number) => boolean): Value | undefined {
  if (value instanceof Embedding || !(value instanceof Row)) {
    return keeps(value.ts) ? value : undefined;
  }
  const row = thinRow(value, keeps);
  return row.length > 0 || value.length === 0 ? row : undefined;
}

/** The same row in name and origin, with other columns. */
function withColumns(row: ExecRow, columns: Row): ExecRow {
  if (columns === row.row) return row;
  return row instanceof JoinedRow ? row.withColumns(columns) : new TableRow(row.name, columns);
}
