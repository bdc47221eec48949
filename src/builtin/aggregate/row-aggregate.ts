// Aggregates that make a row of many rows: pivot and likelihood_ratio.
import type { FunctionDeclaration } from '../../plan/function.ts';
import { OPEN_ROW_TYPE } from '../../plan/type/type.ts';
import { failure } from '../../util/error.ts';
import { isTrue } from '../../value/atom.ts';
import type { Path } from '../../value/path.ts';
import { atomText } from '../../value/text.ts';
import { laterOf, MINUS_INFINITY } from '../../value/timestamp.ts';
import {
  effectiveTs,
  flatten,
  RowBuilder,
  Scalar,
  sortedRow,
  type Value,
} from '../../value/value.ts';
import { numberAtom, requireAtom } from '../conversion.ts';
import { family, parameter } from '../declare.ts';

const { aggregate } = family('aggregate');

interface PivotState {
  readonly names: string[];
  readonly values: Value[];
}

/** How many rows of each class have a column. */
interface ColumnCounts {
  readonly path: Path;
  withFlag: number;
  without: number;
}

interface LikelihoodState {
  readonly columns: Map<string, ColumnCounts>;
  withFlag: number;
  without: number;
  ts: number;
}

export const rowAggregateFunctions: readonly FunctionDeclaration[] = [
  aggregate<PivotState>({
    name: 'pivot',
    summary: 'A row with a column for each row of the group; values of one name are its versions.',
    parameters: [
      parameter('name', 'the name of the column, one path element; not null'),
      parameter('value', 'the value of the column'),
    ],
    examples: [
      [
        'print_json(pivot(column, value)) FROM row_dataset({x: 1, y: 2})',
        '"{\\"x\\":1,\\"y\\":2}"',
      ],
    ],
    resultType: () => OPEN_ROW_TYPE,
    overRows: false,
    init: () => ({ names: [], values: [] }),
    update: (state, [name, value]) => {
      const atom = requireAtom(name);
      if (atom === null) throw failure('SQL_EXECUTION', 'pivot got null as the name of a column');
      state.names.push(atomText(atom));
      state.values.push(value as Value);
    },
    merge: (state, other) => {
      for (const name of other.names) state.names.push(name);
      for (const value of other.values) state.values.push(value);
    },
    finish: (state) => sortedRow(state.names, state.values),
  }),
  aggregate<LikelihoodState>({
    name: 'likelihood_ratio',
    summary:
      'For each column the logarithm of how much more often the rows with the flag have it than the others.',
    parameters: [
      parameter('row', 'a row; what counts is which columns it has'),
      parameter('flag', 'the class of the row'),
    ],
    examples: [
      [
        'print_json(likelihood_ratio({1 AS x}, value > 3)) FROM row_dataset([3, 4, 5])',
        '"{\\"x\\":0}"',
      ],
    ],
    resultType: () => OPEN_ROW_TYPE,
    overRows: false,
    init: () => ({ columns: new Map(), withFlag: 0, without: 0, ts: MINUS_INFINITY }),
    update: (state, [row, flag]) => {
      if (row instanceof Scalar && row.atom !== null) {
        throw failure('SQL_EXECUTION', 'likelihood_ratio: the first argument is to be a row');
      }
      const hasFlag = isTrue(requireAtom(flag));
      const side = hasFlag ? 'withFlag' : 'without';
      state[side]++;
      state.ts = laterOf(state.ts, laterOf(effectiveTs(row as Value), (flag as Scalar).ts));
      const paths = new Map<string, Path>();
      // A null is a row without columns.
      if (!(row instanceof Scalar)) {
        flatten(row as Value, [], (path) => paths.set(path.toString(), path));
      }
      for (const [name, path] of paths) countsOf(state, name, path)[side]++;
    },
    merge: (state, other) => {
      state.withFlag += other.withFlag;
      state.without += other.without;
      state.ts = laterOf(state.ts, other.ts);
      for (const [name, { path, withFlag, without }] of other.columns) {
        const counts = countsOf(state, name, path);
        counts.withFlag += withFlag;
        counts.without += without;
      }
    },
    finish: (state) => {
      const builder = new RowBuilder();
      for (const { path, withFlag, without } of state.columns.values()) {
        const ratio = Math.log(withFlag / state.withFlag / (without / state.without));
        builder.addPath(path, new Scalar(numberAtom(ratio), state.ts));
      }
      return builder.build();
    },
  }),
];

function countsOf(state: LikelihoodState, name: string, path: Path): ColumnCounts {
  let counts = state.columns.get(name);
  if (counts === undefined) {
    counts = { path, withFlag: 0, without: 0 };
    state.columns.set(name, counts);
  }
  return counts;
}
