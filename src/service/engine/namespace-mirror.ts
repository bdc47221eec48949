// The catalogue as one thread sees it: definitions from the main thread, relations and compiled
// functions made from them when they are first needed.
import type { DatasetContent, DatasetType } from '../../dataset/dataset-type.ts';
import { snapshotRelation } from '../../dataset/snapshot-relation.ts';
import type { Executor } from '../../exec/general/compiler.ts';
import type { CompiledFunction, FunctionContext } from '../../function/function-type.ts';
import type { CallContext, FunctionNamespace, UserFunction } from '../../plan/function.ts';
import type { Namespace, Relation } from '../../plan/namespace.ts';
import { NO_REMOTE, type RemoteAccess } from '../../remote/remote-access.ts';
import { assert } from '../../util/assert.ts';
import { failure, type RowanError } from '../../util/error.ts';
import type { ArenaAllocator } from '../../value/column/arena-set.ts';
import type { ColumnarSnapshot, ColumnSnapshot } from '../../value/column/snapshot.ts';
import { entityMissing, entityNotReady } from '../entity/entity-error.ts';
import type { TypeRegistry } from '../entity/type-registry.ts';
import type { Role } from '../route/request.ts';
import type {
  DatasetDefinition,
  FunctionDefinition,
  MirrorMessage,
  ReadyDataset,
  ReadyFunction,
} from './definition.ts';
import { hasAbsentColumns, withLazyColumns } from './lazy-columns.ts';

export interface LoadedDataset extends ReadyDataset {
  readonly content: DatasetContent;
}

function isLoaded(definition: ReadyDataset): definition is LoadedDataset {
  return definition.content !== undefined;
}

interface CachedFunction {
  readonly definition: ReadyFunction;
  readonly compiled: CompiledFunction;
  /** the generation it was bound in; undefined: whatever changes, it stays bound */
  readonly generation: number | undefined;
}

/** Functions that call one another more deeply than this are taken for endless recursion. */
const COMPILE_DEPTH_MAX = 200;

export interface NamespaceMirrorOptions {
  readonly types: TypeRegistry;
  readonly builtins: FunctionNamespace;
  readonly arenas: ArenaAllocator;
  /** what functions may reach when they are called in this thread */
  readonly callScope: CallContext;
  /** databases beside the service; absent: this thread reaches none */
  readonly remote?: RemoteAccess;
  /** true: only functions whose calls are cheap are compiled in this thread */
  readonly lightOnly: boolean;
  /** Told that a query or a function needs the content of a dataset. */
  onUse?(storeId: number): void;
  /** Reads the content of a dataset that was kept. */
  loadContent?(dataset: string): DatasetContent;
  /** Reads a column of content that is still in its file. */
  loadColumn?(dataset: string, snapshot: ColumnarSnapshot, column: number): ColumnSnapshot;
  /** the vector engine, where there is one */
  readonly executor?: Executor;
  /** Does work in which the service is asked for a role at most; absent where it is never asked. */
  withAtMost?<Result>(role: Role, work: () => Result): Result;
}

export class NamespaceMirror implements Namespace {
  readonly builtins: FunctionNamespace;
  readonly arenas: ArenaAllocator;
  readonly #options: NamespaceMirrorOptions;
  readonly #types: TypeRegistry;
  readonly #datasets = new Map<string, DatasetDefinition>();
  readonly #functions = new Map<string, FunctionDefinition>();
  readonly #relations = new WeakMap<DatasetDefinition, Relation>();
  /** what the running task has asked for of rows in other systems */
  readonly #remoteRelations = new Map<DatasetDefinition, Relation>();
  readonly #compiled = new Map<string, CachedFunction>();
  /** the functions that a binding has met; undefined while nobody asks */
  #met: Set<string> | undefined;
  #generation = 0;
  /** functions that are being compiled, each for the one before it */
  readonly #compiling: string[] = [];

  constructor(options: NamespaceMirrorOptions) {
    this.#types = options.types;
    this.builtins = options.builtins;
    this.arenas = options.arenas;
    this.#options = options;
  }

  /** Grows with every change of the catalogue. */
  get generation(): number {
    return this.#generation;
  }

