// Arguments and results of functions that are called from queries, in batches.
import { Atom } from './atom.ts';

/** null, numbers and texts stand for themselves; everything else is tagged. */
export type CallValue =
  | null
  | number
  | string
  | readonly ['undefined']
  | readonly ['number', 'NaN' | 'Inf' | '-Inf']
  | readonly ['integer', string]
  | readonly ['date', milliseconds: number | null]
  | readonly ['json', unknown]
  | readonly ['row', readonly (readonly [path: readonly string[], CallValue, ms: number | null])[]]
  | readonly ['object', names: readonly string[], values: readonly CallValue[]];

/** Calls a function once for each list of arguments. */
export function callBatch(
  apply: (...args: unknown[]) => unknown,
  calls: readonly (readonly CallValue[])[],
): CallValue[] {
  return calls.map((args) => encode(apply(...args.map(decode))));
}

function decode(value: CallValue): unknown {
  if (typeof value !== 'object' || value === null) return value;
  switch (value[0]) {
    case 'undefined':
      return undefined;
    case 'number':
      return value[1] === 'NaN' ? NaN : value[1] === 'Inf' ? Infinity : -Infinity;
    case 'integer':
      return BigInt(value[1]);
    case 'date':
      return new Date(value[1] ?? NaN);
    case 'json':
      return value[1];
    case 'row':
      return value[1].map(([path, member, ms]) => [path, decode(member), new Date(ms ?? NaN)]);
    case 'object':
      return Object.fromEntries(value[1].map((name, i) => [name, decode(value[2][i] ?? null)]));
  }
}

function encode(value: unknown): CallValue {
  switch (typeof value) {
    case 'number':
      if (Number.isFinite(value)) return value;
      return ['number', Number.isNaN(value) ? 'NaN' : value > 0 ? 'Inf' : '-Inf'];
    case 'string':
      return value;
    case 'boolean':
      return String(value);
    case 'bigint':
      return ['integer', String(value)];
    case 'object':
      return value === null ? null : encodeObject(value);
    default:
      return ['undefined'];
  }
}

const CELL_KEYS = ['ts', 'num', 'interval', 'blob', 'path'];

function encodeObject(value: object): CallValue {
  if (value instanceof Date) return ['date', value.getTime()];
  if (value instanceof Atom) return ['json', value.toJSON()];
  const names = Object.keys(value);
  if (names.length === 1 && CELL_KEYS.includes(names[0] as string) && !Array.isArray(value)) {
    return ['json', value];
  }
  const members = value as Record<string, unknown>;
  return ['object', names, names.map((name) => encode(members[name]))];
}
