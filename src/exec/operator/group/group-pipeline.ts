// Groups as the rows of a pipeline.
import type { AggregateNode } from '../../../plan/plan.ts';
import type { Value } from '../../../value/value.ts';
import { namedRow } from '../../general/row.ts';
import type { GroupColumn } from '../../vector/group/group-column.ts';
import type { GroupTable } from '../../vector/group/group-table.ts';
import type { OperatorContext } from '../materialize.ts';
import { aggregateName, groupOutputs, keyName } from '../outputs.ts';
import { Pipeline } from '../pipeline.ts';
import { chunksOf, type MadeColumn, MadeTable } from '../table/batch-table.ts';
import { CellCollector } from '../table/cell-collector.ts';
import { encodeGroupColumn } from '../table/encode-column.ts';

const CHUNK_ROW_COUNT = 65_536;

/** @param named their names can be asked for */
export function pipelineOfGroups(
  node: Pick<AggregateNode, 'keys' | 'aggregates'>,
  made: GroupTable,
  named: boolean,
  context: OperatorContext,
): Pipeline {
  const { tables } = context;
  // Names may be asked for when what the keys lie in was given back.
  const groups = named ? made.detached() : made;
  const counts = chunksOf(groups.rowCount, CHUNK_ROW_COUNT);
  const makers = new Map(
    [
      ...groups.keys.map((column, index) => [keyName(index), column] as const),
      ...groups.aggregates.map((column, index) => [aggregateName(index), column] as const),
    ].map(([name, column]) => [name, () => encodeColumn(name, column, counts, context)]),
  );
  const table = new MadeTable(counts, makers, (row) => groups.at(row).name);
  return new Pipeline(
    table,
    groupOutputs(node),
    (rowOf) => namedRow(table.nameAt(rowOf(0) as number)),
    tables,
  );
}

/** A key or an aggregate; undefined when a value is no atom, or timestamps that somebody looks at differ. */
export function encodeColumn(
  name: string,
  column: GroupColumn,
  chunkRowCounts: readonly number[],
  context: OperatorContext,
): MadeColumn | undefined {
  return column.kind === 'values'
    ? encodeValues(name, column.values, chunkRowCounts, context)
    : encodeGroupColumn([name], column, chunkRowCounts, context.memory);
}

function encodeValues(
  name: string,
  values: readonly Value[],
  chunkRowCounts: readonly number[],
  context: OperatorContext,
): MadeColumn | undefined {
  const cells = new CellCollector();
  values.forEach((value, row) => {
    cells.set(row, value);
  });
  return cells.encode([name], values.length, chunkRowCounts, context);
}
