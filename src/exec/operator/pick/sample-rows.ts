// sample: rows by their numbers, drawn as the reference draws them; their values stay where they lie.
import type { SampleNode } from '../../../plan/plan.ts';
import { compileDraw } from '../../general/operator/sample.ts';
import { settle } from '../join/join.ts';
import type { OperatorContext } from '../materialize.ts';
import { suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';
import { selectRows } from '../select-rows.ts';
import { pickRows } from '../slice.ts';

/** @param pipeline the rows that are drawn from, in their order @throws NotSuited, and as drawing does */
export function sampleRows(
  node: SampleNode,
  pipeline: Pipeline,
  context: OperatorContext,
): Pipeline {
  const { compiler, engine, trace } = context;
  const draw = compileDraw(node, compiler);
  if (node.options !== undefined) trace?.evaluated(node.options, 'closure', []);
  if (compiler.runtime.isDry) return settle(pipeline, context);
  if (pipeline.filter === undefined || !isTable(pipeline)) {
    const rows = settle(pipeline, context);
    return pickRows(rows, draw(rows.base.rowCount), context);
  }
  const left = selectRows(pipeline, pipeline.filter, engine);
  const rows = draw(left.length).map((index) => left[index] as number);
  return pickRows(pipeline, rows, context);
}

/** Whether the rows are some of a table, with its columns. */
function isTable({ isPlain, outputs }: Pipeline): boolean {
  return isPlain && suited(outputs.list()).every(({ expression }) => expression.kind === 'column');
}
