// The main thread's handle on computation: workers, shared memory, and the catalogue they mirror.
import { EnginePool, type TaskOptions } from '../../exec/pool/engine-pool.ts';
import { useArenas } from '../../exec/thread-memory.ts';
import type { CallContext, FunctionNamespace } from '../../plan/function.ts';
import { ScratchFolder } from '../../store/scratch-file.ts';
import { RowanError } from '../../util/error.ts';
import { workerFile } from '../../util/worker-file.ts';
import { ArenaSet } from '../../value/column/arena-set.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import { DatasetUses } from './dataset-uses.ts';
import type { MirrorMessage } from './definition.ts';
import { type EngineTasks, REPEATABLE_TASKS } from './engine-task.ts';
import { type FileLimits, scratchDirectory } from './file-host.ts';
import { MemoryRelief, type MemoryReliefOptions, type RepeatMode } from './memory-relief.ts';
import { NamespaceMirror } from './namespace-mirror.ts';
import { SnapshotRegistry } from './snapshot-registry.ts';

export interface EngineOptions {
  readonly types: TypeRegistry;
  readonly builtins: FunctionNamespace;
  readonly files: FileLimits;
  /** whether SQL functions may ask this thread for something */
  readonly reachesHost: boolean;
  /** threads that one task may use */
  readonly threadCount: number;
  readonly taskCountMax: number;
  /** bytes of all columns together; default 70 % of the machine's memory */
  readonly memoryBytes?: number | undefined;
  onHostCall(request: unknown): Promise<unknown>;
  onDefect(message: string, stack: string | undefined): void;
}

export interface EngineTaskOptions extends TaskOptions {
  /** whether a second attempt does no harm; default: what `REPEATABLE_TASKS` says */
  readonly isRepeatable?: boolean;
}

/** Light functions are not cancelled and reach nothing outside. */
export const MAIN_THREAD_CONTEXT: CallContext = { checkCancelled() {}, host: undefined };

export class Engine {
  readonly arenas: ArenaSet;
  readonly snapshots: SnapshotRegistry;
  /** what this thread knows; the workers follow */
  readonly mirror: NamespaceMirror;
  readonly uses = new DatasetUses();
  /** Set by what holds the datasets. */
  makeRoom: MemoryReliefOptions['makeRoom'] = () => 0;
  /** Set by what holds the datasets: told of a file that a task could not read. */
  onUnreadableFile: (file: string) => void = () => undefined;
  readonly #pool: EnginePool;
  readonly #relief: MemoryRelief;

  constructor(options: EngineOptions) {
    this.arenas = ArenaSet.create(
      options.memoryBytes === undefined ? {} : { budgetBytes: options.memoryBytes },
    );
    useArenas(this.arenas);
    this.snapshots = new SnapshotRegistry(this.arenas);
    this.#relief = new MemoryRelief({
      budgetBytes: this.arenas.budgetBytes,
      uses: this.uses,
      snapshots: this.snapshots,
      makeRoom: (sizeBytes, before) => this.makeRoom(sizeBytes, before),
    });
    this.mirror = new NamespaceMirror({
      types: options.types,
      builtins: options.builtins,
      arenas: this.arenas,
      callScope: MAIN_THREAD_CONTEXT,
      lightOnly: true,
    });
    const scratch = new ScratchFolder(scratchDirectory(options.files));
    this.#pool = new EnginePool({
      entry: workerFile('service/engine/engine-worker.ts'),
      threadCount: options.threadCount,
      taskCountMax: options.taskCountMax,
      initialMessages: () => [
        {
          type: 'start',
          arenas: this.arenas.descriptor(),
          uses: this.uses.cells,
          files: options.files,
          reachesHost: options.reachesHost,
        },
        ...this.mirror.messages(),
      ],
      termination: {
        begin: (thread) => this.arenas.keepOut(thread),
        end: (thread) => {
          this.arenas.forgetOutsider(thread);
          scratch.removeOf(thread);
        },
      },
      onHostCall: options.onHostCall,
      onDefect: options.onDefect,
    });
  }

  warmUp(): void {
    this.#pool.warmUp();
  }

  get activeTaskCount(): number {
    return this.#pool.activeCount;
  }

  /** Changes the catalogue of every thread; tasks started from now on see it. */
  publish(message: MirrorMessage): void {
    this.mirror.apply(message);
    this.#pool.broadcast(message);
  }

  /**
   * Runs a task in a worker; all data that it can see stays readable until it ends. Where memory is
   * short, idle content gives way and the task begins anew, unless bytes of its result are out.
   * @throws RowanError: the task's own, CANCELLED, OUT_OF_MEMORY
   */
  run<Kind extends keyof EngineTasks>(
    kind: Kind,
    args: EngineTasks[Kind]['args'],
    { isRepeatable = REPEATABLE_TASKS.has(kind), onChunk, ...options }: EngineTaskOptions = {},
  ): Promise<EngineTasks[Kind]['result']> {
    const hasGivenAway = (options.transfer ?? []).length > 0;
    if (!isRepeatable || hasGivenAway) return this.#attempt(kind, args, { ...options, onChunk });
    let isOut = false;
    const watched: TaskOptions = {
      ...options,
      onChunk:
        onChunk &&
        ((bytes) => {
          isOut = true;
          return onChunk(bytes);
        }),
    };
    return this.#relief.run(
      (isFrugal) => this.#attempt(kind, args, { ...watched, isFrugal }),
      repeatMode(kind, options),
      () => !isOut && options.signal?.aborted !== true,
    );
  }

  async #attempt<Kind extends keyof EngineTasks>(
    kind: Kind,
    args: EngineTasks[Kind]['args'],
    options: TaskOptions,
  ): Promise<EngineTasks[Kind]['result']> {
    const end = this.snapshots.beginTask();
    try {
      return await this.#pool.run<EngineTasks[Kind]['result']>(kind, args, options);
    } catch (thrown) {
      const file = unreadableFile(thrown);
      if (file !== undefined) this.onUnreadableFile(file);
      throw thrown;
    } finally {
      end();
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

function unreadableFile(thrown: unknown): string | undefined {
  if (!(thrown instanceof RowanError) || thrown.code !== 'DATA_ERROR') return undefined;
  const file = thrown.details?.file;
  return typeof file === 'string' ? file : undefined;
}

function repeatMode(kind: keyof EngineTasks, { isUrgent }: TaskOptions): RepeatMode {
  if (isUrgent === true) return 'urgent';
  return kind === 'procedure' ? 'together' : 'alone';
}
