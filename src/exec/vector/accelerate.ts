// Chooses the vector operators for the nodes of a plan that suit them. Whether they really do is
// decided by the data of each run; the general operators stand by.
import type { PlanNode } from '../../plan/plan.ts';
import type { Accelerator, Compiler, Runtime } from '../general/compiler.ts';
import { compilePlan, makeCompiler } from '../general/plan.ts';
import type { ExecRow } from '../general/row.ts';
import { matchFilteredScan, vectorGroups } from './aggregate.ts';
import type { VectorEngine } from './engine.ts';
import { vectorFilter } from './filter.ts';
import { vectorTop } from './top.ts';

export function vectorAccelerator(engine: VectorEngine): Accelerator {
  return (node, runtime) => {
    const run = vectorOperator(node, engine);
    if (run === undefined) return undefined;
    const general = compilePlan(node, withoutAccelerator(runtime));
    const compiler = makeCompiler(runtime, () => []);
    return () => run(compiler) ?? general();
  };
}

/** Names the nodes that kernels may run, for EXPLAIN. */
export function isVectorNode(node: PlanNode): boolean {
  switch (node.kind) {
    case 'aggregate':
      return matchFilteredScan(node.input) !== undefined;
    case 'sort':
      return node.keep !== undefined && matchFilteredScan(node.input) !== undefined;
    case 'filter':
      return matchFilteredScan(node) !== undefined;
    default:
      return false;
  }
}

type VectorOperator = (compiler: Compiler) => Iterable<ExecRow> | undefined;

function vectorOperator(node: PlanNode, engine: VectorEngine): VectorOperator | undefined {
  if (!isVectorNode(node)) return undefined;
  if (node.kind === 'aggregate') return (compiler) => vectorGroups(node, compiler, engine);
  if (node.kind === 'sort') return (compiler) => vectorTop(node, compiler, engine);
  if (node.kind === 'filter') return (compiler) => vectorFilter(node, compiler, engine);
  return undefined;
}

/** The same runtime, seen by general operators only; what changes from run to run stays shared. */
function withoutAccelerator(runtime: Runtime): Runtime {
  return Object.create(runtime, { accelerate: { value: undefined } }) as Runtime;
}
