// FULL JOIN: the pairs of a left join, then the rows of the right side without a partner.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { atomType } from '../../../plan/type/type.ts';
import { NULL_VALUE } from '../../../value/value.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { joinOutputs } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { concatenate, namedColumns, type Part } from '../table/concatenate.ts';
import { joinNamer, joinPipelines, settle, withOutputNames } from './join.ts';
import { addMark } from './semi-join.ts';

/** Pairs in any order. @throws NotSuited */
export function fullJoin(
  node: JoinNode,
  left: Pipeline,
  right: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { equalities, own, residual } = node;
  const isPlain = own.left === undefined && own.right === undefined && residual === undefined;
  if (!isPlain || node.order === 'value' || equalities.length === 0) throw new NotSuited();
  const [leftTable, rightTable] = [settle(left, context), settle(right, context)];
  const again = ({ base, outputs, namer }: Pipeline) =>
    new Pipeline(base, outputs, namer, context.tables);
  const pairs = joinPipelines(
    { ...node, joinKind: 'left' },
    again(leftTable),
    again(rightTable),
    context,
  ).pipeline;
  const lone = again(rightTable);
  const keys = equalities.map((equality) => ({
    probe: suited(lone.resolve(equality.right)),
    build: suited(leftTable.resolve(equality.left)),
  }));
  const matched = addMark(lone, again(leftTable), keys, context);
  lone.addFilter({ op: 'not', operand: suited(lone.lowering.truth(matched)) });
  const nothing = leftTable.outputs.list()?.map(({ path }) => ({ path, expression: NULL }));
  const noLeft = {
    column: () => NULL,
    list: () => nothing,
  };
  const ownNamer = lone.namer;
  lone.namer = joinNamer(node, (side, rowOf) => (side === 'right' ? ownNamer(rowOf) : undefined));
  lone.outputs = joinOutputs([
    { side: node.left, outputs: noLeft },
    { side: node.right, outputs: lone.outputs },
  ]);
  const part = (pipeline: Pipeline): Part => ({
    pipeline,
    columns: namedColumns(pipeline),
    nameOf: (name) => name,
  });
  const rows = concatenate([part(pairs), part(lone)], context, { named: true });
  return withOutputNames(pairs, rows);
}

const NULL: BoundExpression = {
  ...{ kind: 'constant', value: NULL_VALUE, type: atomType('null') },
  ...{ start: 0, end: 0 },
};
