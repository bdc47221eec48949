// A function in service.
import type { FunctionType, LoadedArtifact } from '../../function/function-type.ts';
import { RowanError } from '../../util/error.ts';
import type { Span } from '../../value/column/snapshot.ts';
import type { ReadyFunction } from '../engine/definition.ts';
import type { FunctionInterface } from '../engine/engine-task.ts';
import type { Role } from '../route/request.ts';
import type { LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';
import { functionInfo } from './function-info.ts';

export interface FunctionOptions {
  readonly id: string;
  readonly config: EntityConfig;
  readonly type: FunctionType;
  readonly params: Readonly<Record<string, unknown>>;
  readonly creatorRole: Role;
  /** known when the function was bound at its creation */
  readonly interface: FunctionInterface | undefined;
  /** what the type loaded for it */
  readonly artifact: LoadedArtifact | undefined;
  /** ids of the functions that it was bound to at its creation */
  readonly boundTo?: readonly string[] | undefined;
  /** Binds it to what there is now, as a call does. Not for those bound at their creation. */
  readonly bind: () => Promise<FunctionInterface>;
  /** gives the memory of the artifact back, once no task reads it */
  readonly retire: (spans: readonly Span[]) => void;
}

export class FunctionEntity implements LiveEntity {
  readonly id: string;
  readonly config: EntityConfig;
  readonly functionType: FunctionType;
  readonly params: Readonly<Record<string, unknown>>;
  readonly creatorRole: Role;
  readonly interface: FunctionInterface | undefined;
  readonly boundTo: readonly string[];
  readonly #bind: () => Promise<FunctionInterface>;
  /** what it was like when it was last looked at; undefined where it cannot be bound */
  #lastInterface: FunctionInterface | undefined;
  readonly #artifact: LoadedArtifact | undefined;
  readonly #retire: (spans: readonly Span[]) => void;

  constructor(options: FunctionOptions) {
    this.id = options.id;
    this.config = options.config;
    this.functionType = options.type;
    this.params = options.params;
    this.creatorRole = options.creatorRole;
    this.interface = options.interface;
    this.boundTo = options.boundTo ?? [];
    this.#bind = options.bind;
    this.#artifact = options.artifact;
    this.#retire = options.retire;
  }

  get type(): string {
    return this.config.type ?? this.functionType.name;
  }

  /** Parameters with references resolved, for a restart. */
  get resolved(): Readonly<Record<string, unknown>> {
    return this.params;
  }

  /** true: calls run on the main thread */
  get isLight(): boolean {
    return this.interface?.isLight === true;
  }

  /** what is told about the model that it was made from; absent where it is none */
  get card(): LoadedArtifact['card'] {
    return this.#artifact?.card;
  }

  status(): unknown {
    const known = this.interface ?? this.#lastInterface;
    return {
      ...this.functionType.status?.(this.params, this.#artifact?.data),
      ...(known === undefined ? {} : { info: functionInfo(known) }),
    };
  }

  /** What it calls may not be there yet: that is for its callers to hear. */
  async refresh(): Promise<void> {
    if (this.interface !== undefined) return;
    try {
      this.#lastInterface = await this.#bind();
    } catch (thrown) {
      if (!(thrown instanceof RowanError)) throw thrown;
      this.#lastInterface = undefined;
    }
  }

  definition(): ReadyFunction {
    return {
      ready: true,
      type: this.functionType.name,
      params: this.params,
      deterministic: this.config.deterministic ?? true,
      isLight: this.isLight,
      isSelfContained: this.isLight && this.boundTo.length === 0,
      artifact: this.#artifact?.data,
      creatorRole: this.creatorRole,
    };
  }

  dispose(): void {
    if (this.#artifact !== undefined) this.#retire(this.#artifact.spans);
  }
}
