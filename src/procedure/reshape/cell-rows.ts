// Reads what a query selects by column, whatever the values are: for decompositions and the like.
import type { InputQuery } from '../../schema/declare.ts';
import { every } from '../../util/every.ts';
import type { Atom } from '../../value/atom.ts';
import { comparePaths, Path } from '../../value/path.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import { flatten, type Row, Scalar, type Value } from '../../value/value.ts';
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

/** All rows in the order of their names. Cells are kept as numbers and atoms, so rows are not held. */
export function readCells(context: ProcedureContext, query: InputQuery): CellRows {
  const look = every(STEPS_PER_CHECK, () => context.checkCancelled());
  const cells = new CellReader(look);
  for (const { name, row } of context.query(query).run()) {
    look();
    cells.add(name, row);
  }
  return cells.byColumn();
}

/** A column while rows are read. */
interface ReadColumn {
  readonly name: string;
  readonly number: number;
  /** the row, the cell and the time of the value that was read last */
  row: number;
  cell: number;
  ts: number;
}

/** Cells in the order in which their rows came. */
class CellReader {
  readonly #look: () => void;
  readonly #names: Path[] = [];
  readonly #times: number[] = [];
  /** of each row, where its cells end */
  readonly #ends: number[] = [];
  readonly #cellColumns: number[] = [];
  readonly #atoms: Atom[] = [];
  readonly #columns: ReadColumn[] = [];
  readonly #byPath = new Map<string, ReadColumn>();
  /** columns of one path element, by that element */
  readonly #byElement = new Map<string, ReadColumn>();

  constructor(look: () => void) {
    this.#look = look;
  }

  add(name: Path, { names, values }: Row): void {
    this.#names.push(name);
    this.#times.push(MINUS_INFINITY);
    for (let i = 0; i < names.length; i++) {
      const value = values[i] as Value;
      const element = names[i] as string;
      if (value instanceof Scalar) {
        let column = this.#byElement.get(element);
        if (column === undefined) {
          column = this.#column(Path.of(element).toString());
          this.#byElement.set(element, column);
        }
        this.#put(column, value.atom, value.ts);
      } else {
        flatten(value, [element], (path, atom, ts) =>
          this.#put(this.#column(path.toString()), atom, ts),
        );
      }
    }
    this.#ends.push(this.#atoms.length);
  }

  byColumn(): CellRows {
    const order = [...this.#names.keys()];
    order.sort((a, b) => {
      this.#look();
      return comparePaths(this.#names[a] as Path, this.#names[b] as Path);
    });
    const columns: (CellColumnRows | undefined)[] = [];
    const inOrder: CellColumnRows[] = [];
    for (const [index, read] of order.entries()) {
      const end = this.#ends[read] as number;
      for (let cell = read === 0 ? 0 : (this.#ends[read - 1] as number); cell < end; cell++) {
        this.#look();
        const number = this.#cellColumns[cell] as number;
        let column = columns[number];
        if (column === undefined) {
          column = { name: (this.#columns[number] as ReadColumn).name, rows: [], atoms: [] };
          columns[number] = column;
          inOrder.push(column);
        }
        column.rows.push(index);
        column.atoms.push(this.#atoms[cell] as Atom);
      }
    }
    return {
      names: order.map((read) => this.#names[read] as Path),
      times: Float64Array.from(order, (read) => this.#times[read] as number),
      columns: inOrder,
    };
  }

  #column(name: string): ReadColumn {
    let column = this.#byPath.get(name);
    if (column === undefined) {
      column = { name, number: this.#columns.length, row: -1, cell: -1, ts: MINUS_INFINITY };
      this.#columns.push(column);
      this.#byPath.set(name, column);
    }
    return column;
  }

  #put(column: ReadColumn, atom: Atom, ts: number): void {
    this.#look();
    const row = this.#names.length - 1;
    this.#times[row] = laterOf(this.#times[row] as number, ts);
    if (column.row !== row) {
      column.row = row;
      column.cell = this.#atoms.push(atom) - 1;
      this.#cellColumns.push(column.number);
    } else if (ts >= column.ts) {
      this.#atoms[column.cell] = atom;
    } else return;
    column.ts = ts;
  }
}
