// What the columns of a dataset are like.
import type { Task } from '../../../exec/task.ts';
import type { Relation } from '../../../plan/namespace.ts';
import { PROFILE_QUANTILES } from '../../../procedure/statistics/column-summary.ts';
import { summaryJob } from '../../../procedure/statistics/summary-job.ts';
import { ArenaLease } from '../../../value/column/arena-set.ts';
import { chunkNullCount } from '../../../value/column/chunk-encoder.ts';
import { ColumnBuilder } from '../../../value/column/column-builder.ts';
import type { ColumnarSnapshot, ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { Path } from '../../../value/path.ts';
import { latestOf, Scalar } from '../../../value/value.ts';
import type { EngineTasks } from '../engine-task.ts';
import type { WorkerContext } from '../worker-context.ts';

const OPTIONS = { frequentCount: 10, quantiles: PROFILE_QUANTILES, binCount: 20 } as const;

export function profileTask(
  { dataset, columns: names, rows }: EngineTasks['profile']['args'],
  task: Task,
  { mirror, arenas: allArenas }: WorkerContext,
): EngineTasks['profile']['result'] {
  const relation = mirror.dataset(dataset);
  const arenas = new ArenaLease(allArenas);
  try {
    const columns = names.map((name) =>
      columnOf(relation, Path.parse(name), { rows, arenas, task }),
    );
    const job = { columns, options: OPTIONS };
    const summaries = task.parallel.run(summaryJob, job, columns.length);
    return summaries.map((summary, index) => {
      const { type, chunks } = columns[index] as ColumnSnapshot;
      const rowCount = chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
      return { ...summary, name: names[index] as string, type, rowCount };
    });
  } finally {
    arenas.release();
  }
}

function columnOf(
  relation: Relation,
  path: Path,
  { rows, arenas, task }: { rows: number | undefined; arenas: ArenaLease; task: Task },
): ColumnSnapshot {
  const { snapshot, rowCount } = relation;
  const stored = snapshot?.layout === 'columnar' ? storedColumn(snapshot, path) : undefined;
  if (stored !== undefined) return firstRows(stored, rows);
  const builder = new ColumnBuilder(path.elements, arenas);
  const end = Math.min(rowCount, rows ?? rowCount);
  let points: Scalar[] = [];
  let position = -1;
  const flush = () => {
    if (position < 0 || position >= end) return;
    builder.appendNulls(position - builder.rowCount);
    builder.append(latestOf(points).atom);
  };
  for (const cell of relation.columnCells?.(path, () => task.checkCancelled()) ?? []) {
    if (cell.position !== position) {
      flush();
      points = [];
      position = cell.position;
      if (position >= end) break;
    }
    points.push(new Scalar(cell.atom, cell.ts));
  }
  flush();
  builder.appendNulls(end - builder.rowCount);
  return builder.seal();
}

function storedColumn(snapshot: ColumnarSnapshot, path: Path): ColumnSnapshot | undefined {
  return snapshot.columns.find((column) => new Path(column.path).equals(path));
}

/** Whole chunks of a column that have so many rows. */
function firstRows(column: ColumnSnapshot, rows: number | undefined): ColumnSnapshot {
  if (rows === undefined) return column;
  let count = 0;
  const chunks = column.chunks.filter((chunk) => {
    const isWanted = count < rows;
    count += chunk.rowCount;
    return isWanted;
  });
  if (chunks.length === column.chunks.length) return column;
  return { ...column, chunks, nullCount: chunks.reduce((sum, c) => sum + chunkNullCount(c), 0) };
}
