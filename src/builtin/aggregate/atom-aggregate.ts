// Aggregates of atoms, in the short form that those of statistics share.
import type {
  AggregateFunction,
  FunctionDeclaration,
  FunctionExample,
} from '../../plan/function.ts';
import type { ValueType } from '../../plan/type/type.ts';
import type { Atom } from '../../value/atom.ts';
import { laterOf } from '../../value/timestamp.ts';
import { Scalar } from '../../value/value.ts';
import { requireAtom } from '../conversion.ts';
import { family, NUMBER_TYPE, parameter } from '../declare.ts';

const { aggregate } = family('aggregate');

export const X = parameter('x', 'an expression');
export const Y = parameter('y', 'an expression');
export const Q = parameter('q', 'the share below it, 0 to 1');

/** Examples run over the three rows 3, 4, 5. */
export function overThreeRows(call: string, result: string): readonly FunctionExample[] {
  return [[`${call} FROM row_dataset([3, 4, 5])`, result]];
}

/** State that is read at the end; `ts` is the latest of the values. */
export interface Timed {
  ts: number;
}

export type AtomAggregate<State> = Pick<
  AggregateFunction<State>,
  'name' | 'summary' | 'parameters' | 'examples' | 'init' | 'merge'
> & {
  readonly aliases?: readonly string[];
  readonly resultType?: (args: readonly ValueType[]) => ValueType;
  /** sees atoms that are not null */
  readonly add: (state: State, ...atoms: Atom[]) => void;
  readonly finish: (state: State) => Atom;
};

/** An aggregate of atoms; a row with a null among its arguments is left out. */
export function ofAtoms<State extends Timed>(options: AtomAggregate<State>): FunctionDeclaration {
  const { add, finish, resultType = () => NUMBER_TYPE, ...declaration } = options;
  return aggregate<State>({
    ...declaration,
    overRows: false,
    resultType,
    update: (state, args) => {
      const atoms = args.map(requireAtom);
      if (atoms.includes(null)) return;
      add(state, ...atoms);
      for (const arg of args) state.ts = laterOf(state.ts, (arg as Scalar).ts);
    },
    addAtoms: add,
    merge: (state, other) => {
      options.merge(state, other);
      state.ts = laterOf(state.ts, other.ts);
    },
    finish: (state) => new Scalar(finish(state), state.ts),
  });
}
