// JSON with integers of any size: what JSON.parse would round becomes a bigint.

/** Nesting deeper than this is refused: recursion elsewhere relies on it. */
export const JSON_DEPTH_MAX = 512;

const LF = 0x0a;

/** Where and why a text is not JSON; line and column are 1-based. */
export class JsonSyntaxError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(reason: string, text: string, offset: number) {
    let line = 1;
    for (let i = 0; i < offset; i++) if (text.charCodeAt(i) === LF) line++;
    const column = offset === 0 ? 1 : offset - text.lastIndexOf('\n', offset - 1);
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
  return new JsonParser(withoutMark(text), look).parse();
}

/**
 * As `parseJson` does, a piece at a time.
 * @param turn waited for between two pieces; what it throws ends the work
 * @throws JsonSyntaxError with line and column
 */
export async function parseJsonInTurns(text: string, turn: () => Promise<void>): Promise<unknown> {
  const parser = new JsonParser(withoutMark(text), () => undefined);
  while (!parser.advance(PIECE_LENGTH)) await turn();
  return parser.result;
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

/** Writes bigints as integers; otherwise as JSON.stringify does. */
export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (thrown) {
    // It refuses bigints, which is sooner found out than looked for.
    if (!containsBigint(value)) throw thrown;
  }
  return stringifyWithBigints(value);
}

function stringifyWithBigints(value: unknown): string {
  if (!containsBigint(value)) return JSON.stringify(value) ?? 'null';
  if (typeof value === 'bigint') return value.toString();
  if (Array.isArray(value)) return `[${value.map(stringifyWithBigints).join(',')}]`;
  const members = Object.entries(value as object)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => `${JSON.stringify(key)}:${stringifyWithBigints(member)}`);
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

/** What the parser meets next. */
type Next = 'value' | 'first key' | 'key' | 'colon' | 'string' | 'comma';

/** A value that is not closed yet, and in an object the key that awaits its value. */
interface Open {
  readonly container: unknown[] | Record<string, unknown>;
  key: string;
}

/** Keeps what is open in a list of its own, so that it can stop anywhere and go on later. */
class JsonParser {
  readonly #text: string;
  readonly #look: (() => void) | undefined;
  readonly #open: Open[] = [];
  #next: Next = 'value';
  /** what lies before is not for JSON.parse */
  #ownUntil = 0;
  #position = 0;
  /** the string that is being read: where it begins, and what of it is known */
  #stringStart = 0;
  #stringText = '';
  #isKey = false;
  #result: unknown;

  constructor(text: string, look: (() => void) | undefined) {
    this.#text = text;
    this.#look = text.length > PIECE_LENGTH ? look : undefined;
  }

  get result(): unknown {
    return this.#result;
  }

