// Values of queries on their way into script functions and back.

import type { Atom } from '../value/atom.ts';
import { normalizeInteger } from '../value/atom.ts';
import { atomFromJson, atomToJsonText, specialNumberText } from '../value/json.ts';
import { MINUS_INFINITY, NOT_A_DATE, Timestamp } from '../value/timestamp.ts';
import { Row, Scalar, sortedRow, type Value } from '../value/value.ts';
import type { WireValue } from '../value/wire-value.ts';
import { valueFromWire, valueToWire } from '../value/wire-value.ts';
import type { CallValue } from './guest/call-batch.ts';

/** An argument as scripts see it: a row is an array of `[path, value, timestamp]`, one an atom. */
export function toCallValue(wire: WireValue): CallValue {
  // Most arguments are plain numbers and texts, which need no detour.
  if (wire.kind === 'scalar' && isPlain(wire.atom)) return wire.atom;
  const value = valueFromWire(wire);
  if (value instanceof Scalar) return atomToCall(value.atom);
  const cells: [readonly string[], CallValue, number | null][] = [];
  collectCells([], value, cells);
  return ['row', cells];
}

export function fromCallValue(result: CallValue): WireValue {
  if (isPlain(result)) return { kind: 'scalar', atom: result, ts: MINUS_INFINITY };
  return valueToWire(valueFromCall(result));
}

function isPlain(value: unknown): value is number | string {
  return (
    typeof value === 'string' ||
    (typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0))
  );
}

function collectCells(
  path: readonly string[],
  value: Value,
  cells: [readonly string[], CallValue, number | null][],
): void {
  if (value instanceof Scalar) {
    cells.push([path, atomToCall(value.atom), milliseconds(value.ts)]);
    return;
  }
  if (value instanceof Row) {
    for (const [i, name] of value.names.entries()) {
      collectCells([...path, name], value.values[i] as Value, cells);
    }
    return;
  }
  for (const [i, atom] of value.atoms.entries()) {
    cells.push([[...path, ...indexPath(value.shape, i)], atomToCall(atom), milliseconds(value.ts)]);
  }
}

/** The position of an atom in every dimension of an embedding. */
function indexPath(shape: readonly number[], index: number): string[] {
  const path: string[] = [];
  for (let dimension = shape.length - 1; dimension >= 0; dimension--) {
    const size = shape[dimension] as number;
    path.unshift(String(index % size));
    index = Math.floor(index / size);
  }
  return path;
}

function atomToCall(atom: Atom): CallValue {
  switch (typeof atom) {
    case 'string':
      return atom;
    case 'number':
      return Number.isFinite(atom)
        ? atom
        : ['number', specialNumberText(atom) as 'NaN' | 'Inf' | '-Inf'];
    case 'bigint':
      return ['integer', String(atom)];
  }
  if (atom === null) return null;
  if (atom instanceof Timestamp) return ['date', milliseconds(atom.seconds)];
  return ['json', JSON.parse(atomToJsonText(atom))];
}

/** Dates of JavaScript have no infinities: those are invalid dates. */
function milliseconds(seconds: number): number | null {
  return Number.isFinite(seconds) ? seconds * 1000 : null;
}

/** `undefined` is a null that is no date; everything else gets its timestamp from the caller. */
function valueFromCall(result: CallValue): Value {
  if (result === null) return new Scalar(null, MINUS_INFINITY);
  if (typeof result !== 'object') return new Scalar(result === 0 ? 0 : result, MINUS_INFINITY);
  switch (result[0]) {
    case 'undefined':
      return new Scalar(null, NOT_A_DATE);
    case 'integer':
      return new Scalar(normalizeInteger(BigInt(result[1])), MINUS_INFINITY);
    case 'number':
      return new Scalar(atomFromJson({ num: result[1] }), MINUS_INFINITY);
    case 'date':
      return new Scalar(new Timestamp((result[1] ?? Number.NaN) / 1000), MINUS_INFINITY);
    case 'json':
      return new Scalar(atomFromJson(result[1]), MINUS_INFINITY);
    case 'row':
      throw new Error('rows of cells go into scripts, not out of them');
    case 'object':
      return rowOf(result[1], result[2]);
  }
}

/** Members that are undefined do not exist. */
function rowOf(names: readonly string[], values: readonly CallValue[]): Row {
  const kept = names
    .map((name, index) => [name, values[index] ?? null] as const)
    .filter(([, value]) => !(Array.isArray(value) && value[0] === 'undefined'));
  return sortedRow(
    kept.map(([name]) => name),
    kept.map(([, value]) => valueFromCall(value)),
  );
}
