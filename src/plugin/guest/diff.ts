// Differences of JSON values, and their application.
import { stringifyJson } from './json.ts';

export interface Diff {
  /** differences of the members of an object */
  f?: Record<string, Diff>;
  '-'?: unknown;
  '+'?: unknown;
}

/** `{}` when equal. @param strict false: texts and numbers of equal printed form are equal */
export function diff(before: unknown, after: unknown, strict = true): Diff {
  if (isObject(before) && isObject(after)) return diffObjects(before, after, strict);
  return isEqual(before, after, strict) ? {} : { '-': before, '+': after };
}

function diffObjects(
  before: Record<string, unknown>,
  after: Record<string, unknown>,
  strict: boolean,
): Diff {
  const members: Record<string, Diff> = {};
  for (const [name, value] of Object.entries(before)) {
    if (!Object.hasOwn(after, name)) {
      members[name] = { '-': value };
      continue;
    }
    const inner = diff(value, after[name], strict);
    if (!isEmpty(inner)) members[name] = inner;
  }
  for (const [name, value] of Object.entries(after)) {
    if (!Object.hasOwn(before, name)) members[name] = { '+': value };
  }
  return Object.keys(members).length === 0 ? {} : { f: members };
}

/** @returns the patched value, and the part of the difference that did not apply */
export function patch(value: unknown, difference: Diff): [patched: unknown, rest: Diff] {
  if (difference.f !== undefined) return patchObject(value, difference.f);
  if (isEmpty(difference)) return [value, {}];
  const applies = Object.hasOwn(difference, '-')
    ? isEqual(value, difference['-'], true)
    : value === undefined;
  return applies ? [difference['+'], {}] : [value, difference];
}

function patchObject(value: unknown, members: Record<string, Diff>): [unknown, Diff] {
  if (!isObject(value)) return [value, { f: members }];
  const patched: Record<string, unknown> = { ...value };
  const rest: Record<string, Diff> = {};
  for (const [name, difference] of Object.entries(members)) {
    const old = Object.hasOwn(value, name) ? value[name] : undefined;
    const [member, unapplied] = patch(old, difference);
    if (!isEmpty(unapplied)) rest[name] = unapplied;
    else if (member === undefined) delete patched[name];
    else patched[name] = member;
  }
  return [patched, Object.keys(rest).length === 0 ? {} : { f: rest }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isEmpty(difference: Diff): boolean {
  return Object.keys(difference).length === 0;
}

function isEqual(a: unknown, b: unknown, strict: boolean): boolean {
  if (canonicalText(a) === canonicalText(b)) return true;
  return !strict && isAtom(a) && isAtom(b) && Number(a) === Number(b);
}

function isAtom(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && value.trim() !== '');
}

/** JSON text with the members of objects in order of their names. */
function canonicalText(value: unknown): string | undefined {
  return stringifyJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value) || typeof (value as { toJSON?: unknown }).toJSON === 'function') {
    return value;
  }
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, sorted(value[name])]));
}
