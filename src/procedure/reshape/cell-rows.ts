// Reads what a query selects by column, whatever the values are: for decompositions and the like.
import type { InputQuery } from '../../schema/declare.ts';
import { every } from '../../util/every.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, type Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, type Row } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';

export interface CellRows {
  readonly names: readonly Path[];
  /** for each row its latest timestamp, in seconds */
  readonly times: Float64Array;
  /** by printed path: the cells of each column by ascending row; the latest of several values */
  readonly columns: readonly CellColumnRows[];
}

interface CellColumnRows {
  readonly name: string;
  readonly rows: number[];
  readonly atoms: Atom[];
}

const STEPS_PER_CHECK = 16_384;

/** All rows in the order of their names. */
export function readCells(context: ProcedureContext, query: InputQuery): CellRows {
  const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
  const rows: { readonly name: Path; readonly row: Row }[] = [];
  for (const each of context.query(query).run()) {
    look();
    rows.push(each);
  }
  rows.sort((a, b) => {
    look();
    return comparePaths(a.name, b.name);
  });
  const times = new Float64Array(rows.length).fill(MINUS_INFINITY);
  const columns = new Map<string, CellColumnRows & { ts: number }>();
  for (const [index, { row }] of rows.entries()) {
    flatten(row, [], (path, atom, ts) => {
      look();
      times[index] = laterOf(times[index] as number, ts);
      const name = path.toString();
      let column = columns.get(name);
      if (column === undefined) {
        column = { name, rows: [], atoms: [], ts };
        columns.set(name, column);
      }
      if (column.rows.at(-1) !== index) {
        column.rows.push(index);
        column.atoms.push(atom);
        column.ts = ts;
      } else if (ts >= column.ts) {
        column.atoms[column.atoms.length - 1] = atom;
        column.ts = ts;
      }
    });
  }
  return { names: rows.map(({ name }) => name), times, columns: [...columns.values()] };
}
