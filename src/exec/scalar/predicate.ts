// Tests of rows by generated code, where the cells that they read are plain atoms.

import type { Atom } from '../../value/atom.ts';
import { isTrue } from '../../value/atom.ts';
import { type Row, Scalar } from '../../value/value.ts';
import type { Predicate } from '../general/frame.ts';
import type { ScalarProgram } from './compile.ts';

/**
 * IS TRUE of a program over the columns of the row; a row in which one of them is no single atom
 * goes to `general`. Undefined when a column is below another, which a flat look-up cannot find.
 */
export function scalarPredicate(program: ScalarProgram, general: Predicate): Predicate | undefined {
  const { columns } = program;
  if (columns.some((path) => path.length !== 1)) return undefined;
  const names = columns.map((path) => path[0] as string);
  const positions = new Array<number>(names.length).fill(-1);
  const atoms = new Array<Atom>(names.length).fill(null);
  let known: readonly string[] | undefined;
  let repeated = false;
  const locate = (row: Row) => {
    known = row.names;
    repeated = false;
    for (const [i, name] of names.entries()) {
      const index = row.indexOf(name);
      positions[i] = index;
      repeated ||= index !== -1 && row.names[index + 1] === name;
    }
  };
  return (frame) => {
    const { row } = frame;
    if (row.names !== known) locate(row);
    if (repeated) return general(frame);
    for (let i = 0; i < positions.length; i++) {
      const position = positions[i] as number;
      const value = position === -1 ? NO_ATOM : row.values[position];
      if (!(value instanceof Scalar)) return general(frame);
      atoms[i] = value.atom;
    }
    try {
      return isTrue(program.evaluate(atoms));
    } catch {
      return general(frame); // which knows the place of the error
    }
  };
}

const NO_ATOM = new Scalar(null, 0);
