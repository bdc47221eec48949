// Aggregates of every column of a dataset, like count({*}): one column after the other, where the
// dataset can give its cells so, instead of a look-up for each cell of each row.

import type { BoundExpression } from '../../../plan/expression.ts';
import type { FlatColumn, Relation } from '../../../plan/namespace.ts';
import { isWholeRow } from '../../../plan/pattern.ts';
import type { AggregateNode, ScanNode } from '../../../plan/plan.ts';
import { every } from '../../../util/every.ts';
import { Row, type Value } from '../../../value/value.ts';
import { aggregateNamed } from '../aggregator.ts';
import type { Compiler } from '../compiler.ts';
import { placeErrors } from '../error-place.ts';
import { type ExecRow, GroupRow } from '../row.ts';
import type { RowSource } from './source.ts';

/** @param rowByRow what to do where the dataset has no flat columns */
export function compileColumnwise(
  node: AggregateNode,
  compiler: Compiler,
  rowByRow: RowSource,
): RowSource {
  const { input, keys, aggregates, explicit } = node;
  const isColumnwise =
    input.kind === 'scan' &&
    input.lookup === undefined &&
    keys.length === 0 &&
    !explicit &&
    aggregates.length > 0 &&
    aggregates.every(
      ({ name, args, modifiers }) =>
        modifiers === undefined &&
        args.length === 1 &&
        isInputRow(args[0] as BoundExpression) &&
        aggregateNamed(name, compiler).overRows,
    );
  if (!isColumnwise) return rowByRow;
  return () => {
    const relation = compiler.runtime.namespace.dataset((input as ScanNode).dataset);
    return columnwiseGroup(node, relation, compiler) ?? rowByRow();
  };
}

function isInputRow(expression: BoundExpression): boolean {
  if (expression.kind !== 'row' || expression.items.length !== 1) return false;
  const [item] = expression.items;
  return item?.kind === 'wildcard' && item.source === 'input' && isWholeRow(item.pattern);
}

const CELLS_PER_CHECK = 8192;

function columnwiseGroup(
  { aggregates }: AggregateNode,
  relation: Relation,
  compiler: Compiler,
): ExecRow[] | undefined {
  const { scope, text } = compiler.runtime;
  const check = () => scope.checkCancelled();
  const columns = relation.rowCount === 0 ? undefined : relation.flatColumns?.(check);
  if (columns === undefined) return undefined;
  const checkSometimes = every(CELLS_PER_CHECK, check);
  const names: string[] = [];
  const results: Value[][] = aggregates.map(() => []);
  const finishers = aggregates.map((call) => {
    const declaration = aggregateNamed(call.name, compiler);
    const finish = (column: FlatColumn): Value => {
      checkSometimes();
      if (declaration.ofCount !== undefined) {
        return declaration.ofCount(column.valueCount, column.latestTs);
      }
      const state = declaration.init();
      column.visitCells((cell) => {
        checkSometimes();
        declaration.update(state, [cell]);
      });
      return declaration.finish(state);
    };
    return placeErrors(finish, call, text);
  });
  for (const column of columns) {
    names.push(column.name);
    finishers.forEach((finish, i) => {
      (results[i] as Value[]).push(finish(column));
    });
  }
  return [
    new GroupRow(
      [],
      results.map((values) => new Row(names, values)),
    ),
  ];
}
