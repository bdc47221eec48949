// Requests and replies, whatever transport carried them.

export type Verb = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS';

/** What a caller may do; each role includes those before it. */
export const ROLES = ['open', 'reader', 'editor', 'admin'] as const;
export type Role = (typeof ROLES)[number];

/** A request as a transport hands it in. */
export interface RouteRequest {
  readonly verb: string;
  /** the path as it was written, percent-encoded, without query string */
  readonly path: string;
  /** decoded pairs in the order of the query string */
  readonly query: readonly (readonly [string, string])[];
  readonly body: RequestBody;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly role: Role;
  readonly requestId: string;
}

export interface RequestBody {
  /** true: nothing, or white space only */
  readonly isEmpty: boolean;
  readonly bytes: Uint8Array;
  /** The bytes for a caller that hands their buffer on; the body is not read again. */
  take(): Uint8Array<ArrayBuffer>;
  /** whether `json` has its answer already */
  readonly isParsed: boolean;
  /** Parses the body for `json`, a piece at a time. @param turn waited for in between */
  parse(turn: () => Promise<void>): Promise<void>;
  /** @param look called in between while a long body is parsed @throws INVALID_JSON */
  json(look?: () => void): unknown;
  /** The bytes in pieces, as they arrive where the route takes them so; read once. */
  stream(): AsyncIterable<Uint8Array>;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** exactly one of these, or none for an empty body */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  readonly stream?: AsyncIterable<Uint8Array>;
  /** resolves when what makes the stream has ended; what is left then is its reader's time */
  readonly work?: Promise<void>;
  /** default: application/json for `json`, text/plain for `text` */
  readonly contentType?: string;
}

export function jsonReply(json: unknown, status = 200, headers?: Record<string, string>): Reply {
  return headers === undefined ? { status, json } : { status, json, headers };
}

export const EMPTY_REPLY: Reply = { status: 200 };
