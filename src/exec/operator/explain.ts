// Which nodes of a plan run as operators over batches, for EXPLAIN.
import { inputsOf } from '../../plan/map-plan.ts';
import type { PlanNode } from '../../plan/plan.ts';
import { RowanError } from '../../util/error.ts';
import type { Runtime } from '../general/compiler.ts';
import { makeCompiler } from '../general/plan.ts';
import type { Parallel } from '../parallel.ts';
import { runsOnVectors } from '../vector/accelerate.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { dictionaryTables } from '../vector/program/row-function.ts';
import { NotSuited } from './not-suited.ts';
import { isOperatorRoot, largestTable } from './root.ts';
import { PlanRunner } from './run.ts';
import { RunMemory } from './run-memory.ts';

/** Thrown where work on rows would start: everything before it has found the data to suit. */
class Reached extends Error {}

export type PathOf = (node: PlanNode, runtime: Runtime) => string | undefined;

/**
 * Names the nodes that operators will run over the data as they are. Operators decide when they
 * run, so they are run up to their first job; what is above it is taken to suit.
 */
export function operatorPaths(engine: VectorEngine): PathOf {
  const known = new Map<PlanNode, string | undefined>();
  return (node, runtime) => {
    if (!known.has(node) && isOperatorRoot(node)) tryNode(node, runtime, engine, known);
    if (known.has(node)) return known.get(node);
    return runsOnVectors(node, runtime, engine) ? 'vector' : undefined;
  };
}

function tryNode(
  root: PlanNode,
  runtime: Runtime,
  engine: VectorEngine,
  known: Map<PlanNode, string | undefined>,
): void {
  known.set(root, undefined);
  if (largestTable(root, runtime) < Math.max(1, engine.rowCountMin)) return;
  const byReference = new Set<PlanNode>();
  if (!suits(root, runtime, engine, byReference)) return;
  const mark = (node: PlanNode) => {
    if (byReference.has(node)) return;
    if (node.kind !== 'scan') known.set(node, 'vector');
    for (const input of inputsOf(node)) mark(input);
  };
  mark(root);
}

function suits(
  root: PlanNode,
  runtime: Runtime,
  engine: VectorEngine,
  byReference: Set<PlanNode>,
): boolean {
  const parallel: Parallel = {
    threadCount: 1,
    run: () => {
      throw new Reached();
    },
  };
  const trial: VectorEngine = { arenas: engine.arenas, rowCountMin: engine.rowCountMin, parallel };
  const compiler = makeCompiler(runtime, () => []);
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  const { exactTimestamps } = runtime;
  const context = { engine: trial, compiler, tables, memory, exactTimestamps };
  const runner = new PlanRunner(context, (node) => {
    byReference.add(node);
    throw new Reached();
  });
  try {
    if (root.kind === 'aggregate') runner.groups(root);
    else runner.columns(root);
    return true;
  } catch (thrown) {
    if (thrown instanceof Reached) return true;
    if (thrown instanceof NotSuited) return false;
    if (thrown instanceof RowanError && thrown.code !== 'CANCELLED') return false;
    throw thrown;
  } finally {
    tables.release();
    memory.release();
  }
}
