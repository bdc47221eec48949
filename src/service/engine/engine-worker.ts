// The entry of an engine worker: the tasks it can do, and the catalogue as it is told of it.

import { builtinNamespace, selfContainedNamespace } from '../../builtin/index.ts';
import { batchExecutor } from '../../exec/operator/executor.ts';
import { registerParallelJob } from '../../exec/parallel.ts';
import { serveTasks } from '../../exec/pool/worker-runtime.ts';
import { QueryCache } from '../../exec/query-cache.ts';
import type { Task } from '../../exec/task.ts';
import { useArenas, workspaceOf } from '../../exec/thread-memory.ts';
import {
  type ScratchRoom,
  VECTOR_ROW_COUNT_MIN,
  type VectorEngine,
} from '../../exec/vector/engine.ts';
import { FileSystem } from '../../file/file-system.ts';
import { learnJobs } from '../../learn/jobs.ts';

import { RemoteThread } from '../../remote/remote-access.ts';
import { readPagedSpan } from '../../store/arrow-values.ts';
import { type ScratchFile, ScratchFolder } from '../../store/scratch-file.ts';
import { assert } from '../../util/assert.ts';
import { ArenaSet, type ArenaSetDescriptor } from '../../value/column/arena-set.ts';
import { useFileSpanReader } from '../../value/column/file-span.ts';
import { BUILT_IN_TYPES } from '../entity/built-in-types.ts';
import { TypeRegistry } from '../entity/type-registry.ts';
import { DatasetUses } from './dataset-uses.ts';
import type { MirrorMessage } from './definition.ts';
import {
  type FileLimits,
  HostCredentials,
  HostMemoryStore,
  scratchDirectory,
} from './file-host.ts';
import { HeapWatch } from './heap-watch.ts';
import { NamespaceMirror } from './namespace-mirror.ts';
import { TASKS } from './task/index.ts';
import { TaskContext } from './task-context.ts';
import type { WorkerContext } from './worker-context.ts';

/** The first message of all. */
interface StartMessage {
  readonly type: 'start';
  readonly arenas: ArenaSetDescriptor;
  /** cells of `DatasetUses` */
  readonly uses: SharedArrayBuffer;
  readonly files: FileLimits;
  readonly reachesHost: boolean;
}

const types = new TypeRegistry(BUILT_IN_TYPES);
const callScope = new TaskContext();
let context: WorkerContext | undefined;
let heap: HeapWatch | undefined;

function receive(message: StartMessage | MirrorMessage): void {
  if (message.type !== 'start') {
    assert(context !== undefined, 'memory comes before definitions');
    context.mirror.apply(message);
    return;
  }
  const arenas = ArenaSet.open(message.arenas);
  useArenas(arenas);
  useFileSpanReader(readPagedSpan);
  heap = new HeapWatch(arenas);
  for (const job of learnJobs(workspaceOf(arenas))) registerParallelJob(job);
  const scratch = new ScratchFolder(scratchDirectory(message.files));
  const engine: VectorEngine = {
    arenas,
    get parallel() {
      return callScope.parallel;
    },
    get isFrugal() {
      return callScope.isFrugal;
    },
    scratch: scratchRoom(scratch, arenas),
    rowCountMin: VECTOR_ROW_COUNT_MIN,
  };
  const executor = batchExecutor(engine);
  const credentials = new HostCredentials(callScope);
  const remote = new RemoteThread({
    credentials,
    allowsPrivate: message.files.allowPrivateUrls ?? true,
    checkCancelled: () => callScope.checkCancelled(),
  });
  const uses = new DatasetUses(message.uses);
  const mirror = new NamespaceMirror({
    types,
    builtins: message.reachesHost ? builtinNamespace : selfContainedNamespace,
    arenas,
    callScope,
    remote,
    lightOnly: false,
    executor,
    withAtMost: (role, work) => callScope.withAtMost(role, work),
    onUse: (storeId) => uses.mark(storeId),
    loadContent: (dataset) => callScope.call({ kind: 'dataset-content', dataset }),
    loadColumn: (dataset, { id: snapshotId, file }, column) => {
      assert(file !== undefined, 'absent columns are in a file');
      const { isFrugal } = callScope;
      return callScope.call({
        kind: 'dataset-column',
        dataset,
        snapshotId,
        file,
        column,
        isFrugal,
      });
    },
  });
  const files = new FileSystem({
    ...message.files,
    waitFor: (promise) => callScope.waitFor(promise),
    memory: new HostMemoryStore(callScope),
    credentials,
  });
  context = {
    types,
    arenas,
    mirror,
    callScope,
    files,
    scratch,
    remote,
    executor,
    engine,
    queries: new QueryCache(),
  };
}

/** A task works on this part of all memory at a time: other tasks, and results, need some too. */
const SHARE = 1 / 16;

function scratchRoom(folder: ScratchFolder, { budgetBytes }: ArenaSet): ScratchRoom {
  let file: ScratchFile | undefined;
  return {
    shareBytes: budgetBytes * SHARE,
    file() {
      if (file !== undefined) return file;
      const made = folder.create();
      file = made;
      callScope.atEnd(() => {
        file = undefined;
        made.close();
      });
      return made;
    },
    atEnd: (action) => callScope.atEnd(action),
  };
}

const handlers = Object.fromEntries(
  Object.entries(TASKS).map(([kind, handle]) => [
    kind,
    (args: never, task: Task) => {
      assert(context !== undefined, 'memory comes before tasks');
      context.mirror.beginTask();
      return callScope.during(task, () =>
        (handle as Handler)(args, task, context as WorkerContext),
      );
    },
  ]),
);

type Handler = (args: never, task: Task, context: WorkerContext) => unknown;

await serveTasks({
  handlers,
  onBroadcast: (message) => receive(message as StartMessage | MirrorMessage),
  onLook: () => heap?.look(),
});
