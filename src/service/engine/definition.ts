// What every thread knows of the entities: plain data, sent by the main thread, over shared memory.

import type { DatasetContent } from '../../dataset/dataset-type.ts';
import type { Role } from '../route/request.ts';

/** Why a name that exists cannot be used. */
export type NotReady = { readonly ready: false };

export interface ReadyDataset {
  readonly ready: true;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  /** its number in the store */
  readonly storeId: number;
  /** undefined: it is kept, and read when a task needs it */
  readonly content: DatasetContent | undefined;
  /** a message instead of content: why it cannot be read yet or at all */
  readonly unreadable?: string;
}

export interface ReadyFunction {
  readonly ready: true;
  readonly type: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly deterministic: boolean;
  /** calls take microseconds and read no data */
  readonly isLight: boolean;
  /** light, and bound to no other function: whatever changes, it is compiled to the same */
  readonly isSelfContained: boolean;
  /** what scripts and URLs in it may do at most */
  readonly creatorRole: Role;
  /** what its type loaded when it was created */
  readonly artifact: unknown;
}

export type DatasetDefinition = ReadyDataset | NotReady;
export type FunctionDefinition = ReadyFunction | NotReady;

/** Sent to every worker; `undefined` removes. */
export type MirrorMessage =
  | {
      readonly type: 'dataset';
      readonly id: string;
      readonly definition: DatasetDefinition | undefined;
    }
  | {
      readonly type: 'function';
      readonly id: string;
      readonly definition: FunctionDefinition | undefined;
    }
  | {
      /** changes what the function's type loaded for it */
      readonly type: 'function-change';
      readonly id: string;
      readonly change: unknown;
    };
