// JSON with integers of any size: what JSON.parse would round becomes a bigint.

/** Nesting deeper than this is refused: recursion elsewhere relies on it. */
export const JSON_DEPTH_MAX = 512;

/** Where and why a text is not JSON; line and column are 1-based. */
export class JsonSyntaxError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(reason: string, text: string, offset: number) {
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - before.lastIndexOf('\n');
    super(`${reason} at line ${line}, column ${column}`);
    this.name = 'JsonSyntaxError';
    this.line = line;
    this.column = column;
  }
}

/**
 * Parses JSON text. Integers outside ±2^53 become bigint (doubles beyond 64 bits), `__proto__` is
 * an ordinary key, the last of duplicate keys counts, a byte-order mark is skipped.
 * @param look called in between while a long text is parsed; what it throws ends the work
 * @throws JsonSyntaxError with line and column
 */
export function parseJson(text: string, look?: () => void): unknown {
  return new JsonParser(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, look).parse();
}

/** Writes bigints as integers; otherwise as JSON.stringify does. */
export function stringifyJson(value: unknown): string {
  if (!containsBigint(value)) return JSON.stringify(value) ?? 'null';
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringifyJson).join(',')}]`;
  const members = Object.entries(value as object)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${stringifyJson(member)}`);
  return `{${members.join(',')}}`;
}

function containsBigint(value: unknown): boolean {
  if (typeof value === 'bigint') return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(containsBigint);
}

/** Characters of arrays that are parsed in one go when the caller wants to check for cancellation in between. */
const PIECE_LENGTH = 65_536;

const DIGIT_COUNT_EXACT = 15;
const LONG_INTEGER = /(?:^|[^.\d])\d{16}/;

/**
 * Sixteen digits in a row that are no fraction, or a key that objects treat specially: JSON.parse
 * will not do.
 */
function needsOwnParser(text: string): boolean {
  if (text.includes('__proto__')) return true;
  // So many digits have one of them at each of these places, which are looked at sooner than all.
  for (let i = DIGIT_COUNT_EXACT; i < text.length; i += DIGIT_COUNT_EXACT + 1) {
    const code = text.charCodeAt(i);
    if (code >= 0x30 && code <= 0x39) return LONG_INTEGER.test(text);
  }
  return false;
}

/** In place of a position. */
const TOO_DEEP = -1;

class JsonParser {
  readonly #text: string;
  readonly #look: (() => void) | undefined;
  /** what lies before is not for JSON.parse */
  #ownUntil = 0;
  #position = 0;
  #depth = 0;

  constructor(text: string, look: (() => void) | undefined) {
    this.#text = text;
    this.#look = text.length > PIECE_LENGTH ? look : undefined;
  }