  apply(message: MirrorMessage): void {
    this.#generation++;
    if (message.type === 'function-change') {
      const { type, artifact } = this.functionDefinition(message.id);
      this.#types.functionType(type).change?.(artifact, message.change);
      return;
    }
    const { id, definition } = message;
    if (message.type === 'dataset') {
      if (definition === undefined) this.#datasets.delete(id);
      else this.#datasets.set(id, message.definition as DatasetDefinition);
      return;
    }
    this.#compiled.delete(id);
    if (definition === undefined) this.#functions.delete(id);
    else this.#applyFunction(id, message.definition as FunctionDefinition);
  }

  /** What a prepared function calls is what there was when it was created. */
  #applyFunction(id: string, definition: FunctionDefinition): void {
    this.#functions.set(id, definition);
    if (!definition.ready) return;
    if (this.#options.lightOnly && !definition.isLight) return;
    // Its first call is early enough, and most threads never call it.
    if (definition.isSelfContained) return;
    const type = this.#types.functionType(definition.type);
    if (type.binding(definition.params) !== 'creation') return;
    try {
      this.compiledFunction(id);
    } catch {
      // The creation itself reports it; a use of the function will throw it again.
    }
  }

  /** The condensed past: messages that bring another mirror to this state. */
  messages(): MirrorMessage[] {
    return [
      ...[...this.#datasets].map(([id, definition]) => ({
        type: 'dataset' as const,
        id,
        definition,
      })),
      ...[...this.#functions].map(([id, definition]) => ({
        type: 'function' as const,
        id,
        definition,
      })),
    ];
  }

  datasetNames(): readonly string[] {
    return [...this.#datasets.keys()];
  }

  dataset(name: string): Relation {
    const definition = this.datasetWithContent(name);
    const known = this.#relations.get(definition);
    if (known !== undefined) return known;
    if (definition.unreadable !== undefined) {
      throw failure('INVALID_PARAMETER', definition.unreadable, { dataset: name });
    }
    const { relation: remoteRelation } = this.#types.datasetType(definition.type);
    if (remoteRelation !== undefined) return this.#remoteRelation(definition, remoteRelation);
    const relation = snapshotRelation(definition.content.snapshot, this.arenas);
    this.#relations.set(definition, relation);
    return relation;
  }

  #remoteRelation(definition: ReadyDataset, open: NonNullable<DatasetType['relation']>): Relation {
    const known = this.#remoteRelations.get(definition);
    if (known !== undefined) return known;
    const relation = open(definition.params, this.#options.remote ?? NO_REMOTE);
    this.#remoteRelations.set(definition, relation);
    return relation;
  }

  /** Another task may find other columns in other systems. */
  beginTask(): void {
    this.#remoteRelations.clear();
  }

  /** @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY, DATA_ERROR when its content cannot be read */
  datasetWithContent(name: string): LoadedDataset {
    const definition = this.#datasets.get(name);
    if (definition === undefined) {
      throw entityMissing('dataset', name, this.#datasets.keys());
    }
    if (!definition.ready) throw entityNotReady('dataset', name);
    const { loadContent, onUse } = this.#options;
    onUse?.(definition.storeId);
    if (isLoaded(definition) && !hasAbsentColumns(definition.content)) return definition;
    assert(loadContent !== undefined, 'content is read where tasks run');
    const content = this.#readable(name, definition.content ?? loadContent(name));
    const loaded = { ...definition, content };
    // The news that it is there has been sent, but is read after this task.
    this.#datasets.set(name, loaded);
    return loaded;
  }

  /** Content whose columns are read when they are looked at. */
  #readable(name: string, content: DatasetContent): DatasetContent {
    const { snapshot } = content;
    const { loadColumn } = this.#options;
    if (snapshot.layout !== 'columnar' || !hasAbsentColumns(content)) return content;
    assert(loadColumn !== undefined, 'columns are read where tasks run');
    const lazy = withLazyColumns(snapshot, (column) => loadColumn(name, snapshot, column));
    return { ...content, snapshot: lazy };
  }

  findUserFunction(name: string): UserFunction | undefined {
    const definition = this.#functions.get(name);
    if (definition === undefined) return undefined;
    if (!definition.ready) throw entityNotReady('function', name);
    const compiled = this.compiledFunction(name);
    return {
      name,
      deterministic: definition.deterministic,
      outputType: compiled.output,
      takesAnyValue: compiled.takesAnyValue,
      features: compiled.features,
      formula: compiled.formula?.bind(compiled),
      columnScores: compiled.columnScores,
      apply: (input, scope) => compiled.apply(input, scope),
      applyAll: compiled.applyAll?.bind(compiled),
    };
  }

  /** @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY */
  functionDefinition(id: string): ReadyFunction {
    const definition = this.#functions.get(id);
    if (definition === undefined) throw entityMissing('function', id, this.#functions.keys());
    if (!definition.ready) throw entityNotReady('function', id);
    return definition;
  }

  /** Does work that binds. @returns the ids of the functions that it met, beside its result */
  meeting<Result>(work: () => Result): { readonly result: Result; readonly met: string[] } {
    const met = new Set<string>();
    this.#met = met;
    try {
      return { result: work(), met: [...met] };
    } finally {
      this.#met = undefined;
    }
  }

  /** @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY, and what binding throws */
  compiledFunction(id: string): CompiledFunction {
    this.#met?.add(id);
    const definition = this.functionDefinition(id);
    const cached = this.#compiled.get(id);
    if (cached !== undefined && cached.definition === definition) {
      const { generation } = cached;
      const isCurrent = generation === this.#generation && this.#met === undefined;
      if (generation === undefined || isCurrent) return cached.compiled;
    }
    const type = this.#types.functionType(definition.type);
    const compiled = this.#limited(definition.creatorRole, () =>
      this.#guardDepth(id, () =>
        type.compile(definition.params, this.functionScope(), definition.artifact),
      ),
    );
    const isKept = type.binding(definition.params) === 'creation';
    const generation = isKept ? undefined : this.#generation;
    this.#compiled.set(id, { definition, compiled, generation });
    return compiled;
  }

  /** What constants and calls of a function ask the service for, its maker asks for too. */
  #limited(role: Role, compile: () => CompiledFunction): CompiledFunction {
    const { withAtMost } = this.#options;
    if (role === 'admin' || withAtMost === undefined) return compile();
    const compiled = withAtMost(role, compile);
    if (compiled.isLight) return compiled;
    const { applyAll, details } = compiled;
    return {
      ...compiled,
      apply: (input, scope) => withAtMost(role, () => compiled.apply(input, scope)),
      ...(applyAll === undefined
        ? {}
        : { applyAll: (...args) => withAtMost(role, () => applyAll.apply(compiled, args)) }),
      ...(details === undefined
        ? {}
        : { details: () => withAtMost(role, () => details.call(compiled)) }),
    };
  }

  functionScope(): FunctionContext {
    return {
      namespace: this,
      arenas: this.arenas,
      callScope: this.#options.callScope,
      remote: this.#options.remote ?? NO_REMOTE,
      executor: this.#options.executor,
      datasetConfig: (id) => this.datasetWithContent(id),
      functionNamed: (id) => this.compiledFunction(id),
    };
  }

  /** Tells a function that leads back to itself from a long chain. */
  #tooDeep(id: string): RowanError {
    const names = [...this.#compiling, id];
    const first = names.indexOf(id);
    const isCycle = first < names.length - 1;
    const shown = (isCycle ? names.slice(first, names.indexOf(id, first + 1) + 1) : names).slice(
      -8,
    );
    const chain = shown.map((name) => `'${name}'`).join(' calls ');
    return isCycle
      ? failure('SQL_BINDING', `function '${id}' calls itself without end: ${chain}`)
      : failure(
          'SQL_BINDING',
          `functions call one another more than ${COMPILE_DEPTH_MAX} deep; the last of them: ${chain}`,
        );
  }

  #guardDepth<Result>(id: string, compile: () => Result): Result {
    if (this.#compiling.length >= COMPILE_DEPTH_MAX) throw this.#tooDeep(id);
    this.#compiling.push(id);
    try {
      return compile();
    } finally {
      this.#compiling.pop();
    }
  }
}
