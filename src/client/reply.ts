// Replies as callers see them.
import { failure, RowanError } from '../util/error.ts';
import { parseJson } from '../util/exact-json.ts';

/** A reply with its body read to the end. */
export interface PerformedReply<Json = unknown> {
  readonly status: number;
  /** names in lower case */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string | undefined;
  readonly text: string;
  readonly bytes: Uint8Array;
  /** the body as a JSON value; undefined when it is none */
  readonly json: Json;
}

/** Converts the body only into the forms that the caller asks for. */
export class WholeReply<Json = unknown> implements PerformedReply<Json> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly #body: string | Uint8Array;

  constructor(
    status: number,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array,
  ) {
    this.status = status;
    this.headers = headers;
    this.#body = body;
  }

  get contentType(): string | undefined {
    return this.headers['content-type'];
  }

  get bytes(): Uint8Array {
    return typeof this.#body === 'string' ? new TextEncoder().encode(this.#body) : this.#body;
  }

  get text(): string {
    return typeof this.#body === 'string' ? this.#body : new TextDecoder().decode(this.#body);
  }

  get json(): Json {
    const { text } = this;
    const isJson = this.contentType?.startsWith('application/json') === true && text !== '';
    return (isJson ? parseJson(text) : undefined) as Json;
  }
}

/** What a reply that is no success says. */
export function asError(reply: PerformedReply): RowanError {
  const { json } = reply;
  if (isErrorBody(json)) return RowanError.fromBody(json);
  return failure('INTERNAL', reply.text || `status ${reply.status}`);
}

/** Whether the JSON of a reply is an error as the service writes it: text, status and code. */
export function isErrorBody(json: unknown): json is Parameters<typeof RowanError.fromBody>[0] {
  if (typeof json !== 'object' || json === null) return false;
  const { error, httpCode, code } = json as Record<string, unknown>;
  return typeof error === 'string' && typeof httpCode === 'number' && typeof code === 'string';
}

/** The pieces of a body as one array; a single piece is not copied. */
export async function readAll(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of pieces) {
    parts.push(part);
    size += part.length;
  }
  if (parts.length === 1) return parts[0] as Uint8Array;
  const whole = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
