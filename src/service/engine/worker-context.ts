// What the tasks of a worker share.

import type { Executor } from '../../exec/general/compiler.ts';
import type { PreparedQuery } from '../../exec/query.ts';
import type { QueryCache } from '../../exec/query-cache.ts';
import type { VectorEngine } from '../../exec/vector/engine.ts';
import type { FileSystem } from '../../file/file-system.ts';
import type { RemoteAccess } from '../../remote/remote-access.ts';
import type { ScratchFolder } from '../../store/scratch-file.ts';
import type { ArenaSet } from '../../value/column/arena-set.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import type { NamespaceMirror } from './namespace-mirror.ts';
import type { TaskContext } from './task-context.ts';

export interface WorkerContext {
  readonly types: TypeRegistry;
  readonly arenas: ArenaSet;
  readonly mirror: NamespaceMirror;
  readonly callScope: TaskContext;
  readonly files: FileSystem;
  /** for copies of files while a task runs */
  readonly scratch: ScratchFolder;
  readonly remote: RemoteAccess;
  /** the vector engine, on the threads of the running task */
  readonly executor: Executor;
  readonly engine: VectorEngine;
  readonly queries: QueryCache<PreparedQuery>;
}
