// The rows of a dataset that lies in columns.
import type { ScanNode } from '../../plan/plan.ts';
import { rowNamesView } from '../../value/column/row-names.ts';
import type { Path } from '../../value/path.ts';
import { namedRow } from '../general/row.ts';
import { VectorTable } from '../vector/table.ts';
import type { OperatorContext } from './materialize.ts';
import { NotSuited } from './not-suited.ts';
import { datasetOutputs } from './outputs.ts';
import { Pipeline } from './pipeline.ts';

/** @throws NotSuited when it does not */
export function scanPipeline(
  node: ScanNode,
  { compiler, engine, tables, exactTimestamps }: OperatorContext,
): Pipeline {
  const relation = compiler.runtime.namespace.dataset(node.dataset);
  const stored = VectorTable.of(relation, exactTimestamps);
  if (stored === undefined || stored.rowCount === 0) throw new NotSuited();
  const table = compiler.runtime.isDry ? stored.withoutRows() : stored;
  const { snapshot } = table;
  const paths =
    node.columns === 'all'
      ? snapshot.columns.map(({ path }) => path)
      : node.columns.map(({ elements }) => elements);
  const outputs = datasetOutputs(
    (path) => {
      const found = table.find(path);
      return typeof found === 'number' ? 'present' : found;
    },
    paths,
    (path) => {
      const column = table.find(path);
      return typeof column === 'number' && !table.hasNulls(column) ? undefined : 'valued';
    },
  );
  let names: { pathAt(row: number): Path } | undefined;
  return new Pipeline(
    table,
    outputs,
    (rowOf) => {
      names ??= rowNamesView(snapshot.rowNames, snapshot.rowCount, engine.arenas);
      return namedRow(names.pathAt(rowOf(0) as number));
    },
    tables,
  );
}
