// Values of ClickHouse in its format TabSeparated as atoms, by the names of their types.
import { normalizeInteger } from '../../value/atom.ts';
import type { WireAtom } from '../../value/wire-value.ts';

/** Adds what a value is: an atom at its path, or several below it. */
export type Add = (path: readonly string[], atom: WireAtom) => void;

/** What a type is, without what wraps it. */
export type ClickhouseType =
  | { readonly kind: 'integer'; readonly bits: number; readonly isSigned: boolean }
  | { readonly kind: 'wide' | 'float' | 'decimal' | 'string' | 'text' | 'other' }
  | { readonly kind: 'date' | 'date32' | 'datetime' | 'datetime64' }
  | { readonly kind: 'array'; readonly element: ColumnType }
  | { readonly kind: 'map'; readonly key: ColumnType; readonly value: ColumnType }
  | { readonly kind: 'tuple'; readonly members: readonly TupleMember[] };

export interface ColumnType {
  readonly type: ClickhouseType;
  readonly isNullable: boolean;
}

interface TupleMember extends ColumnType {
  readonly name: string;
}

const known = new Map<string, ColumnType>();

export function parseType(text: string): ColumnType {
  let found = known.get(text);
  if (found === undefined) {
    found = readType(text);
    known.set(text, found);
  }
  return found;
}

function readType(text: string): ColumnType {
  const [, outer = text, inner = ''] = /^(\w+)\s*\(([\s\S]*)\)$/.exec(text) ?? [];
  if (outer === 'Nullable') return { type: parseType(inner).type, isNullable: true };
  if (outer === 'LowCardinality') return parseType(inner);
  return { type: bareType(outer, inner), isNullable: false };
}

function bareType(outer: string, inner: string): ClickhouseType {
  const integer = /^(U?)Int(\d+)$/.exec(outer);
  if (integer !== null) {
    const bits = Number(integer[2]);
    return bits > 64 ? { kind: 'wide' } : { kind: 'integer', bits, isSigned: integer[1] === '' };
  }
  switch (outer) {
    case 'Bool':
      return { kind: 'integer', bits: 1, isSigned: false };
    case 'Float32':
    case 'Float64':
      return { kind: 'float' };
    case 'String':
      return { kind: 'string' };
    case 'Enum8':
    case 'Enum16':
    case 'UUID':
    case 'IPv4':
    case 'IPv6':
      return { kind: 'text' };
    case 'Date':
      return { kind: 'date' };
    case 'Date32':
      return { kind: 'date32' };
    case 'DateTime':
      return { kind: 'datetime' };
    case 'DateTime64':
      return { kind: 'datetime64' };
    case 'Array':
      return { kind: 'array', element: parseType(inner) };
    case 'Map': {
      const [key = '', value = ''] = splitList(inner);
      return { kind: 'map', key: parseType(key), value: parseType(value) };
    }
    case 'Tuple':
      return { kind: 'tuple', members: splitList(inner).map(tupleMember) };
  }
  return { kind: outer.startsWith('Decimal') ? 'decimal' : 'other' };
}

function tupleMember(text: string, index: number): TupleMember {
  const [, quoted, plain, type = text] =
    /^(?:`((?:[^`\\]|\\[\s\S])*)`|([A-Za-z_]\w*))\s+([\s\S]+)$/.exec(text) ?? [];
  const name = quoted?.replace(/\\([\s\S])/g, '$1') ?? plain ?? String(index);
  return { name, ...parseType(type) };
}

/** Parts between commas that stand in no brackets and no quotes. */
function splitList(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i] as string;
    if (character === "'" || character === '`') {
      for (i++; i < text.length && text[i] !== character; i++) if (text[i] === '\\') i++;
    } else if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth === 0) {
      parts.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  if (text.trim() !== '') parts.push(text.slice(start).trim());
  return parts;
}

