// Atoms of the service that JavaScript has no value for, and cells in both directions.

import { plainText } from './json.ts';

/** An interval, a blob or a path; opaque: it can be kept, compared as JSON and recorded again. */
export class Atom {
  readonly #cell: Readonly<Record<string, unknown>>;

  /** @param cell the JSON form: `{"interval": …}`, `{"blob": …}` or `{"path": …}` */
  constructor(cell: Readonly<Record<string, unknown>>) {
    this.#cell = cell;
    Object.freeze(this);
  }

  toJSON(): unknown {
    return this.#cell;
  }

  toString(): string {
    const content = Object.values(this.#cell)[0];
    return typeof content === 'string' ? content : plainText(content);
  }
}

/** The JSON form of a cell as a value of JavaScript; rows and nested arrays are converted inside. */
export function fromCell(json: unknown): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (Array.isArray(json)) return json.map(fromCell);
  const entries = Object.entries(json);
  if (entries.length === 1) {
    const [key, content] = entries[0] as [string, unknown];
    if (key === 'ts') return new Date(content as string);
    if (key === 'num') return content === 'NaN' ? NaN : content === 'Inf' ? Infinity : -Infinity;
    if (key === 'interval' || key === 'blob' || key === 'path') {
      return new Atom(json as Record<string, unknown>);
    }
  }
  return Object.fromEntries(entries.map(([name, member]) => [name, fromCell(member)]));
}

/** A value of JavaScript as the JSON form of a cell; what is no atom stays as it is. */
export function toCell(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value === 'number' && !Number.isFinite(value)) {
    return { num: Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '-Inf' };
  }
  return value instanceof Date ? { ts: value.toISOString() } : value;
}

/** A timestamp argument: dates become seconds since the epoch. */
export function toTimestamp(value: unknown): unknown {
  return value instanceof Date ? value.getTime() / 1000 : value;
}
