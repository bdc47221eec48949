// Some rows of a table that an operator made, perhaps in another order.
import type { ColumnSnapshot } from '../../value/column/snapshot.ts';
import { chunksOf, type MadeColumn, MadeTable } from './batch-table.ts';
import { RowGatherer } from './gather.ts';
import type { OperatorContext } from './materialize.ts';
import { madeOutputs } from './outputs.ts';
import { Pipeline } from './pipeline.ts';

const CHUNK_ROW_COUNT = 65_536;

/** The rows from `from` to `to` (undefined: the end) of a pipeline that is a table as it lies. */
export function sliceTable(
  pipeline: Pipeline,
  from: number,
  to: number | undefined,
  context: OperatorContext,
): Pipeline {
  const { rowCount } = pipeline.base;
  const start = Math.min(from, rowCount);
  const end = Math.min(to ?? rowCount, rowCount);
  if (start === 0 && end === rowCount) return pipeline;
  const rows = Uint32Array.from({ length: end - start }, (_, row) => start + row);
  return pickRows(pipeline, rows, context);
}

/** The rows of these numbers of a pipeline that is a table as it lies. */
export function pickRows(
  pipeline: Pipeline,
  rows: Uint32Array,
  context: OperatorContext,
): Pipeline {
  const { base, namer } = pipeline;
  const counts = chunksOf(rows.length, CHUNK_ROW_COUNT);
  const gatherer = new RowGatherer(base, rows, counts, context);
  const names = pipeline.outputs.list()?.map(({ path }) => path[0] as string) ?? [];
  const makers = new Map(
    names.map((name) => [
      name,
      (): MadeColumn | undefined => {
        const number = base.find([name]);
        if (typeof number !== 'number') return undefined;
        const timed = base.timedOf(number);
        return {
          snapshot: gatherer.column(base.columns[number] as ColumnSnapshot),
          ts: base.tsOf(number),
          timed:
            timed === true ? undefined : gatherer.column(base.columns[timed] as ColumnSnapshot),
        };
      },
    ]),
  );
  const nameAt = (row: number) => namer(() => rows[row]);
  const table = new MadeTable(counts, makers, nameAt);
  return new Pipeline(
    table,
    madeOutputs(table),
    (rowOf) => nameAt(rowOf(0) as number),
    context.tables,
  );
}