/** @param field of the format TabSeparated, with its escapes */
export function readField(
  path: readonly string[],
  { type }: ColumnType,
  field: string,
  add: Add,
): void {
  if (field === '\\N') add(path, null);
  else if (type.kind === 'array' || type.kind === 'map' || type.kind === 'tuple') {
    new Nested(field).read(path, type, add);
  } else add(path, scalarOf(type, unescaped(field)));
}

const SINGLE: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  r: '\r',
  n: '\n',
  t: '\t',
  '0': '\0',
};

function unescaped(field: string): string {
  if (!field.includes('\\')) return field;
  return field.replace(/\\([\s\S])/g, (_, character: string) => SINGLE[character] ?? character);
}

function scalarOf(type: ClickhouseType, text: string): WireAtom {
  switch (type.kind) {
    case 'integer': {
      if (text === 'true' || text === 'false') return Number(text === 'true');
      const number = Number(text);
      return Number.isSafeInteger(number) ? number : normalizeInteger(BigInt(text));
    }
    case 'float':
      return numberOf(text);
    case 'wide':
    case 'decimal': {
      const number = numberOf(text);
      return isExact(text, number) ? number : text;
    }
    case 'date':
    case 'date32':
    case 'datetime':
    case 'datetime64':
      return {
        seconds: Date.parse(`${text.replace(' ', 'T')}${text.includes(' ') ? 'Z' : ''}`) / 1000,
      };
    default:
      return text;
  }
}

/** Doubles, of which there is one zero only. */
export function numberOf(text: string): number {
  switch (text) {
    case 'nan':
    case '-nan':
      return Number.NaN;
    case 'inf':
      return Number.POSITIVE_INFINITY;
    case '-inf':
      return Number.NEGATIVE_INFINITY;
  }
  return Number(text) + 0;
}

function isExact(text: string, number: number): boolean {
  const plain = /^-?\d+(?:\.\d+)?$/.test(text);
  const digits = text.replace(/^-|\./g, '').replace(/^0+/, '');
  return plain && Number.isFinite(number) && digits.length <= 15;
}

/** Arrays, maps and tuples, whose texts stand in quotes. */
class Nested {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(path: readonly string[], type: ClickhouseType, add: Add): void {
    switch (type.kind) {
      case 'array':
        this.#list(']', (index) => this.#element([...path, String(index)], type.element, add));
        return;
      case 'tuple':
        this.#list(')', (index) => {
          const member = type.members[index];
          if (member !== undefined) this.#element([...path, member.name], member, add);
        });
        return;
      case 'map':
        this.#list('}', () => {
          const key = this.#scalarText();
          this.#position++;
          this.#element([...path, key], type.value, add);
        });
        return;
      default: {
        const start = this.#position;
        const text = this.#scalarText();
        const isNull = this.#text.slice(start, this.#position) === 'NULL';
        add(path, isNull ? null : scalarOf(type, text));
      }
    }
  }

  #element(path: readonly string[], { type }: ColumnType, add: Add): void {
    if (this.#text.startsWith('NULL', this.#position)) {
      this.#position += 4;
      add(path, null);
    } else this.read(path, type, add);
  }

  #list(end: string, element: (index: number) => void): void {
    this.#position++;
    for (let index = 0; this.#position < this.#text.length; index++) {
      if (this.#text[this.#position] === end) break;
      element(index);
      if (this.#text[this.#position] === ',') this.#position++;
    }
    this.#position++;
  }

  #scalarText(): string {
    const start = this.#position;
    if (this.#text[start] !== "'") {
      while (
        this.#position < this.#text.length &&
        !',:])}'.includes(this.#text[this.#position] as string)
      ) {
        this.#position++;
      }
      return this.#text.slice(start, this.#position);
    }
    for (this.#position++; this.#text[this.#position] !== "'"; this.#position++) {
      if (this.#text[this.#position] === '\\') this.#position++;
      if (this.#position >= this.#text.length) break;
    }
    this.#position++;
    return unescaped(this.#text.slice(start + 1, this.#position - 1));
  }
}
