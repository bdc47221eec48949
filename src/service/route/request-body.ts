// Bodies of requests: bytes from a transport, or a value given in-process.
import { failure, RowanError } from '../../util/error.ts';
import {
  JsonSyntaxError,
  parseJson,
  parseJsonInTurns,
  stringifyJson,
} from '../../util/exact-json.ts';
import type { RequestBody } from './request.ts';

const BODY = 'request body';
const NO_BYTES = new Uint8Array(0);

export const EMPTY_BODY: RequestBody = {
  isEmpty: true,
  bytes: NO_BYTES,
  take: () => NO_BYTES,
  isParsed: true,
  parse: async () => undefined,
  json: () => undefined,
  stream: () => piecesOf(NO_BYTES),
};

/**
 * A body as it came over the wire; parsed at most once, and only when asked for.
 * @param isOurs nobody else has the bytes
 */
export function bytesBody(bytes: Uint8Array, isOurs = false): RequestBody {
  return bytes.length === 0 ? EMPTY_BODY : new BytesBody(bytes, isOurs);
}

class BytesBody implements RequestBody {
  readonly isEmpty: boolean;
  readonly bytes: Uint8Array;
  readonly #isOurs: boolean;
  #json: (() => unknown) | undefined;

  constructor(bytes: Uint8Array, isOurs: boolean) {
    this.isEmpty = isBlank(bytes);
    this.bytes = bytes;
    this.#isOurs = isOurs;
  }

  take(): Uint8Array<ArrayBuffer> {
    const { bytes } = this;
    return this.#isOurs && isWhole(bytes) ? bytes : Uint8Array.from(bytes);
  }

  get isParsed(): boolean {
    return this.#json !== undefined;
  }

  /** A body that is not JSON is refused by `json`: not every route asks for it. */
  async parse(turn: () => Promise<void>): Promise<void> {
    try {
      const text = await decodeInTurns(this.bytes, turn);
      const json = await parseJsonInTurns(text, turn);
      this.#json = () => json;
    } catch (thrown) {
      const told = refusal(thrown, BODY);
      if (told === undefined) throw thrown;
      this.#json = () => {
        throw told;
      };
    }
  }

  json(look?: () => void): unknown {
    if (this.#json === undefined) {
      const json = this.isEmpty ? undefined : parseBody(this.bytes, look);
      this.#json = () => json;
    }
    return this.#json();
  }

  stream(): AsyncIterable<Uint8Array> {
    return piecesOf(this.bytes);
  }
}

/** Not more than is worth a task of its own. */
const PIECE_SIZE = 1 << 18;

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += PIECE_SIZE) {
    yield bytes.subarray(start, start + PIECE_SIZE);
  }
}

/** A body that is still arriving: only its pieces can be had. */
export function streamBody(pieces: AsyncIterable<Uint8Array>): RequestBody {
  const refuse = (): never => {
    throw new Error('the body of this route is a stream');
  };
  return {
    isEmpty: false,
    get bytes() {
      return refuse();
    },
    take: refuse,
    isParsed: false,
    parse: refuse,
    json: refuse,
    stream: () => pieces,
  };
}

/** A body given as a JSON value by a caller in this process; text is JSON text already. */
export function valueBody(value: unknown): RequestBody {
  if (value === undefined) return EMPTY_BODY;
  if (value instanceof Uint8Array) return bytesBody(value);
  return bytesBody(new TextEncoder().encode(stringifyJson(value)), true);
}

/** A body whose value is known: a part of another body. */
export function parsedBody(json: unknown): RequestBody {
  if (json === undefined) return EMPTY_BODY;
  let encoded: Uint8Array<ArrayBuffer> | undefined;
  const bytes = () => {
    encoded ??= new TextEncoder().encode(stringifyJson(json));
    return encoded;
  };
  return {
    isEmpty: false,
    get bytes() {
      return bytes();
    },
    take: bytes,
    isParsed: true,
    parse: async () => undefined,
    json: () => json,
    stream: () => piecesOf(bytes()),
  };
}

function isWhole(bytes: Uint8Array): bytes is Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer && bytes.length === bytes.buffer.byteLength;
}

function isBlank(bytes: Uint8Array): boolean {
  if (bytes.length > 64) return false;
  for (const byte of bytes) {
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return false;
  }
  return true;
}

function parseBody(bytes: Uint8Array, look?: () => void): unknown {
  return parseJsonText(decodeUtf8(bytes), BODY, look);
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw notUtf8();
  }
}

/** Decoding so many bytes takes a few milliseconds. */
const DECODED_AT_ONCE = 1 << 20;

async function decodeInTurns(bytes: Uint8Array, turn: () => Promise<void>): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  for (let start = 0; start < bytes.length; start += DECODED_AT_ONCE) {
    const end = start + DECODED_AT_ONCE;
    try {
      text += decoder.decode(bytes.subarray(start, end), { stream: end < bytes.length });
    } catch {
      throw notUtf8();
    }
    await turn();
  }
  return text;
}

function notUtf8(): RowanError {
  return failure('INVALID_JSON', 'request body is not valid UTF-8');
}

/** @throws INVALID_JSON naming the place, and what `look` throws in between */
export function parseJsonText(text: string, what: string, look?: () => void): unknown {
  try {
    return parseJson(text, look);
  } catch (thrown) {
    throw refusal(thrown, what) ?? thrown;
  }
}

/** What is told of a text that is not JSON; undefined when something else was thrown. */
function refusal(thrown: unknown, what: string): RowanError | undefined {
  if (thrown instanceof RowanError && thrown.code === 'INVALID_JSON') return thrown;
  if (!(thrown instanceof JsonSyntaxError)) return undefined;
  return failure('INVALID_JSON', `${what} is not JSON: ${thrown.message}`, {
    line: thrown.line,
    column: thrown.column,
  });
}
