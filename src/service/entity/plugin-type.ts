// What a plugin type declares, and what its plugins can do.
import type { EntityType } from '../../dataset/entity-type.ts';
import type { Reply, RouteRequest } from '../route/request.ts';
import type { ConstructionScope, LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';

export interface PluginType extends EntityType {
  readonly kind: 'plugin';
  create(
    config: EntityConfig & { readonly id: string },
    params: Readonly<Record<string, unknown>>,
    scope: ConstructionScope,
  ): Promise<PluginEntity>;
}

export interface PluginEntity extends LiveEntity {
  /** Answers …/routes/<rest>; `rest` is not decoded, with its slash. @throws UNKNOWN_RESOURCE */
  handleRequest(rest: string, request: RouteRequest): Promise<Reply>;
  /** what GET …/version answers */
  version(): unknown;
  /** Answers …/doc/<rest>. */
  documentation(rest: string, request: RouteRequest): Promise<Reply>;
}
