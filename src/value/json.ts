// The JSON forms of atoms, in and out. Text is written directly: integers keep all their digits.
import { failure } from '../util/error.ts';
import type { Atom } from './atom.ts';
import { normalizeInteger } from './atom.ts';
import { Interval, parseInterval } from './interval.ts';
import { Path } from './path.ts';
import { parseTimestamp, Timestamp } from './timestamp.ts';

/** JSON text of an atom as query output and stored cells have it. */
export function atomToJsonText(atom: Atom): string {
  if (atom === null) return 'null';
  switch (typeof atom) {
    case 'number':
      return numberToJsonText(atom);
    case 'bigint':
      return atom.toString();
    case 'string':
      return JSON.stringify(atom);
  }
  if (atom instanceof Timestamp) return `{"ts":"${atom.toString()}"}`;
  if (atom instanceof Interval) return `{"interval":"${atom.toString()}"}`;
  if (atom instanceof Path) return `{"path":${JSON.stringify(atom.elements)}}`;
  return `{"blob":${JSON.stringify(blobToJson(atom))}}`;
}

function numberToJsonText(value: number): string {
  if (Number.isFinite(value)) {
    return Number.isInteger(value) &&
      Math.abs(value) >= 1e21 === false &&
      !Number.isSafeInteger(value)
      ? BigInt(value).toString()
      : String(value === 0 ? 0 : value);
  }
  return `{"num":"${specialNumberText(value)}"}`;
}

/** `NaN`, `Inf` or `-Inf`. */
export function specialNumberText(value: number): string {
  return Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '-Inf';
}

/** JSON text of an atom in the `table` format: plain text instead of objects, except for blobs. */
export function atomToPlainJsonText(atom: Atom): string {
  if (typeof atom === 'number' && !Number.isFinite(atom)) return `"${specialNumberText(atom)}"`;
  if (atom instanceof Timestamp || atom instanceof Interval) return `"${atom.toString()}"`;
  if (atom instanceof Path) return JSON.stringify(atom.toString());
  return atomToJsonText(atom);
}

/** Runs of two or more printable bytes as text, every other byte as a number. */
export function blobToJson(bytes: Uint8Array): (string | number)[] {
  const out: (string | number)[] = [];
  let i = 0;
  while (i < bytes.length) {
    let end = i;
    while (end < bytes.length && isPrintable(bytes[end] as number)) end++;
    if (end - i >= 2) {
      out.push(String.fromCharCode(...bytes.subarray(i, Math.min(end, i + 4096))));
      i = Math.min(end, i + 4096);
    } else {
      out.push(bytes[i] as number);
      i++;
    }
  }
  return joinRuns(out);
}

/** Long runs are cut for `fromCharCode`; the cuts are no part of the form. */
function joinRuns(parts: (string | number)[]): (string | number)[] {
  const out: (string | number)[] = [];
  for (const part of parts) {
    const last = out.length - 1;
    if (typeof part === 'string' && typeof out[last] === 'string') out[last] += part;
    else out.push(part);
  }
  return out;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte <= 0x7e) || byte === 9 || byte === 10 || byte === 13;
}

/**
 * Reads a cell's JSON form (already parsed; big integers as bigint). Booleans become 1 and 0.
 * @throws INVALID_PARAMETER for arrays and for objects that are no cell form
 */
export function atomFromJson(json: unknown): Atom {
  switch (typeof json) {
    case 'number':
      return json === 0 ? 0 : json;
    case 'bigint':
      return normalizeInteger(json);
    case 'string':
      return json;
    case 'boolean':
      return json ? 1 : 0;
  }
  if (json === null) return null;
  if (typeof json === 'object' && !Array.isArray(json)) {
    const entries = Object.entries(json);
    const [key, content] = entries[0] ?? ['', undefined];
    const read = Object.hasOwn(CELL_FORMS, key)
      ? CELL_FORMS[key as keyof typeof CELL_FORMS]
      : undefined;
    if (entries.length === 1 && read !== undefined) return read(content);
  }
  throw failure(
    'INVALID_PARAMETER',
    `cell value ${previewJson(json)} is not an atom; accepted are null, numbers, strings, booleans and objects with exactly one key of ts, num, interval, blob, path`,
  );
}

