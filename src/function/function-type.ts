// What a function type declares: how a function of it is checked, compiled and described.
import type { Static, TObject } from 'typebox';
import type { EntityType, ParamsOf } from '../dataset/entity-type.ts';
import type { Executor } from '../exec/general/compiler.ts';
import type { FileSystem } from '../file/file-system.ts';
import type { ModelFormula } from '../learn/formula/formula.ts';
import type { CallContext, ColumnScores, ModelFeatures } from '../plan/function.ts';
import type { Namespace } from '../plan/namespace.ts';
import type { ValueType } from '../plan/type/type.ts';
import type { RemoteAccess } from '../remote/remote-access.ts';
import type { ArenaAllocator } from '../value/column/arena-set.ts';
import type { Span } from '../value/column/snapshot.ts';
import type { Value } from '../value/value.ts';
import type { PlainCalls } from './plain-call.ts';

export interface FunctionType<Schema extends TObject = TObject> extends EntityType<Schema> {
  readonly kind: 'function';
  /**
   * When the parameters meet the catalogue: `creation` keeps what was bound then, `use` looks
   * names up again whenever the catalogue has changed.
   */
  binding(params: ParamsOf<Schema>): 'creation' | 'use';
  /** true: calls ask the service for something, which not every process can answer */
  readonly reachesHost?: boolean;
  /** Checks what the schema cannot say, without the catalogue. @throws what is wrong */
  check?(params: ParamsOf<Schema>): void;
  /**
   * Reads what the function is made from, once, when it is created, in an engine worker. What it
   * gives is kept with the function and handed to `compile` in every thread.
   */
  load?(params: ParamsOf<Schema>, context: LoadContext): Promise<LoadedArtifact>;
  compile(
    params: ParamsOf<Schema>,
    scope: FunctionContext,
    artifact?: LoadedArtifact['data'],
  ): CompiledFunction;
  /** the type-specific member `status`, beside `info` */
  status?(
    params: ParamsOf<Schema>,
    artifact?: LoadedArtifact['data'],
  ): Readonly<Record<string, unknown>>;
  /** What POST …/routes/<name> answers, by name. */
  readonly routes?: Readonly<Record<string, FunctionRoute>>;
  /**
   * Changes what was loaded, in place; called with each change that a route asked for, in every
   * thread and in the same order. Changes are not kept beyond a restart.
   */
  change?(artifact: LoadedArtifact['data'], change: unknown): void;
}

/** A route that functions of one type have. */
export interface FunctionRoute<Body extends TObject = TObject> {
  readonly summary: string;
  readonly body: Body;
  /** Runs in an engine worker. */
  answer(
    artifact: LoadedArtifact['data'],
    body: Static<Body>,
    context: { readonly files: FileSystem },
  ): FunctionRouteAnswer | Promise<FunctionRouteAnswer>;
}

export interface FunctionRouteAnswer {
  readonly reply: unknown;
  /** what `change` of the type is to be called with; plain data */
  readonly change?: unknown;
}

/** Declares a route whose `answer` gets the body that its schema describes. */
export function functionRoute<Body extends TObject>(route: FunctionRoute<Body>): FunctionRoute {
  // Bodies are parsed with the route's own schema before it is asked.
  return route as FunctionRoute<TObject> as FunctionRoute;
}

/** Declares a function type whose members get the parameters that its schema describes. */
export function functionType<Schema extends TObject>(
  declaration: Omit<FunctionType<Schema>, 'kind'>,
): FunctionType<Schema> {
  return { kind: 'function', ...declaration };
}

export interface LoadContext {
  readonly files: FileSystem;
  readonly arenas: ArenaAllocator;
  checkCancelled(): void;
}

export interface LoadedArtifact {
  /** plain data over shared memory: it is posted to other threads */
  readonly data: unknown;
  /** the memory that belongs to it; freed when the function is gone */
  readonly spans: readonly Span[];
  /** the card of the model that it is */
  readonly card?: Readonly<Record<string, unknown>> | undefined;
}

export interface FunctionContext {
  readonly namespace: Namespace;
  readonly arenas: ArenaAllocator;
  /** what calls may reach: that of the task which runs in this thread at the time */
  readonly callScope: CallContext;
  /** databases beside the service */
  readonly remote: RemoteAccess;
  /** the vector engine, where there is one */
  readonly executor?: Executor | undefined;
  /** The type and parameters of a dataset. @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY */
  datasetConfig(id: string): {
    readonly type: string;
    readonly params: Readonly<Record<string, unknown>>;
  };
  /** A function entity. @throws ENTITY_NOT_FOUND, ENTITY_NOT_READY */
  functionNamed(id: string): CompiledFunction;
}

export interface CompiledFunction {
  /** the arguments that are read, each with its type; none when nothing is read */
  readonly input: readonly ValueType[];
  readonly output: ValueType;
  /** true: the argument is taken as it is instead of as a row */
  readonly takesAnyValue: boolean;
  /** the columns that it was trained on, for warnings about calls without them */
  readonly features?: ModelFeatures;
  /** what other systems can compute instead of calls; undefined: it cannot be said */
  formula?(): ModelFormula | undefined;
  /** as `apply` with columns of features; absent: rows are needed */
  readonly columnScores?: ColumnScores | undefined;
  /** true: a call takes microseconds and reads no data, so it may run on the main thread */
  readonly isLight: boolean;
  apply(input: Value, scope: CallContext): Value;
  /** as `apply`, for several inputs at once, where that takes less than one by one */
  applyAll?(inputs: readonly Value[], scope: CallContext): readonly Value[];
  /** shortcuts for plain inputs, whose outputs are those of `apply` in JSON */
  readonly plainCalls?: PlainCalls;
  /** internals for GET …/details; default null */
  details?(): unknown;
}
