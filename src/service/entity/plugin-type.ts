// What a plugin type declares, and what its plugins can do.
import type { TObject } from 'typebox';
import type { EntityType, ParamsOf } from '../../dataset/entity-type.ts';
import type { Reply, RouteRequest } from '../route/request.ts';
import type { ConstructionContext, LiveEntity } from './collection.ts';
import type { EntityConfig } from './config.ts';

export interface PluginType<Schema extends TObject = TObject> extends EntityType<Schema> {
  readonly kind: 'plugin';
  create(
    config: EntityConfig & { readonly id: string },
    params: ParamsOf<Schema>,
    scope: ConstructionContext,
  ): Promise<PluginEntity>;
}

/** Declares a plugin type whose plugins get the parameters that its schema describes. */
export function pluginType<Schema extends TObject>(
  declaration: Omit<PluginType<Schema>, 'kind'>,
): PluginType<Schema> {
  return { kind: 'plugin', ...declaration };
}

export interface PluginEntity extends LiveEntity {
  /** Answers …/routes/<rest>; `rest` is not decoded, with its slash. @throws UNKNOWN_RESOURCE */
  handleRequest(rest: string, request: RouteRequest): Promise<Reply>;
  /** what GET …/version answers */
  version(): unknown;
  /** Answers …/doc/<rest>. */
  documentation(rest: string, request: RouteRequest): Promise<Reply>;
}
