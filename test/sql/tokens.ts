// Values as .slt files write them.

import { stringifyJson } from '../../src/util/exact-json.ts';

/** Splits a line at spaces that are neither inside of quotes nor of brackets. */
export function splitTokens(line: string): string[] {
  const tokens: string[] = [];
  let token = '';
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (isQuoted) {
      token += character;
      if (character === '\\') token += line.charAt(++i);
      else if (character === '"') isQuoted = false;
      continue;
    }
    if (depth === 0 && /\s/.test(character)) {
      if (token !== '') tokens.push(token);
      token = '';
      continue;
    }
    token += character;
    if (character === '"') isQuoted = true;
    else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
  }
  if (token !== '') tokens.push(token);
  return tokens;
}

/** What stands for a cell that a row does not have. */
export const ABSENT = '.';

/** What stands for a row without columns, since an empty line would end the record. */
export const NO_COLUMNS = '()';

/** A value of an answer as a token. */
export function formatValue(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return timestampOf(value) ?? stringifyJson(value);
}

/** The name of a column as a token: bare when nothing in it could be misread. */
export function formatName(name: string): string {
  return /^[^\s"[\]{}]+$/.test(name) ? name : JSON.stringify(name);
}

const RELATIVE_TOLERANCE = 1e-9;

/** Whether two tokens mean the same value. */
export function tokensAgree(expected: string, actual: string): boolean {
  if (expected === actual) return true;
  const a = toNumber(expected);
  const b = toNumber(actual);
  if (a === undefined || b === undefined) return false;
  return Math.abs(a - b) <= RELATIVE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** Whether a value is of the type that a letter of a query record stands for. */
export function hasType(letter: string, value: unknown): boolean {
  if (value === null) return true;
  switch (letter) {
    case 'I':
      return typeof value === 'bigint' || Number.isInteger(value);
    case 'R':
      return typeof value === 'number' || typeof value === 'bigint' || hasKey(value, 'num');
    case 'T':
      return typeof value === 'string';
    case 'S':
      return hasKey(value, 'ts');
    case 'V':
      return hasKey(value, 'interval');
    case 'B':
      return hasKey(value, 'blob');
    default:
      return true;
  }
}

/** Integers too large for a double are left to be compared as text. */
function toNumber(token: string): number | undefined {
  if (!/^-?\d[\d.]*([eE][+-]?\d+)?$/.test(token)) return undefined;
  const number = Number(token);
  return /^-?\d+$/.test(token) && !Number.isSafeInteger(number) ? undefined : number;
}

function timestampOf(value: unknown): string | undefined {
  const time = hasKey(value, 'ts') ? (value as { ts: unknown }).ts : undefined;
  return typeof time === 'string' ? time : undefined;
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}
