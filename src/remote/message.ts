// What engine workers and the thread of the drivers tell each other: plain data.
import type { ErrorBody } from '../util/error.ts';
import type { WireAtom } from '../value/wire-value.ts';

/** Systems that have a driver. */
export type RemoteSystem = 'clickhouse' | 'docdb' | 'postgresql';

/** A row of another system: as many atoms as there are paths. */
export interface WireRow {
  /** elements of the row's name; undefined: it has none of its own */
  readonly name: readonly string[] | undefined;
  /** timestamp of its cells, seconds */
  readonly ts: number;
  /** shared by the rows of a batch where they are the same */
  readonly paths: readonly (readonly string[])[];
  readonly atoms: readonly WireAtom[];
  /** instead of cells: why they cannot be read */
  readonly error?: ErrorBody;
}

/** Where a system is and how one gets in; equal ones share connections. Holds secrets. */
export interface Connection {
  /** for messages: never with a password */
  readonly address: string;
  /** what must not occur in a message */
  readonly secret: string;
  /** plain data that the driver understands */
  readonly options: Readonly<Record<string, unknown>>;
}

export interface RemoteRequest {
  readonly system: RemoteSystem;
  readonly connection: Connection;
  /** plain data that the driver understands */
  readonly request: unknown;
}

export type ToDrivers =
  | ({ readonly type: 'execute' | 'open'; readonly id: number } & RemoteRequest)
  | { readonly type: 'next'; readonly id: number; readonly stream: number }
  | { readonly type: 'end'; readonly id: number };

export interface FromDrivers {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: ErrorBody;
}

export interface DriversStart {
  readonly port: MessagePort;
  /** grows with each reply */
  readonly replies: Int32Array;
  /** false: addresses of this machine and of the local link are refused */
  readonly allowsPrivate: boolean;
}

type MessagePort = import('node:worker_threads').MessagePort;
