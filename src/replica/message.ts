// What the primary and its replicas tell one another.
import type { RestOptions } from '../rest/options.ts';
import type { FileLimits } from '../service/engine/file-host.ts';
import type { SqlSettings } from '../service/service.ts';
import type { ChangedRecord } from '../store/announcing-catalogue.ts';

export interface ReplicaSettings {
  readonly number: number;
  readonly dataDir: string;
  /** where the primary takes requests that are passed on: path of a socket */
  readonly privatePath: string;
  readonly rest: Partial<RestOptions>;
  readonly files: FileLimits;
  readonly sql: SqlSettings;
  /** bytes that its columns may take */
  readonly memoryBytes: number;
  /** functions that were saved up to this number were bound when the primary started */
  readonly startOrder: number;
}

/** `connection` comes with a socket. */
export type ToReplica =
  | { readonly type: 'start'; readonly settings: ReplicaSettings }
  | {
      readonly type: 'change';
      readonly version: number;
      readonly changed: readonly ChangedRecord[];
    }
  | { readonly type: 'connection'; readonly connection: number }
  | { readonly type: 'metrics'; readonly request: number }
  | { readonly type: 'stop' };

export type FromReplica =
  | { readonly type: 'ready' }
  | { readonly type: 'taken'; readonly connection: number }
  /** everything up to this write is taken up, or will not be served before it is */
  | { readonly type: 'applied'; readonly version: number }
  | { readonly type: 'metrics'; readonly request: number; readonly metrics: readonly object[] };