const CELL_FORMS = {
  ts: (content: unknown): Atom => new Timestamp(timestampFromJson(content)),
  num: (content: unknown): Atom => {
    switch (content) {
      case 'NaN':
      case '-NaN':
        return Number.NaN;
      case 'Inf':
        return Number.POSITIVE_INFINITY;
      case '-Inf':
        return Number.NEGATIVE_INFINITY;
    }
    throw failure('INVALID_PARAMETER', `Unknown numeric value ${previewJson(content)}`);
  },
  interval: (content: unknown): Atom => {
    if (typeof content === 'string') return parseInterval(content);
    throw failure('INVALID_PARAMETER', `interval ${previewJson(content)} is not a string`);
  },
  blob: (content: unknown): Atom => blobFromJson(content),
  path: (content: unknown): Atom => {
    if (Array.isArray(content)) return new Path(content.map(pathElementFromJson));
    throw failure('INVALID_PARAMETER', `path ${previewJson(content)} is not an array of strings`);
  },
};

/** A date on input: seconds since the epoch or ISO text. @returns seconds */
export function timestampFromJson(json: unknown): number {
  if (typeof json === 'number') return json;
  if (typeof json === 'bigint') return Number(json);
  if (typeof json === 'string') {
    const seconds = parseTimestamp(json);
    if (seconds !== null && !(Number.isNaN(seconds) && !/^\s*Na[DN]\s*$/.test(json)))
      return seconds;
  }
  if (typeof json === 'object' && json !== null && Object.keys(json).length === 1 && 'ts' in json) {
    return timestampFromJson(json.ts);
  }
  throw failure(
    'INVALID_PARAMETER',
    `timestamp ${previewJson(json)} is neither seconds since the epoch nor ISO 8601 text`,
  );
}

/** A row or column name on input: printed form, integer, or array of elements. */
export function pathFromJson(json: unknown): Path {
  if (typeof json === 'string') return Path.parse(json);
  if ((typeof json === 'number' && Number.isInteger(json)) || typeof json === 'bigint') {
    return new Path([String(json)]);
  }
  if (Array.isArray(json)) return new Path(json.map(pathElementFromJson));
  throw failure(
    'INVALID_PARAMETER',
    `Unparseable JSON Path value ${previewJson(json)}; accepted are text, an integer or an array of elements`,
  );
}

function pathElementFromJson(json: unknown): string {
  if (typeof json === 'string') {
    if (!json.includes('\u0000')) return json;
  } else if (typeof json === 'number' || typeof json === 'bigint') return String(json);
  else if (typeof json === 'boolean') return json ? '1' : '0';
  throw failure('INVALID_PARAMETER', `Unparseable JSON Path value: element ${previewJson(json)}`);
}

function blobFromJson(json: unknown): Uint8Array {
  if (json === null) return new Uint8Array(0);
  if (!Array.isArray(json)) {
    throw failure(
      'INVALID_PARAMETER',
      `blob ${previewJson(json)} is not an array of bytes and strings`,
    );
  }
  const parts = json.map((part: unknown) => {
    if (typeof part === 'string') return new TextEncoder().encode(part);
    if (typeof part === 'number' && Number.isInteger(part) && part >= 0 && part <= 255) {
      return Uint8Array.of(part);
    }
    throw failure(
      'INVALID_PARAMETER',
      `blob element ${previewJson(part)} is not a byte 0-255 or a string`,
    );
  });
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    out.set(part, offset);
    offset += part.length;
  }
  return out;
}

/** A short rendering of arbitrary JSON for messages. */
export function previewJson(json: unknown): string {
  const text =
    json === undefined
      ? 'undefined'
      : JSON.stringify(json, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
