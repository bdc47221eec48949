// Runs the operators of a physical plan whose rows somebody reads; the reference stands by for what
// only the data tells.
import type { PhysicalNode } from '../../physical/physical.ts';
import { RowanError } from '../../util/error.ts';
import { ColumnPieces, type ColumnRows } from '../column-rows.ts';
import type { Compiler, Executor } from '../general/compiler.ts';
import type { RowSource } from '../general/operator/source.ts';
import { compilePhysical, makeCompiler } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import type { VectorEngine } from '../vector/engine.ts';
import type { NumberedRows } from '../vector/numbered-rows.ts';
import { dictionaryTables } from '../vector/program/row-function.ts';
import { NotSuited } from './not-suited.ts';
import { rowsInPieces } from './row-pieces.ts';
import { isOfGroups, PlanRunner } from './run.ts';
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
      return () => runOperators(physical, { compiler, engine, runReference }) ?? runReference();
    },
  };
}

interface RunContext {
  readonly compiler: Compiler;
  readonly engine: VectorEngine;
  runReference(): Iterable<ExecRow>;
}

/** Undefined when the data or an expression do not suit, or when something failed. */
function runOperators(
  physical: PhysicalNode,
  { compiler, engine, runReference }: RunContext,
): Iterable<ExecRow> | undefined {
  if (physical.way === 'numbers') {
    return physical.logical.kind === 'filter'
      ? runFilter(physical, compiler, engine)
      : runNumbers(physical, compiler, engine);
  }
  if (physical.method === 'by pieces') {
    return new ColumnPieces(() => runPieces(physical, { compiler, engine, runReference }));
  }
  return attempt(compiler, engine, (runner, release) => {
    try {
      return isOfGroups(physical) ? runner.groups(physical).detached() : runner.columns(physical);
    } finally {
      release();
    }
  });
}

/** When a piece does not suit or something fails, the reference goes on with the rows behind it. */
function* runPieces(
  physical: PhysicalNode,
  { compiler, engine, runReference }: RunContext,
): Iterable<ColumnRows> {
  let rowCount = 0;
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  const { exactTimestamps } = compiler.runtime;
  const runner = new PlanRunner({ engine, compiler, tables, memory, exactTimestamps });
  let pieces: Iterator<ColumnRows> | undefined;
  try {
    for (;;) {
      let piece: IteratorResult<ColumnRows>;
      try {
        pieces ??= runner.pieces(physical)[Symbol.iterator]();
        piece = pieces.next();
      } catch (thrown) {
        if (!isLeftToReference(thrown)) throw thrown;
        yield* rowsInPieces(runReference(), rowCount, namesOf(physical, compiler));
        return;
      }
      if (piece.done === true) return;
      rowCount += piece.value.rowCount;
      yield piece.value;
    }
  } finally {
    pieces?.return?.();
    tables.release();
    memory.release();
  }
}

/** The columns of a select list over a dataset. */
function namesOf({ logical: node }: PhysicalNode, { runtime }: Compiler): readonly string[] {
  if (node.kind !== 'project') return [];
  const scan = node.input.kind === 'filter' ? node.input.input : node.input;
  return node.items.flatMap((item) => {
    if (item.kind === 'named') return item.path.slice(0, 1);
    if (scan.kind !== 'scan') return [];
    const { snapshot } = runtime.namespace.dataset(scan.dataset);
    return snapshot?.layout === 'columnar' ? snapshot.columns.flatMap(({ path }) => path) : [];
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
    if (isLeftToReference(thrown)) return undefined;
    throw thrown;
  }
}

/** The reference fails in its own words, or not at all. */
function isLeftToReference(thrown: unknown): boolean {
  return (
    thrown instanceof NotSuited || (thrown instanceof RowanError && thrown.code !== 'CANCELLED')
  );
}
