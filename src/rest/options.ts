// What the HTTP server can be told, with the defaults of the command line.
import { availableParallelism } from 'node:os';

export interface RestOptions {
  readonly host: string;
  /** ports to try in order; 0 takes any free one */
  readonly ports: readonly number[];
  readonly bodyBytesMax: number;
  /** of all requests together, decompressed */
  readonly bodyMemoryBytes: number;
  readonly headerBytesMax: number;
  /** ms until the headers of a request must be complete */
  readonly headersTimeoutMs: number;
  /** ms without a byte after which reading a body is given up */
  readonly bodyIdleTimeoutMs: number;
  /** ms without a byte taken by the client after which the rest of a reply is given up */
  readonly replyIdleTimeoutMs: number;
  /** bytes a second that a client must take of a reply, over a minute in which it is waited for */
  readonly streamMinRate: number;
  /** ms that a connection may wait for its next request */
  readonly keepAliveTimeoutMs: number;
  /** connections beyond so many are answered with 503 and closed */
  readonly connectionCountMax: number;
  /** ms that a heavy request may take; undefined: as long as it wants */
  readonly queryTimeoutMs: number | undefined;
  readonly heavyCountMax: number;
  readonly heavyQueueLengthMax: number;
  /** s that requests in flight get to finish at shutdown */
  readonly shutdownGraceSeconds: number;
  readonly corsOrigins: readonly string[];
  readonly allowUnauthenticated: boolean;
  readonly hasAccessLog: boolean;
  /** put before links into the documentation, and in place of `{{HTTP_BASE_URL}}` */
  readonly baseUrl: string;
  /** a folder served under /doc instead of the shipped documentation */
  readonly docPath: string | undefined;
  /** a folder served under /resources instead of the shipped one */
  readonly assetsPath: string | undefined;
  /** whether browsers are given the console at / */
  readonly hasConsole: boolean;
  /** leaves types meant for tests and tools out of the documentation */
  readonly hidesInternalEntities: boolean;
}

export const DEFAULT_REST_OPTIONS: RestOptions = {
  host: '127.0.0.1',
  ports: [0],
  bodyBytesMax: 256 * 2 ** 20,
  bodyMemoryBytes: 2 ** 30,
  headerBytesMax: 2 ** 20,
  headersTimeoutMs: 60_000,
  bodyIdleTimeoutMs: 30_000,
  replyIdleTimeoutMs: 30_000,
  streamMinRate: 1024,
  keepAliveTimeoutMs: 65_000,
  connectionCountMax: 20_000,
  queryTimeoutMs: undefined,
  heavyCountMax: 4 * availableParallelism(),
  heavyQueueLengthMax: 1000,
  shutdownGraceSeconds: 30,
  corsOrigins: [],
  allowUnauthenticated: false,
  hasAccessLog: false,
  baseUrl: '',
  docPath: undefined,
  assetsPath: undefined,
  hasConsole: true,
  hidesInternalEntities: false,
};
