// Messages between the main thread and engine workers.
import type { MessagePort } from 'node:worker_threads';
import type { ErrorBody } from '../../util/error.ts';

/** The first message to a new worker. */
export interface WorkerStart {
  readonly slot: number;
  readonly control: Int32Array;
  readonly threadCount: number;
  /** tasks and broadcasts from the main thread; replies to it */
  readonly mainPort: MessagePort;
  /** answers to host calls */
  readonly hostPort: MessagePort;
  readonly peers: readonly (readonly [slot: number, port: MessagePort])[];
  /** broadcasts that were sent before this worker existed, condensed */
  readonly initialMessages: readonly unknown[];
}

export type ToWorker =
  | {
      readonly type: 'task';
      readonly id: number;
      readonly kind: string;
      readonly args: unknown;
      readonly isFrugal: boolean;
    }
  | { readonly type: 'broadcast'; readonly message: unknown }
  | { readonly type: 'peer'; readonly slot: number; readonly port: MessagePort };

export type ToMain =
  | { readonly type: 'ready' }
  | { readonly type: 'idle' }
  | {
      readonly type: 'result';
      readonly id: number;
      readonly result: unknown;
      /** the last piece of the result */
      readonly bytes?: Uint8Array | undefined;
    }
  | {
      readonly type: 'error';
      readonly id: number;
      readonly error: ErrorBody;
      readonly stack?: string;
    }
  | { readonly type: 'progress'; readonly id: number; readonly document: unknown }
  | { readonly type: 'chunk'; readonly id: number; readonly bytes: Uint8Array }
  | {
      readonly type: 'host';
      readonly id: number;
      /** number of the call in its worker */
      readonly call: number;
      readonly request: unknown;
    };

/** A task that was cancelled does not wait for its reply, which must not answer the next call. */
export type HostReply = { readonly call: number } & (
  | { readonly result: unknown }
  | { readonly error: ErrorBody }
);

/** A leader's job, posted to a helper. */
export interface JobMessage {
  /** of the call; see callSerial */
  readonly serial: number;
  readonly job: string;
  readonly args: unknown;
  readonly unitCount: number;
}

export interface JobReply {
  readonly results: readonly (readonly [unit: number, result: unknown])[];
  readonly failure?: { readonly unit: number; readonly error: ErrorBody };
}
