// Paths: the names of rows and columns.
import { failure } from '../util/error.ts';
import { compareElements, compareText } from './natural-order.ts';

/** A list of elements; the empty list is the null path, which names neither a row nor a column. */
export class Path {
  readonly elements: readonly string[];
  #printed: string | undefined;

  constructor(elements: readonly string[]) {
    this.elements = elements;
  }

  /** A path of one element, whatever characters it has. */
  static of(...elements: string[]): Path {
    return new Path(elements);
  }

  get length(): number {
    return this.elements.length;
  }

  /** The printed form: elements joined by dots, quoted where they need it. */
  toString(): string {
    if (this.#printed === undefined) {
      const { elements } = this;
      this.#printed =
        elements.length === 1
          ? printElement(elements[0] as string)
          : elements.map(printElement).join('.');
    }
    return this.#printed;
  }

  /** The text of the path as a value: a single element stays bare (CAST, string `+`). */
  toText(): string {
    return this.elements.length === 1 ? (this.elements[0] as string) : this.toString();
  }

  concat(other: Path): Path {
    return new Path([...this.elements, ...other.elements]);
  }

  slice(start: number, end?: number): Path {
    return new Path(this.elements.slice(start, end));
  }

  startsWith(prefix: Path): boolean {
    if (prefix.length > this.length) return false;
    return prefix.elements.every((element, index) => this.elements[index] === element);
  }

  equals(other: Path): boolean {
    return this.length === other.length && this.startsWith(other);
  }

  /** Parses a printed form. @throws INVALID_PARAMETER with the reason and the place */
  static parse(text: string): Path {
    if (!NEEDS_PARSER.test(text)) return new Path([text]);
    return new Path(parseElements(text));
  }
}

/** Any dot, quote or control character: such a text is not simply one element. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const NEEDS_PARSER = /[."\u0000-\u001f]/;

/** Whether UTF-8 is one element that prints as it is: not empty, and nothing that `NEEDS_PARSER` finds. */
export function isPlainElement(utf8: Uint8Array, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = utf8[i] as number;
    if (byte === DOT || byte === QUOTE || byte < SPACE) return false;
  }
  return start < end;
}

const SPACE = 0x20;
const QUOTE = 0x22;
const DOT = 0x2e;

/** Natural order, element by element; a proper prefix comes first. */
export function comparePaths(a: Path, b: Path): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const order = compareElements(a.elements[i] as string, b.elements[i] as string);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

/** The order of paths as values: the null path first, then by the bytes of their text. */
export function comparePathValues(a: Path, b: Path): number {
  if (a.length === 0 || b.length === 0) return a.length - b.length;
  return compareText(a.toText(), b.toText());
}

/** An element as SQL writes it: quoted where it has to be. */
export function printElement(element: string): string {
  if (element !== '' && !NEEDS_PARSER.test(element)) return element;
  return `"${element.replaceAll('"', '""')}"`;
}

/** `0` or a digit string without a leading zero, at most 12 digits. */
export function isIndexElement(element: string): boolean {
  return /^(0|[1-9][0-9]{0,11})$/.test(element);
}

function parseElements(text: string): string[] {
  const elements: string[] = [];
  let position = 0;
  for (;;) {
    if (text[position] === '"') {
      const [element, end] = parseQuotedElement(text, position);
      elements.push(element);
      position = end;
    } else {
      const dot = text.indexOf('.', position);
      const end = dot === -1 ? text.length : dot;
      elements.push(checkBareElement(text.slice(position, end)));
      position = end;
    }
    if (position === text.length) return elements;
    if (text[position] !== '.') {
      throw failure(
        'INVALID_PARAMETER',
        `expected '.' between elements in Path ${JSON.stringify(text)}`,
      );
    }
    position++;
  }
}

function parseQuotedElement(text: string, start: number): [string, number] {
  let element = '';
  let position = start + 1;
  for (;;) {
    const quote = text.indexOf('"', position);
    if (quote === -1) {
      throw failure(
        'INVALID_PARAMETER',
        `PathElement terminated incorrectly: ${JSON.stringify(text)}`,
      );
    }
    element += text.slice(position, quote);
    if (text[quote + 1] !== '"') return [checkNoNul(element), quote + 1];
    element += '"';
    position = quote + 2;
  }
}

function checkBareElement(element: string): string {
  if (element.includes('"')) {
    throw failure(
      'INVALID_PARAMETER',
      `invalid char in PathElement '${element}'.  Quotes must be doubled.`,
    );
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  if (/[\u0000-\u001f]/.test(element)) {
    throw failure(
      'INVALID_PARAMETER',
      'Special characters must be quoted and nulls are not accepted.',
    );
  }
  return element;
}

function checkNoNul(element: string): string {
  if (element.includes('\u0000')) {
    throw failure(
      'INVALID_PARAMETER',
      'Special characters must be quoted and nulls are not accepted.',
    );
  }
  return element;
}
