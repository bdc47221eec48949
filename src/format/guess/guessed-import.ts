// A guess: the procedure that imports a file, and what it would give.
import type { Atom } from '../../value/atom.ts';

export interface GuessedColumn {
  readonly name: string;
  readonly type: 'null' | 'integer' | 'number' | 'string' | 'timestamp' | 'mixed';
}

export interface Guess {
  /** type of the procedure that imports the file */
  readonly type: string;
  /** its parameters, but for file and output */
  readonly params: Readonly<Record<string, unknown>>;
  /** by what was guessed, each in [0, 1] */
  readonly confidence: Readonly<Record<string, number>>;
  readonly columns: readonly GuessedColumn[];
  /** the first rows, a value for each column */
  readonly rows: readonly (readonly Atom[])[];
  readonly warnings: readonly string[];
}
