// What the rows of a join in the order of its keys are sorted by: rows that can have no partner, the
// keys, then the places of the names of both sides among all names of their side.
import type { BoundExpression, JoinSide, SortKey } from '../../../plan/expression.ts';
import { mapExpression } from '../../../plan/map-expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import { ANY_TYPE, atomType } from '../../../plan/type/type.ts';
import { every } from '../../../util/every.ts';
import { comparePaths, type Path } from '../../../value/path.ts';
import { MINUS_INFINITY } from '../../../value/timestamp.ts';
import { constant, NULL_VALUE } from '../../../value/value.ts';
import { VectorTable } from '../../vector/table.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited } from '../not-suited.ts';
import { HIDDEN, tableColumn } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { encodeNumberColumn } from '../table/encode-column.ts';
import { ExtendedTable } from '../table/extended-table.ts';
import { settle } from './join.ts';

const COMPARISONS_PER_CHECK = 4096;

const rankName = (side: JoinSide) => `${HIDDEN}${side} rank`;

/** The same rows with a column more: the places of their names in the order of all of them. */
export function withRanks(side: JoinSide, input: Pipeline, context: OperatorContext): Pipeline {
  const { base, outputs, namer } = settle(input, context);
  const name = rankName(side);
  const { chunkRowCounts } = base;
  const makers = new Map([
    [
      name,
      () => {
        const values = ranksOf(base, (row) => namer(() => row).name, context);
        const numbers = { values, nulls: undefined };
        const { memory } = context;
        const snapshot = encodeNumberColumn([name], numbers, 'number', chunkRowCounts, memory);
        return { snapshot, ts: MINUS_INFINITY };
      },
    ],
  ]);
  const column = tableColumn([name]);
  const ranked = {
    ...outputs,
    column: (path: readonly string[]) => (path[0] === name ? column : outputs.column(path)),
    list: () => {
      const list = outputs.list();
      return list && [...list, { path: [name], expression: column }];
    },
  };
  return new Pipeline(new ExtendedTable(base, makers), ranked, namer, context.tables);
}

/** Takes the columns away that `withRanks` has given to both sides. */
export function withoutRanks(pipeline: Pipeline): Pipeline {
  const { outputs } = pipeline;
  const isRank = ({ path }: { readonly path: readonly string[] }) =>
    path.at(-1) === rankName('left') || path.at(-1) === rankName('right');
  pipeline.outputs = { ...outputs, list: () => outputs.list()?.filter((each) => !isRank(each)) };
  return pipeline;
}

function ranksOf(
  base: Pipeline['base'],
  nameOf: (row: number) => Path,
  { compiler }: OperatorContext,
): Float64Array {
  const { rowCount } = base;
  const inOrder = Float64Array.from({ length: rowCount }, (_, row) => row);
  const rowNames = base instanceof VectorTable ? base.snapshot.rowNames : undefined;
  // Numbers that count up are in the natural order of names.
  if (rowNames?.kind === 'sequence' && rowNames.first >= 0) return inOrder;
  const { scope } = compiler.runtime;
  const look = every(COMPARISONS_PER_CHECK, () => scope.checkCancelled());
  const names: Path[] = [];
  let isAscending = true;
  for (let row = 0; row < rowCount; row++) {
    look();
    const name = nameOf(row);
    isAscending &&= row === 0 || comparePaths(names[row - 1] as Path, name) <= 0;
    names.push(name);
  }
  if (isAscending) return inOrder;
  const order = Array.from(inOrder).sort((a, b) => {
    look();
    return comparePaths(names[a] as Path, names[b] as Path);
  });
  const ranks = new Float64Array(rowCount);
  order.forEach((row, rank) => {
    ranks[row] = rank;
  });
  return ranks;
}