  parse(): unknown {
    if (this.#look === undefined && !needsOwnParser(this.#text) && !this.#isDeep()) {
      try {
        return JSON.parse(this.#text);
      } catch {
        // The own parser below says where.
      }
    }
    const value = this.#value();
    this.#skipSpace();
    if (this.#position < this.#text.length) this.#fail('extra characters after the JSON value');
    return value;
  }

  /** Whether brackets outside of strings nest deeper than is allowed. */
  #isDeep(): boolean {
    const { length } = this.#text;
    return length > JSON_DEPTH_MAX && this.#lastElementEnd(length) === TOO_DEEP;
  }

  #value(): unknown {
    this.#look?.();
    this.#skipSpace();
    const character = this.#text[this.#position];
    switch (character) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      case undefined:
        return this.#fail('unexpected end of JSON');
      default:
        return this.#number();
    }
  }

  #object(): Record<string, unknown> {
    this.#enter();
    const out: Record<string, unknown> = {};
    if (!this.#closes('}')) {
      do {
        this.#skipSpace();
        if (this.#text[this.#position] !== '"') this.#fail('expected a string as object key');
        const key = this.#string();
        this.#skipSpace();
        if (this.#text[this.#position] !== ':') this.#fail("expected ':'");
        this.#position++;
        const value = this.#value();
        if (key === '__proto__') {
          Object.defineProperty(out, key, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          });
        } else out[key] = value;
      } while (this.#continues('}'));
    }
    this.#depth--;
    return out;
  }

  #array(): unknown[] {
    this.#enter();
    const out: unknown[] = [];
    if (!this.#closes(']')) {
      do {
        if (this.#look === undefined || !this.#takePiece(out)) out.push(this.#value());
      } while (this.#continues(']'));
    }
    this.#depth--;
    return out;
  }

  /**
   * Parses elements of the array that begin here, as many as a piece holds.
   * @returns false when that cannot be done; then nothing has happened
   */
  #takePiece(out: unknown[]): boolean {
    if (this.#position < this.#ownUntil) return false;
    const limit = Math.min(this.#text.length, this.#position + PIECE_LENGTH);
    const end = this.#lastElementEnd(limit);
    if (end === undefined || end === TOO_DEEP) return false;
    this.#ownUntil = end;
    const piece = `[${this.#text.slice(this.#position, end)}]`;
    if (needsOwnParser(piece)) return false;
    let elements: unknown[];
    try {
      elements = JSON.parse(piece) as unknown[];
    } catch {
      return false;
    }
    // Without elements there is a comma too many, of which the caller tells.
    if (elements.length === 0) return false;
    this.#look?.();
    for (const element of elements) out.push(element);
    this.#position = end;
    return true;
  }

  /**
   * Where the last element ends that lies before `limit` as a whole: elements of the value that is
   * open here. Undefined when none does, `TOO_DEEP` when brackets nest deeper than is allowed.
   */
  #lastElementEnd(limit: number): number | typeof TOO_DEEP | undefined {
    const text = this.#text;
    let depth = this.#depth;
    let inString = false;
    let end: number | undefined;
    for (let i = this.#position; i < limit; i++) {
      const code = text.charCodeAt(i);
      if (inString) {
        if (code === 0x5c) i++;
        else if (code === 0x22) inString = false;
      } else if (code === 0x22) inString = true;
      else if (code === 0x5b || code === 0x7b) {
        if (++depth > JSON_DEPTH_MAX) return TOO_DEEP;
      } else if (code === 0x5d || code === 0x7d) {
        if (--depth < this.#depth) return i;
      } else if (code === 0x2c && depth === this.#depth) end = i;
    }
    return end;
  }

  #enter(): void {
    if (++this.#depth > JSON_DEPTH_MAX) {
      this.#fail(`nesting deeper than ${JSON_DEPTH_MAX} levels`);
    }
    this.#position++;
  }

  #closes(bracket: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#position] !== bracket) return false;
    this.#position++;
    return true;
  }

  #continues(bracket: string): boolean {
    this.#skipSpace();
    const character = this.#text[this.#position++];
    if (character === ',') return true;
    if (character === bracket) return false;
    this.#position--;
    return this.#fail(`expected ',' or '${bracket}'`);
  }

  #string(): string {
    const start = this.#position;
    let end = start + 1;
    for (;;) {
      const code = this.#text.charCodeAt(end);
      if (code === 0x22) break;
      if (Number.isNaN(code)) this.#fail('unterminated string');
      if (code < 0x20) {
        this.#position = end;
        this.#fail('control character in string');
      }
      end += code === 0x5c ? 2 : 1;
    }
    this.#position = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, end + 1)) as string;
    } catch {
      this.#position = start;
      return this.#fail('bad escape in string');
    }
  }

  #number(): number | bigint {
    const match = /^-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(
      this.#text.slice(this.#position, this.#position + 4096),
    );
    if (match === null) return this.#fail('unexpected character');
    this.#position += match[0].length;
    const number = Number(match[0]);
    if (match[1] !== undefined || match[2] !== undefined || Number.isSafeInteger(number)) {
      return number;
    }
    const exact = BigInt(match[0]);
    return exact >= -(2n ** 63n) && exact < 2n ** 64n ? exact : number;
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#position)) this.#fail('unexpected character');
    this.#position += word.length;
    return value;
  }

  #skipSpace(): void {
    for (;;) {
      const code = this.#text.charCodeAt(this.#position);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return;
      this.#position++;
    }
  }

  #fail(reason: string): never {
    throw new JsonSyntaxError(reason, this.#text, Math.min(this.#position, this.#text.length));
  }
}
