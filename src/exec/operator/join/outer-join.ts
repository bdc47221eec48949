// Outer joins whose pairs have conditions of their own, and full joins: the pairs of an inner join,
// then the rows of the sides that stay which are in none of them. A full join by keys alone is a left
// join, and the rows of the right side whose keys have no partner.
import type { BoundExpression, JoinSide } from '../../../plan/expression.ts';
import type { JoinNode } from '../../../plan/plan.ts';
import { atomType } from '../../../plan/type/type.ts';
import { NULL_VALUE } from '../../../value/value.ts';
import type { OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import { joinOutputs } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { selectRows } from '../select-rows.ts';
import { pickRows } from '../slice.ts';
import { concatenate, namedColumns, type Part } from '../table/concatenate.ts';
import { joinNamer, joinPipelines, outputsWithout, settle, withOutputNames } from './join.ts';
import { addMark } from './semi-join.ts';

/** Pairs in any order. @throws NotSuited */
export function outerJoin(
  node: JoinNode,
  left: Pipeline,
  right: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { joinKind } = node;
  if (node.order === 'value' && node.equalities.length > 0) throw new NotSuited();
  const tables = { left: settle(left, context), right: settle(right, context) };
  if (joinKind !== 'left') tables.left.outputs = outputsWithout(tables.left);
  if (joinKind !== 'right') tables.right.outputs = outputsWithout(tables.right);
  const again = ({ base, outputs, namer }: Pipeline) =>
    new Pipeline(base, outputs, namer, context.tables);
  const joined = (kind: JoinNode['joinKind'], probed?: JoinSide) => {
    const part: JoinNode = { ...node, joinKind: kind, order: 'any' };
    return joinPipelines(part, again(tables.left), again(tables.right), context, probed);
  };
  const together = (all: Pipeline, lone: readonly Pipeline[]) => {
    const parts = [all, ...lone].map((pipeline): Part => {
      return { pipeline, columns: namedColumns(pipeline), nameOf: (name) => name };
    });
    return withOutputNames(all, concatenate(parts, context, { named: true }));
  };
  if (joinKind === 'full' && hasOnlyKeys(node)) {
    const lone = withoutPartner(node, again(tables.right), again(tables.left), context);
    return together(joined('left'), [loneRows(node, 'right', lone, tables)]);
  }
  const sides = (['left', 'right'] as const).filter(
    (side) => joinKind === 'full' || joinKind === side,
  );
  const all = joined('inner', sides[0]);
  const lone = sides.map((side) => {
    const rows = rowsInNone(side === sides[0] ? all : joined('inner', side), tables[side], context);
    return loneRows(node, side, pickRows(tables[side], rows, context), tables);
  });
  return together(all, lone);
}

function hasOnlyKeys({ equalities, own, residual }: JoinNode): boolean {
  const isPlain = own.left === undefined && own.right === undefined && residual === undefined;
  return isPlain && equalities.length > 0;
}

/** Rows of the right side whose keys none of the left side has, without making pairs. */
function withoutPartner(
  { equalities }: JoinNode,
  right: Pipeline,
  left: Pipeline,
  context: OperatorContext,
): Pipeline {
  const keys = equalities.map((equality) => ({
    probe: suited(right.resolve(equality.right)),
    build: suited(left.resolve(equality.left)),
  }));
  const matched = addMark(right, left, keys, context);
  right.addFilter({ op: 'not', operand: suited(right.lowering.truth(matched)) });
  return right;
}

/** Numbers of the rows of a table that no row of a pipeline over it is made of. */
function rowsInNone(
  joined: Pipeline,
  { base: { rowCount } }: Pipeline,
  { engine }: OperatorContext,
): Uint32Array {
  const { filter } = joined;
  const marks = new Uint8Array(rowCount);
  for (const row of selectRows(joined, filter, engine)) marks[row] = 1;
  const rows = new Uint32Array(marks.reduce((count, mark) => count + 1 - mark, 0));
  let at = 0;
  for (let row = 0; row < rowCount; row++) if (marks[row] === 0) rows[at++] = row;
  return rows;
}

/** Rows of a side with nothing of the other one. */
function loneRows(
  node: JoinNode,
  side: JoinSide,
  lone: Pipeline,
  tables: Readonly<Record<JoinSide, Pipeline>>,
): Pipeline {
  const { namer, outputs } = lone;
  const outputsOf = (each: JoinSide) => {
    if (each === side) return outputs;
    const nothing = tables[each].outputs.list()?.map(({ path }) => ({ path, expression: NULL }));
    return { column: () => NULL, list: () => nothing };
  };
  lone.namer = joinNamer(node, (each, rowOf) => (each === side ? namer(rowOf) : undefined));
  lone.outputs = joinOutputs([
    { side: node.left, outputs: outputsOf('left') },
    { side: node.right, outputs: outputsOf('right') },
  ]);
  return lone;
}

const NULL: BoundExpression = {
  ...{ kind: 'constant', value: NULL_VALUE, type: atomType('null') },
  ...{ start: 0, end: 0 },
};
