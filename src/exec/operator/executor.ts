// Runs the operators of a physical plan whose rows somebody reads; the reference stands by for what
// only the data tells.
import type { PhysicalNode } from '../../physical/physical.ts';
import type { Compiler, Executor } from '../general/compiler.ts';
import type { RowSource } from '../general/operator/source.ts';
import { compilePhysical, makeCompiler } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import type { VectorEngine } from '../vector/engine.ts';
import type { NumberedRows } from '../vector/numbered-rows.ts';
import { dictionaryTables } from '../vector/program/row-function.ts';
import { countRows } from './materialize.ts';
import { isLeftToReference } from './not-suited.ts';
import type { Stage } from './pipeline.ts';
import { isOfGroups } from './plan-parts.ts';
import { PlanRunner } from './run.ts';
import { RunMemory } from './run-memory.ts';
import type { BatchTable } from './table/batch-table.ts';
import { PickedTable } from './table/picked-table.ts';
import { openExpressions, Trace } from './trace.ts';

export function batchExecutor(engine: VectorEngine): Executor {
  return {
    rowCountMin: engine.rowCountMin,
    open(physical, runtime) {
      // Compiled when it is needed, which for most queries is never.
      let reference: RowSource | undefined;
      const runReference = () => {
        reference ??= compilePhysical(
          runtime.planner.rows(physical.logical, {
            choice: physical.way === 'numbers' ? 'row-numbers' : 'batches',
            because: 'a value or an expression did not suit',
          }),
          runtime,
        );
        return reference();
      };
      const compiler = makeCompiler(runtime, () => []);
      if (runtime.isDry) {
        lowerOperators(physical, compiler, engine);
        return () => [];
      }
      return () => runOperators(physical, compiler, engine) ?? runReference();
    },
  };
}

/** Has the operators below one lowered, for EXPLAIN: those whose input nobody knows are left out. */
function lowerOperators(physical: PhysicalNode, compiler: Compiler, engine: VectorEngine): void {
  const lowered = attempt(compiler, engine, (runner, release) => {
    try {
      runner.lower(physical);
      runner.finish();
      return true;
    } finally {
      release();
    }
  });
  if (lowered === true) return;
  compiler.runtime.observe?.(physical.logical, { expressions: openExpressions(physical.logical) });
  for (const input of physical.inputs) {
    if (input.way === 'rows') compilePhysical(input, compiler.runtime);
    else lowerOperators(input, compiler, engine);
  }
}

/** Undefined when the data or an expression do not suit, or when something failed. */
function runOperators(
  physical: PhysicalNode,
  compiler: Compiler,
  engine: VectorEngine,
): Iterable<ExecRow> | undefined {
  if (physical.way === 'numbers') {
    return physical.logical.kind === 'filter'
      ? runFilter(physical, compiler, engine)
      : runNumbers(physical, compiler, engine);
  }
  return attempt(compiler, engine, (runner, release) => {
    try {
      const rows = isOfGroups(physical)
        ? runner.groups(physical).detached()
        : runner.columns(physical);
      runner.finish();
      return rows;
    } finally {
      release();
    }
  });
}

/** Rows of a dataset by number, in order. Undefined when the data or an expression do not suit. */
export function runNumbers(
  physical: PhysicalNode,
  compiler: Compiler,
  engine: VectorEngine,
): NumberedRows | undefined {
  return attempt(compiler, engine, (runner, release) => {
    try {
      const rows = runner.numberedRows(physical);
      runner.finish();
      return rows;
    } finally {
      release();
    }
  });
}

function runFilter(
  physical: PhysicalNode,
  compiler: Compiler,
  engine: VectorEngine,
): Iterable<ExecRow> | undefined {
  return attempt(compiler, engine, (runner, release) => {
    try {
      const rows = runner.filteredRows(physical, release);
      runner.finish();
      return rows;
    } catch (thrown) {
      release();
      throw thrown;
    }
  });
}

/** @param run calls `release` when it needs the memory of the operators no more */
function attempt<Rows>(
  compiler: Compiler,
  engine: VectorEngine,
  run: (runner: PlanRunner, release: () => void) => Rows,
): Rows | undefined {
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  const { exactTimestamps, observe, isDry } = compiler.runtime;
  const countOf = (stage: Stage) => countRows(stage, { engine, memory });
  const picked = (base: BatchTable) => (base instanceof PickedTable ? base : undefined);
  const trace = observe && new Trace({ observe, memory, isDry, countRows: countOf, picked });
  if (trace !== undefined) tables.watch = trace.lowered.bind(trace);
  const context = { engine, compiler, tables, memory, exactTimestamps, trace };
  try {
    return run(new PlanRunner(context), () => {
      const release = () => {
        tables.release();
        memory.release();
      };
      if (memory.isLasting) engine.scratch?.atEnd(release);
      else release();
    });
  } catch (thrown) {
    if (isLeftToReference(thrown, engine)) return undefined;
    throw thrown;
  }
}
