// How several processes serve one port.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

/** How the process that listens shares its port with others. */
export interface PortSharing {
  /** path of a socket where requests arrive that the others pass on */
  readonly privatePath: string;
  /** Gives a connection to another process, or to this one when no other takes it. */
  handOver(socket: Socket, serveHere: (socket: Socket) => void): void;
  /** The port is closed. Resolves when the others have answered what they had begun. */
  stop(): Promise<void>;
}

/** What another process does with the requests that it does not answer itself. */
export interface PassingOn {
  /** Called with each request. @returns true when it is taken away */
  intercept(request: IncomingMessage, response: ServerResponse): boolean;
  /** Called with a request that failed before its reply began. @returns true when it is taken */
  takeOver(exchange: Exchange, thrown: unknown): boolean;
}
