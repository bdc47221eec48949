// WITH RECURSIVE in rounds: the step runs by operators over the rows that the round before it added.
import type { RecursiveNode } from '../../../plan/plan.ts';
import { ColumnView } from '../../../value/column/column-view.ts';
import type { ColumnSnapshot } from '../../../value/column/snapshot.ts';
import { Path } from '../../../value/path.ts';
import {
  endlessRecursion,
  ITERATION_COUNT_MAX,
  ROW_COUNT_MAX,
} from '../../general/operator/recursive.ts';
import { namedRow } from '../../general/row.ts';
import { dictionaryTables } from '../../vector/program/row-function.ts';
import { materialize, type OperatorContext } from '../materialize.ts';
import { CertainFailure, NotSuited, suited } from '../not-suited.ts';
import { madeOutputs } from '../outputs.ts';
import { type Output, Pipeline } from '../pipeline.ts';
import { RunMemory } from '../run-memory.ts';
import { MadeTable } from '../table/batch-table.ts';
import { KeptRows } from '../table/kept-rows.ts';

/** The rows of `base`, and those of `step` for the rows that came last. */
export interface RecursionParts {
  base(context: OperatorContext): Pipeline;
  step(last: MadeTable, context: OperatorContext): Pipeline;
}

/** @param first only so many first rows are read; undefined: all. @throws NotSuited */
export function recursion(
  node: RecursiveNode,
  { base, step }: RecursionParts,
  first: number | undefined,
  context: OperatorContext,
): Pipeline {
  // A row has one timestamp for each of the rows that it was made of.
  if (context.exactTimestamps) throw new NotSuited();
  const { scope } = context.compiler.runtime;
  const wanted = first ?? Number.POSITIVE_INFINITY;
  let rows: KeptRows | undefined;
  inRound(context, (round) => {
    rows = addRows(rows, !node.all, base(round), round);
  });
  const kept = suited(rows as KeptRows | undefined);
  let from = 0;
  for (let iteration = 0; from < kept.rowCount && kept.rowCount < wanted; iteration++) {
    scope.checkCancelled();
    if (kept.rowCount > ROW_COUNT_MAX) {
      throw new CertainFailure(endlessRecursion(`more than ${ROW_COUNT_MAX} rows`));
    }
    if (iteration >= ITERATION_COUNT_MAX) {
      throw new CertainFailure(endlessRecursion(`${ITERATION_COUNT_MAX} iterations`));
    }
    const to = kept.rowCount;
    inRound(context, (round) => {
      const last = tableOf(kept, from, to, round);
      addRows(kept, !node.all, step(last, round), round);
    });
    from = to;
  }
  return pipelineOver(tableOf(kept, 0, kept.rowCount, context), context);
}

/** The rows of a table that was made, which may be read several times. */
export function pipelineOver(table: MadeTable, { tables }: OperatorContext): Pipeline {
  return new Pipeline(
    table,
    madeOutputs(table),
    (rowOf) => namedRow(table.nameAt(rowOf(0) as number)),
    tables,
  );
}

/** Whatever operators of a round put into memory is given back after it. */
function inRound(context: OperatorContext, run: (round: OperatorContext) => void): void {
  const { arenas } = context.engine;
  const memory = new RunMemory(arenas);
  const tables = dictionaryTables(arenas, context.compiler);
  try {
    run({ ...context, memory, tables });
  } finally {
    tables.release();
    memory.release();
  }
}

function addRows(
  known: KeptRows | undefined,
  isDistinct: boolean,
  pipeline: Pipeline,
  context: OperatorContext,
): KeptRows {
  const outputs = suited(pipeline.outputs.list());
  const isCell = ({ path, presence }: Output) => path.length === 1 && presence === undefined;
  if (!outputs.every(isCell)) throw new NotSuited();
  const rows =
    known ??
    new KeptRows(
      outputs.map(({ path }) => path[0] as string),
      isDistinct,
    );
  if (outputs.length !== rows.names.length) throw new NotSuited();
  const { base } = materialize(pipeline, outputs, context, { named: false });
  const views = rows.names.map((name) => {
    const column = base.find([name]);
    if (typeof column !== 'number') throw new NotSuited();
    return new ColumnView(base.columns[column] as ColumnSnapshot, context.engine.arenas);
  });
  const { scope } = context.compiler.runtime;
  rows.add(views, base.rowCount, () => scope.checkCancelled());
  return rows;
}

/** Rows are named by their numbers. */
function tableOf(rows: KeptRows, from: number, to: number, context: OperatorContext): MadeTable {
  const { chunkRowCounts, makers } = rows.makers(from, to, context.memory);
  return new MadeTable(chunkRowCounts, makers, (row) => new Path([String(from + row)]));
}
