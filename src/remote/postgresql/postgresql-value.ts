// Values of PostgreSQL in its text format as atoms, by the number of their type.
import { parseJson } from '../../util/exact-json.ts';
import { normalizeInteger } from '../../value/atom.ts';
import type { WireAtom } from '../../value/wire-value.ts';

/** Adds what a value is: an atom at its path, or several below it. */
export type Add = (path: readonly string[], atom: WireAtom) => void;
type Read = (text: string) => WireAtom;

const integer: Read = (text) => normalizeInteger(BigInt(text));
const number: Read = (text) => Number(text);
const bool: Read = (text) => Number(text === 't');
const instant: Read = (text) => ({ seconds: secondsOf(text) });
const bytes: Read = (text) => new Uint8Array(Buffer.from(text.slice(2), 'hex'));

const SCALARS: ReadonlyMap<number, Read> = new Map([
  [16, bool],
  [17, bytes],
  [20, integer],
  [21, integer],
  [23, integer],
  [26, integer],
  [700, number],
  [701, number],
  [1700, number],
  [1082, instant],
  [1114, instant],
  [1184, instant],
]);

const JSON_TYPES: ReadonlySet<number> = new Set([114, 3802]);

/** The types of arrays, each with that of its elements; others stay texts. */
const ARRAYS: ReadonlyMap<number, number> = new Map([
  [1000, 16],
  [1001, 17],
  [1005, 21],
  [1007, 23],
  [1016, 20],
  [1021, 700],
  [1022, 701],
  [1231, 1700],
  [1182, 1082],
  [1115, 1114],
  [1185, 1184],
  [1002, 18],
  [1009, 25],
  [1014, 1042],
  [1015, 1043],
  [2951, 2950],
  [199, 114],
  [3807, 3802],
]);

/** @param type the number of the type */
export function readValue(
  path: readonly string[],
  type: number,
  text: string | null,
  add: Add,
): void {
  const element = ARRAYS.get(type);
  if (text === null) add(path, null);
  else if (element !== undefined) readArray(path, element, text, add);
  else if (JSON_TYPES.has(type)) readJson(path, parseJson(text), add);
  else add(path, SCALARS.get(type)?.(text) ?? text);
}

function readJson(path: readonly string[], json: unknown, add: Add): void {
  if (typeof json === 'object' && json !== null) {
    for (const [name, member] of Object.entries(json)) readJson([...path, name], member, add);
  } else if (typeof json === 'boolean') add(path, Number(json));
  else if (typeof json === 'bigint') add(path, normalizeInteger(json));
  else add(path, (json ?? null) as WireAtom);
}

/** `{1,NULL,"a \"b\""}`, nested for several dimensions, perhaps behind bounds: `[0:1]={…}`. */
function readArray(path: readonly string[], element: number, text: string, add: Add): void {
  let position = text.indexOf('{');
  readList(path);

  function readList(at: readonly string[]): void {
    position++;
    for (let index = 0; text[position] !== '}'; index++) {
      const place = [...at, String(index)];
      if (text[position] === '{') readList(place);
      else readElement(place);
      if (text[position] === ',') position++;
    }
    position++;
  }

  function readElement(at: readonly string[]): void {
    if (text[position] === '"') {
      readValue(at, element, quotedText(), add);
      return;
    }
    const start = position;
    while (text[position] !== ',' && text[position] !== '}') position++;
    const plain = text.slice(start, position);
    readValue(at, element, plain === 'NULL' ? null : plain, add);
  }

  function quotedText(): string {
    let out = '';
    for (position++; text[position] !== '"'; position++) {
      if (text[position] === '\\') position++;
      out += text[position];
    }
    position++;
    return out;
  }
}

const INSTANT =
  /^(\d+)-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?))?(?:([+-])(\d\d)(?::?(\d\d))?(?::(\d\d))?)?( BC)?$/;

/** Dates and times in the ISO style; without a zone they are taken as UTC. */
function secondsOf(text: string): number {
  if (text === 'infinity') return Number.POSITIVE_INFINITY;
  if (text === '-infinity') return Number.NEGATIVE_INFINITY;
  const match = INSTANT.exec(text);
  if (match === null) return Number.NaN;
  const part = (index: number) => Number(match[index] ?? 0);
  const year = match[11] === undefined ? part(1) : 1 - part(1);
  const day = new Date(0);
  day.setUTCFullYear(year, part(2) - 1, part(3));
  const offset = part(8) * 3600 + part(9) * 60 + part(10);
  const time = part(4) * 3600 + part(5) * 60 + part(6);
  return day.getTime() / 1000 + time - (match[7] === '-' ? -offset : offset);
}
