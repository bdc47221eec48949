// Equality joins as look-ups: the smaller side is built, the other one goes on as a pipeline.

import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { EMPTY_ROW } from '../../../value/value.ts';
import { JOIN_PAIR_COUNT_MAX } from '../../general/operator/join.ts';
import { type ExecRow, JoinedRow, type JoinShape } from '../../general/row.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { aggregateName, joinOutputs, keyName, outputsOfTable, windowName } from '../outputs.ts';
import type { Output, Outputs, Pipeline, RowNamer } from '../pipeline.ts';
import { lowerKeys } from './join-keys.ts';

interface Side {
  readonly pipeline: Pipeline;
  readonly name: 'left' | 'right';
}

/**
 * Pairs in any order. @param probed the side that goes on as a pipeline; undefined: the larger one
 * @throws NotSuited
 */
export function joinPipelines(
  node: JoinNode,
  left: Pipeline,
  rightInput: Pipeline,
  context: OperatorContext,
  probed?: 'left' | 'right',
): Pipeline {
  const { joinKind, equalities, own, residual } = node;
  if (joinKind === 'full' || joinKind === 'semi' || joinKind === 'anti') throw new NotSuited();
  const outer = joinKind === 'inner' ? undefined : joinKind;
  const isEveryPair = equalities.length === 0;
  // How many rows there are to pair is known when they lie in a table.
  const right = isEveryPair ? settle(rightInput, context) : rightInput;
  if (isEveryPair) {
    if (outer !== undefined) throw new NotSuited();
    const pairCount = left.base.rowCount * right.base.rowCount;
    if (pairCount > JOIN_PAIR_COUNT_MAX) throw new NotSuited();
  }
  // Conditions decide which rows have partners; those of the side that stays keep its rows.
  if (outer !== undefined && (residual !== undefined || own[outer] !== undefined)) {
    throw new NotSuited();
  }
  addOwnFilter(left, own.left);
  addOwnFilter(right, own.right);
  const sides: readonly [Side, Side] = [
    { pipeline: left, name: 'left' },
    { pipeline: right, name: 'right' },
  ];
  const rightIsSmaller = right.base.rowCount <= left.base.rowCount;
  // Without keys pairs come in the order of the left side.
  const wanted = probed ?? outer ?? (isEveryPair || rightIsSmaller ? 'left' : 'right');
  const rightIsBuilt = wanted === 'left';
  const [probe, build] = rightIsBuilt ? sides : [sides[1], sides[0]];
  const keepsProbe = outer !== undefined;
  const built = asTable(build.pipeline, keepsProbe, context);
  const keys = isEveryPair
    ? NO_KEYS
    : lowerKeys(
        equalities.map((equality) => ({
          probe: suited(probe.pipeline.resolve(equality[probe.name])),
          build: suited(built.resolve(equality[build.name])),
        })),
        { probe: probe.pipeline, build: built },
        context,
      );
  const scopeTable = { table: built.scope, filter: built.filter, key: keys.build, keepsProbe };
  const joined = probe.pipeline;
  const ownOutputs = joined.outputs;
  const ownNamer = joined.namer;
  const table = joined.addBuild(scopeTable, keys.probe);
  const ofBuilt = keepsProbe ? outputsWithout(built) : built.outputs;
  const builtOutputs = outputsOfTable(ofBuilt, table);
  const outputsBy = (side: Side): Outputs => (side === probe ? ownOutputs : builtOutputs);
  joined.outputs = joinOutputs(
    sides.map((side) => ({ side: node[side.name], outputs: outputsBy(side) })),
  );
  const sideName: SideNamer = (side, rowOf) => {
    if (side === probe.name) return ownNamer(rowOf);
    const row = rowOf(table);
    return row === undefined ? undefined : built.namer((inner) => (inner === 0 ? row : undefined));
  };
  joined.namer = joinNamer(node, sideName);
  if (residual !== undefined) {
    joined.addFilter(suited(joined.lowering.truth(suited(joined.resolve(residual)))));
  }
  return joined;
}

/**
 * The outputs of a side that some rows lack, a table all of whose columns lie in it: a null is a cell
 * no more.
 */
export function outputsWithout({ outputs, scope }: Pipeline): Outputs {
  const mayBeNull = ({ expression }: Output) => {
    const column = expression.kind === 'column' ? scope.find(expression.path) : undefined;
    return typeof column !== 'number' || scope.hasNulls(column);
  };
  return {
    ...outputs,
    list: () =>
      outputs.list()?.map((output): Output => {
        if (output.presence !== undefined) return output;
        return { ...output, presence: mayBeNull(output) ? 'mixed' : 'valued' };
      }),
  };
}

const NO_KEYS = { probe: undefined, build: undefined };

export function addOwnFilter(pipeline: Pipeline, condition: BoundExpression | undefined): void {
  if (condition === undefined) return;
  pipeline.addFilter(suited(pipeline.lowering.truth(suited(pipeline.resolve(condition)))));
}

/**
 * A pipeline whose rows lie in one table. Where rows may find no partner, their columns are to be
 * null there, so that expressions are evaluated before.
 */
export function asTable(
  pipeline: Pipeline,
  isOptional: boolean,
  context: OperatorContext,
): Pipeline {
  const list = suited(pipeline.outputs.list());
  const isReady = !isOptional || list.every(({ expression }) => expression.kind === 'column');
  if (pipeline.isPlain && isReady) return pipeline;
  return withOutputNames(pipeline, materialize(pipeline, list, context, { named: true }));
}

/** The same rows, all of whose columns lie in one table, and nothing is left to filter. */
export function settle(pipeline: Pipeline, context: OperatorContext): Pipeline {
  const list = suited(pipeline.outputs.list());
  const isReady = list.every(({ expression }) => expression.kind === 'column');
  if (pipeline.isPlain && pipeline.filter === undefined && isReady) return pipeline;
  return withOutputNames(pipeline, materialize(pipeline, list, context, { named: true }));
}

/** Materialized columns are found by the paths that they had, however long. */
export function withOutputNames(before: Pick<Pipeline, 'outputs'>, after: Pipeline): Pipeline {
  const { outputs } = before;
  const { outputs: made } = after;
  const paths = new Set((outputs.list() ?? []).map(({ path }) => path.join('\u0000')));
  after.outputs = {
    column(path) {
      const name = path.join('\u0000');
      return paths.has(name)
        ? made.column([name])
        : outputs.column(path) === 'absent'
          ? 'absent'
          : undefined;
    },
    list: () =>
      outputs.list()?.map((output) => {
        const expression = made.column([output.path.join('\u0000')]);
        if (typeof expression !== 'object') throw new NotSuited();
        return { ...output, expression };
      }),
    groupKey: (index) => named(made, keyName(index)),
    aggregateResult: (index) => named(made, aggregateName(index)),
    windowResult: (index) => named(made, windowName(index)),
  };
  return after;
}

function named(made: Outputs, name: string): BoundExpression | undefined {
  const expression = made.column([name]);
  return typeof expression === 'object' ? expression : undefined;
}

/** What the row of a side is called; undefined where there is none. */
type SideNamer = (
  side: 'left' | 'right',
  rowOf: (table: number) => number | undefined,
) => ExecRow | undefined;

/** Names of pairs, as joined rows have them. */
export function joinNamer({ left, right }: JoinNode, rowOfSide: SideNamer): RowNamer {
  const shape: JoinShape = { leftTableCount: left.tableCount, rightTableCount: right.tableCount };
  return (rowOf) => {
    return new JoinedRow(rowOfSide('left', rowOf), rowOfSide('right', rowOf), EMPTY_ROW, shape);
  };
}
