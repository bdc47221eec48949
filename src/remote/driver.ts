// What the thread of the drivers asks of each of them.
import type { AddressGuard } from '../file/address-guard.ts';
import type { Connection, WireRow } from './message.ts';

export interface Driver {
  /** Connects at its first use. */
  connect(connection: Connection, guard: AddressGuard): Promise<Session>;
}

/** A way into one server, which serves any number of requests at the same time. */
export interface Session {
  /** Rows in batches of bounded size; ending the iteration frees what it holds. */
  rows(request: unknown, signal: AbortSignal): AsyncIterable<readonly WireRow[]>;
  /** @returns plain data */
  execute(request: unknown, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}
