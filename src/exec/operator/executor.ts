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
import { isLeftToReference } from './not-suited.ts';
import { isOfGroups } from './plan-parts.ts';
import { PlanRunner } from './run.ts';
import { RunMemory } from './run-memory.ts';

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
      return () => runOperators(physical, compiler, engine) ?? runReference();
    },
  };
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
      return isOfGroups(physical) ? runner.groups(physical).detached() : runner.columns(physical);
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
      return runner.numberedRows(physical);
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
      return runner.filteredRows(physical, release);
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
  const { exactTimestamps } = compiler.runtime;
  try {
    return run(new PlanRunner({ engine, compiler, tables, memory, exactTimestamps }), () => {
      tables.release();
      memory.release();
    });
  } catch (thrown) {
    if (isLeftToReference(thrown, engine)) return undefined;
    throw thrown;
  }
}
