// Joins that only ask whether a row has a partner: the keys of the other side are grouped, and rows
// look them up. With further conditions pairs are made, and rows are marked by their numbers.
import type { BoundExpression } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { BOOLEAN_TYPE } from '../../../plan/type/operator-type.ts';
import { groupResolved } from '../group/accumulate.ts';
import { pipelineOfGroups } from '../group/group-pipeline.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { keyName, tableColumn } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { selectRows } from '../select-rows.ts';
import { pickRows } from '../slice.ts';
import { addOwnFilter, joinPipelines, settle } from './join.ts';
import { lowerKeys } from './join-keys.ts';

/** Rows of the left side that have a partner, or that have none. @throws NotSuited */
export function semiJoin(
  node: JoinNode,
  left: Pipeline,
  right: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { joinKind, equalities, own, residual } = node;
  const isAnti = joinKind === 'anti';
  if (residual !== undefined || equalities.length === 0) {
    return markedRows(node, left, right, context);
  }
  addOwnFilter(right, own.right);
  const keys = equalities.map((equality) => ({
    probe: suited(left.resolve(equality.left)),
    build: suited(right.resolve(equality.right)),
  }));
  const matched = addMark(left, right, keys, context);
  const truth = suited(left.lowering.truth(matched));
  if (own.left === undefined) {
    left.addFilter(isAnti ? { op: 'not', operand: truth } : truth);
    return left;
  }
  // Of what the condition does not hold for nothing is a partner, be it false or null.
  const condition = suited(left.resolve(own.left));
  const { start, end } = condition;
  const holds = suited(
    left.lowering.truth({
      ...{ kind: 'is', operand: condition, test: 'true', negated: false },
      ...{ type: BOOLEAN_TYPE, start, end },
    }),
  );
  const both = { op: 'and', operands: [holds, truth] } as const;
  left.addFilter(isAnti ? { op: 'not', operand: both } : both);
  return left;
}

/** Looks up the distinct keys of another pipeline. @returns whether a row has found its own */
export function addMark(
  probe: Pipeline,
  build: Pipeline,
  keys: readonly { readonly probe: BoundExpression; readonly build: BoundExpression }[],
  context: OperatorContext,
): BoundExpression {
  const grouping = {
    keys: keys.map((key) => key.build),
    aggregates: [],
    ...{ explicit: true, isOrdered: false },
  };
  const groups = pipelineOfGroups(
    grouping,
    groupResolved(grouping, build, context),
    false,
    context,
  );
  const codes = lowerKeys(
    keys.map((key, index) => ({ probe: key.probe, build: tableColumn([keyName(index)]) })),
    { probe, build: groups },
    context,
  );
  const table = probe.addBuild(
    { table: groups.scope, filter: undefined, key: codes.build, keepsProbe: true },
    codes.probe,
  );
  const { start, end } = keys[0]?.probe ?? { start: 0, end: 0 };
  return {
    ...{ kind: 'is', operand: tableColumn(['0', keyName(0)], table), test: 'null', negated: true },
    ...{ type: BOOLEAN_TYPE, start, end },
  };
}

function markedRows(
  node: JoinNode,
  left: Pipeline,
  right: Pipeline,
  context: OperatorContext,
): Pipeline {
  if (node.own.left !== undefined) throw new NotSuited();
  const table = settle(left, context);
  const { base, namer } = table;
  const again = new Pipeline(base, table.outputs, namer, context.tables);
  const inner: JoinNode = { ...node, joinKind: 'inner', order: 'any' };
  const pipeline = joinPipelines(inner, again, right, context, 'left');
  const { filter } = pipeline;
  pipeline.filter = undefined;
  const partners = selectRows(pipeline, filter, context.engine);
  const marks = new Uint8Array(base.rowCount);
  for (const row of partners) marks[row] = 1;
  const wanted = node.joinKind === 'anti' ? 0 : 1;
  let count = 0;
  for (const mark of marks) if (mark === wanted) count++;
  const rows = new Uint32Array(count);
  let at = 0;
  for (let row = 0; row < marks.length; row++) if (marks[row] === wanted) rows[at++] = row;
  return pickRows(table, rows, context);
}
