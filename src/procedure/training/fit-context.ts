// What a learner runs in, made from what a procedure runs in.
import { workspaceOf } from '../../exec/thread-memory.ts';
import type { FitContext } from '../../learn/workspace.ts';
import type { ProcedureContext } from '../procedure-type.ts';

/** @param onProgress the share of the work that is done, 0 to 1 */
export function fitContext(
  context: ProcedureContext,
  onProgress: (share: number) => void,
): FitContext {
  return {
    workspace: workspaceOf(context.arenas),
    parallel: context.parallel,
    checkCancelled: () => context.checkCancelled(),
    progress: (done, total) => onProgress(done / total),
  };
}
