// What lies between the face of the service and the service itself.

export interface TransportRequest {
  readonly verb: string;
  /** percent-encoded; may carry a query string */
  readonly path: string;
  /** further pairs of the query string, not encoded */
  readonly query: readonly (readonly [string, string])[];
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | undefined;
  readonly signal: AbortSignal;
}

export interface TransportReply {
  readonly status: number;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
}

/** Carries requests, in this process or over a network. */
export interface Transport {
  /** false: a body must be there as a whole before it is sent, as browsers demand */
  readonly streamsBodies: boolean;
  /** @throws RowanError UNREACHABLE when there is no reply; failures of the service are replies */
  send(request: TransportRequest): Promise<TransportReply>;
}
