// Whether a row of features takes a given column of the dataset over as it is.
import { makeCompiler } from '../../exec/general/plan.ts';
import { makeRuntime } from '../../exec/general/runtime.ts';
import { rowFunction } from '../../exec/vector/program/row-function.ts';
import type { BoundExpression, RowExpression } from '../../plan/expression.ts';
import type { Path } from '../../value/path.ts';
import { cellsOf, Row, RowBuilder, Scalar } from '../../value/value.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** Only wildcards and plain columns count: what is computed from a column is another feature. */
export function compileRowItems(
  features: RowExpression,
  context: ProcedureContext,
): (column: Path) => boolean {
  const items = features.items.filter(
    (item) =>
      item.kind === 'wildcard' || (item.kind === 'named' && item.expression.kind === 'column'),
  );
  const plain: BoundExpression = { ...features, items };
  const { namespace, scope } = context;
  const evaluate = rowFunction(
    plain,
    makeCompiler(makeRuntime([], { namespace, scope }), () => []),
  );
  return (column) => {
    const builder = new RowBuilder();
    builder.addPath(column, new Scalar(1, 0));
    const value = evaluate(builder.build());
    return value instanceof Row && cellsOf(value).some(({ atom }) => atom !== null);
  };
}
