// Runs the parts of a plan that suit operators over batches; the reference stands by for the rest.

import type { PlanNode } from '../../plan/plan.ts';
import { RowanError } from '../../util/error.ts';
import type { Accelerator, Compiler, Runtime } from '../general/compiler.ts';
import type { RowSource } from '../general/operator/source.ts';
import { compilePlan, makeCompiler } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import { vectorAccelerator } from '../vector/accelerate.ts';
import type { VectorEngine } from '../vector/engine.ts';
import { dictionaryTables } from '../vector/program/row-function.ts';
import { NotSuited } from './not-suited.ts';
import { isOperatorRoot, largestTable } from './root.ts';
import { PlanRunner } from './run.ts';
import { RunMemory } from './run-memory.ts';

export function operatorAccelerator(engine: VectorEngine): Accelerator {
  const vectors = vectorAccelerator(engine);
  return (node, runtime) => {
    if (!isOperatorRoot(node)) return vectors(node, runtime);
    // Compiled when it is needed, which for most queries is never.
    let reference: RowSource | undefined;
    const runReference = () => {
      reference ??= compileReference(node, runtime);
      return reference();
    };
    const compiler = makeCompiler(runtime, () => []);
    return () => {
      if (largestTable(node, runtime) < Math.max(1, engine.rowCountMin)) return runReference();
      return runOperators(node, compiler, engine) ?? runReference();
    };
  };
}

/** Undefined when the data or an expression do not suit, or when something failed. */
function runOperators(
  node: PlanNode,
  compiler: Compiler,
  engine: VectorEngine,
): Iterable<ExecRow> | undefined {
  const tables = dictionaryTables(engine.arenas, compiler);
  const memory = new RunMemory(engine.arenas);
  const { runtime } = compiler;
  const start = performance.now();
  try {
    const { exactTimestamps } = runtime;
    const context = { engine, compiler, tables, memory, exactTimestamps };
    const runner = new PlanRunner(context, (input) => compileReference(input, runtime)());
    const rows = node.kind === 'aggregate' ? runner.groups(node).detached() : runner.columns(node);
    const milliseconds = performance.now() - start;
    runtime.observe?.(node, { path: 'vector', rowCount: rows.rowCount, milliseconds });
    return rows;
  } catch (thrown) {
    if (thrown instanceof NotSuited) return undefined;
    // The reference fails in its own words, or not at all.
    if (thrown instanceof RowanError && thrown.code !== 'CANCELLED') return undefined;
    throw thrown;
  } finally {
    tables.release();
    memory.release();
  }
}

/** A node by the reference or the kernels of whole shapes; what is below it by operators again. */
export function compileReference(node: PlanNode, runtime: Runtime): RowSource {
  const { accelerate } = runtime;
  if (!isOperatorRoot(node)) return compilePlan(node, runtime);
  const inner: Accelerator = (each, at) => (each === node ? undefined : accelerate?.(each, at));
  const without = Object.create(runtime, { accelerate: { value: inner } }) as Runtime;
  return compilePlan(node, without);
}