  parse(): unknown {
    if (this.#look === undefined && !needsOwnParser(this.#text) && !this.#isDeep()) {
      try {
        return JSON.parse(this.#text);
      } catch {
        // The own parser below says where.
      }
    }
    this.advance(Number.POSITIVE_INFINITY);
    return this.#result;
  }

  /** Reads on by about so many characters. @returns whether the end was reached */
  advance(length: number): boolean {
    const end = this.#text.length;
    const limit = Math.min(end, this.#position + length);
    for (;;) {
      if (this.#next === 'string') {
        if (!this.#readString(limit)) {
          if (limit < end) return false;
          this.#failString('unterminated string');
        }
      } else {
        if (!this.#skipSpace(limit) && limit < end) return false;
        if (this.#next === 'comma' && this.#open.length === 0) break;
        this.#step();
      }
    }
    if (this.#position < end) this.#fail('extra characters after the JSON value');
    return true;
  }

  #step(): void {
    switch (this.#next) {
      case 'value':
        this.#value();
        break;
      case 'first key':
        if (this.#text[this.#position] === '}') this.#close();
        else this.#beginKey();
        break;
      case 'key':
        this.#beginKey();
        break;
      case 'colon':
        if (this.#text[this.#position] !== ':') this.#fail("expected ':'");
        this.#position++;
        this.#next = 'value';
        break;
      default:
        this.#continue();
    }
  }

  /** Whether brackets outside of strings nest deeper than is allowed. */
  #isDeep(): boolean {
    const { length } = this.#text;
    return length > JSON_DEPTH_MAX && this.#lastElementEnd(length) === TOO_DEEP;
  }

  #value(): void {
    this.#look?.();
    const container = this.#open.at(-1)?.container;
    if (this.#look !== undefined && Array.isArray(container) && this.#takePiece(container)) {
      this.#next = 'comma';
      return;
    }
    const character = this.#text[this.#position];
    switch (character) {
      case '{':
        this.#enter({});
        this.#next = 'first key';
        break;
      case '[':
        this.#enter([]);
        break;
      case ']':
        if (Array.isArray(container) && container.length === 0) this.#close();
        else this.#fail('unexpected character');
        break;
      case '"':
        this.#beginString(false);
        break;
      case 't':
        this.#put(this.#word('true', true));
        break;
      case 'f':
        this.#put(this.#word('false', false));
        break;
      case 'n':
        this.#put(this.#word('null', null));
        break;
      case undefined:
        this.#fail('unexpected end of JSON');
        break;
      default:
        this.#put(this.#number());
    }
  }

  #enter(container: Open['container']): void {
    this.#open.push({ container, key: '' });
    if (this.#open.length > JSON_DEPTH_MAX) {
      this.#fail(`nesting deeper than ${JSON_DEPTH_MAX} levels`);
    }
    this.#position++;
  }

  #close(): void {
    this.#position++;
    const { container } = this.#open.pop() as Open;
    this.#put(container);
  }

  /** Puts a value that has ended where it belongs. */
  #put(value: unknown): void {
    this.#next = 'comma';
    const parent = this.#open.at(-1);
    if (parent === undefined) {
      this.#result = value;
      return;
    }
    const { container, key } = parent;
    if (Array.isArray(container)) container.push(value);
    else if (key === '__proto__') {
      Object.defineProperty(container, key, {
        value,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } else container[key] = value;
  }

  #continue(): void {
    const isArray = Array.isArray((this.#open.at(-1) as Open).container);
    const bracket = isArray ? ']' : '}';
    const character = this.#text[this.#position];
    if (character === bracket) this.#close();
    else if (character === ',') {
      this.#position++;
      this.#next = isArray ? 'value' : 'key';
    } else this.#fail(`expected ',' or '${bracket}'`);
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
    const openCount = this.#open.length;
    let depth = openCount;
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
        if (--depth < openCount) return i;
      } else if (code === 0x2c && depth === openCount) end = i;
    }
    return end;
  }

  #beginKey(): void {
    if (this.#text[this.#position] !== '"') this.#fail('expected a string as object key');
    this.#beginString(true);
  }

  #beginString(isKey: boolean): void {
    this.#stringStart = this.#position++;
    this.#stringText = '';
    this.#isKey = isKey;
    this.#next = 'string';
  }

  /** Reads the string that is open up to its end or the limit. @returns whether it has ended */
  #readString(limit: number): boolean {
    const text = this.#text;
    const start = this.#position;
    let i = start;
    for (; i < limit; i++) {
      const code = text.charCodeAt(i);
      if (code === 0x22) break;
      // An escape is not cut in two.
      if (code === 0x5c) i += text.charCodeAt(i + 1) === 0x75 ? 5 : 1;
      else if (code < 0x20) {
        this.#position = i;
        this.#fail('control character in string');
      }
    }
    try {
      const isWhole = i < limit && start === this.#stringStart + 1;
      const literal = isWhole ? text.slice(start - 1, i + 1) : `"${text.slice(start, i)}"`;
      this.#stringText += JSON.parse(literal) as string;
    } catch {
      this.#failString(i > text.length ? 'unterminated string' : 'bad escape in string');
    }
    this.#position = i;
    if (i >= limit) return false;
    this.#position++;
    if (this.#isKey) {
      (this.#open.at(-1) as Open).key = this.#stringText;
      this.#next = 'colon';
    } else this.#put(this.#stringText);
    return true;
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

  /** @returns whether something else was found before the limit */
  #skipSpace(limit: number): boolean {
    for (; this.#position < limit; this.#position++) {
      const code = this.#text.charCodeAt(this.#position);
      if (code !== 0x20 && code !== LF && code !== 0x0d && code !== 0x09) return true;
    }
    return false;
  }

  #failString(reason: string): never {
    this.#position = this.#stringStart;
    return this.#fail(reason);
  }

  #fail(reason: string): never {
    throw new JsonSyntaxError(reason, this.#text, Math.min(this.#position, this.#text.length));
  }
}