/** What joined rows are sorted by, about their columns. @throws NotSuited */
export function keyOrder(node: JoinNode): readonly SortKey[] {
  const { equalities, joinKind, own } = node;
  const [left, right] = (['left', 'right'] as const).map((side): OfSide => {
    const about = (expression: BoundExpression) => ofJoinedRow(node, side, expression);
    return {
      keys: equalities.map((equality) => about(equality[side])),
      own: own[side] && about(own[side]),
      rank: ofJoinedRow(node, side, columnNamed(rankName(side))),
    };
  }) as [OfSide, OfSide];
  /** One expression for rows of the left side, another one for those that lack it. */
  const bySide = (ofLeft: BoundExpression, ofRight: BoundExpression): BoundExpression => {
    if (joinKind === 'inner' || joinKind === 'left') return ofLeft;
    return joinKind === 'right' ? ofRight : choose([[isNull(left.rank), ofRight]], ofLeft);
  };
  const isPlain =
    joinKind === 'inner' ||
    // Rows without a partner have null for a key then, which comes first anyway.
    (equalities.length === 1 && own.left === undefined && own.right === undefined);
  const keys = equalities.map((_, index) => {
    const [ofLeft, ofRight] = [left.keys[index], right.keys[index]] as [
      BoundExpression,
      BoundExpression,
    ];
    return isPlain
      ? bySide(ofLeft, ofRight)
      : bySide(ifLoose(left, NULL, ofLeft), ifLoose(right, NULL, ofRight));
  });
  const kinds = isPlain
    ? []
    : [bySide(ifLoose(left, number(0), number(2)), ifLoose(right, number(1), number(2)))];
  const ascending = (expression: BoundExpression): SortKey => ({ expression, descending: false });
  return [
    ...[...kinds, ...keys].map(ascending),
    { ...ascending(left.rank), nulls: 'last' },
    ascending(right.rank),
  ];
}

/** What is known of a row of a side, about the columns of joined rows. */
interface OfSide {
  readonly keys: readonly BoundExpression[];
  /** what has to be true for a partner */
  readonly own: BoundExpression | undefined;
  readonly rank: BoundExpression;
}

/** One result for rows that can have no partner, another one for the rest. */
function ifLoose(
  { keys, own }: OfSide,
  loose: BoundExpression,
  otherwise: BoundExpression,
): BoundExpression {
  const hasNull = keys.map((key) => [isNull(key), loose] as const);
  if (own === undefined) return choose(hasNull, otherwise);
  return choose([...hasNull, [is(own, 'true'), otherwise]], loose);
}

/** The same about joined rows: columns lie below the alias of their side where it has one. */
function ofJoinedRow(node: JoinNode, side: JoinSide, expression: BoundExpression): BoundExpression {
  const { alias } = node[side];
  if (alias === undefined) return expression;
  return mapExpression(expression, (part) => {
    if (part.kind === 'row-function') throw new NotSuited();
    return part.kind === 'column' ? { ...part, path: [alias, ...part.path] } : part;
  });
}

const SPAN = { start: 0, end: 0 };
const NULL: BoundExpression = {
  ...{ kind: 'constant', value: NULL_VALUE, type: atomType('null') },
  ...SPAN,
};

function number(value: number): BoundExpression {
  return { kind: 'constant', value: constant(value), type: atomType('number'), ...SPAN };
}

function columnNamed(name: string): BoundExpression {
  return { kind: 'column', path: [name], type: ANY_TYPE, ...SPAN };
}

function is(operand: BoundExpression, test: 'null' | 'true'): BoundExpression {
  return { kind: 'is', operand, test, negated: false, type: BOOLEAN_TYPE, ...SPAN };
}

function isNull(operand: BoundExpression): BoundExpression {
  return is(operand, 'null');
}

function choose(
  branches: readonly (readonly [when: BoundExpression, result: BoundExpression])[],
  otherwise: BoundExpression,
): BoundExpression {
  return {
    ...{ kind: 'case', operand: undefined, otherwise, emptyRow: false, type: ANY_TYPE },
    branches: branches.map(([when, result]) => ({ when, result })),
    ...SPAN,
  };
}
