// WHERE and HAVING over a pipeline: rows are left out where kernels read it.
import type { BoundExpression } from '../../../plan/expression.ts';
import { withOutputNames } from '../join/join.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { NotSuited, suited } from '../not-suited.ts';
import type { Pipeline } from '../pipeline.ts';

/**
 * @param condition about the tables of the pipeline
 * @param named the names of its rows can be asked for
 * @throws NotSuited, and what the condition throws
 */
export function filterPipeline(
  pipeline: Pipeline,
  condition: BoundExpression,
  named: boolean,
  context: OperatorContext,
): Pipeline {
  const truth = pipeline.lowering.truth(condition);
  if (truth !== undefined) {
    pipeline.addFilter(truth);
    return pipeline;
  }
  const list = suited(pipeline.outputs.list());
  const outputs = [...list, { path: [CONDITION], expression: condition }];
  const table = materialize(pipeline, outputs, context, { named });
  const found = suited(table.outputs.column([CONDITION]));
  if (found === 'absent') throw new NotSuited();
  table.addFilter(suited(table.lowering.truth(found)));
  return withOutputNames(pipeline, table);
}

/** No column of a query is called so. */
const CONDITION = '\u0000condition';
