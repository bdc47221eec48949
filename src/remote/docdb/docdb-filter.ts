// Conditions as filter documents, in extended JSON. A filter compares values of one type only, while
// values of other types have a place in Rowan's order; so what is of another type passes, and Rowan
// decides.
import type { Atom } from '../../value/atom.ts';
import { Timestamp } from '../../value/timestamp.ts';
import type { ComparisonSign, Condition } from '../condition.ts';

type Json = Readonly<Record<string, unknown>>;

const OPERATORS: Readonly<Record<ComparisonSign, string>> = {
  '=': '$eq',
  '<': '$lt',
  '<=': '$lte',
  '>': '$gt',
  '>=': '$gte',
};

/** @returns undefined for what cannot be said */
export function docdbFilter(condition: Condition): Json | undefined {
  switch (condition.kind) {
    case 'compare':
      return compare(condition.path, condition.sign, condition.atom);
    case 'null':
      return isNull(condition.path, condition.negated);
    case 'like':
      return like(condition.path, condition.pattern);
    case 'and': {
      const parts = condition.parts.map(docdbFilter).filter((part) => part !== undefined);
      return parts.length === 0 ? undefined : { $and: parts };
    }
    case 'or': {
      const parts = condition.parts.map(docdbFilter);
      return parts.includes(undefined) ? undefined : { $or: parts };
    }
  }
}

function compare(path: readonly string[], sign: ComparisonSign, atom: Atom): Json | undefined {
  const field = fieldOf(path);
  const value = comparedAs(atom);
  if (field === undefined || value === undefined) return undefined;
  const alternatives: Json[] = [
    { [field]: { [OPERATORS[sign]]: value.json } },
    { [field]: { $exists: true, $not: { $type: value.types } } },
  ];
  // Not a number is the least of the numbers here, and incomparable there.
  if (typeof atom === 'number' && sign.startsWith('<')) {
    alternatives.push({ [field]: { $eq: { $numberDouble: 'NaN' } } });
  }
  return { $or: alternatives };
}

/** A value, and the types whose values are compared with it as Rowan does. */
function comparedAs(atom: Atom): { readonly json: unknown; readonly types: string[] } | undefined {
  if (typeof atom === 'string') return { json: atom, types: ['string'] };
  if (typeof atom === 'number') {
    if (!Number.isFinite(atom)) return undefined;
    return { json: { $numberDouble: String(atom) }, types: ['double', 'int', 'long'] };
  }
  if (atom instanceof Timestamp) {
    const milliseconds = atom.seconds * 1000;
    if (!Number.isSafeInteger(milliseconds)) return undefined;
    return { json: { $date: { $numberLong: String(milliseconds) } }, types: ['date'] };
  }
  return undefined;
}

/** An object or array without members has no columns, so that it reads as null. */
function isNull(path: readonly string[], negated: boolean): Json | undefined {
  const field = fieldOf(path);
  if (field === undefined) return undefined;
  const nested = [{ [field]: { $type: 'object' } }, { [field]: { $type: 'array' } }];
  return { $or: [{ [field]: negated ? { $ne: null } : null }, ...nested] };
}

/** What stands before the first wildcard. */
function like(path: readonly string[], pattern: string): Json | undefined {
  const field = fieldOf(path);
  const prefix = /^[^%_\\]*/.exec(pattern)?.[0] ?? '';
  if (field === undefined || prefix === '') return undefined;
  const escaped = prefix.replace(/[.*+?^${}()|[\]\\/#\s-]/g, '\\$&');
  return {
    $or: [
      { [field]: { $regularExpression: { pattern: `^${escaped}`, options: '' } } },
      { [field]: { $exists: true, $not: { $type: ['string'] } } },
    ],
  };
}

/** A path of members; undefined where an element means something else to the server. */
export function fieldOf(path: readonly string[]): string | undefined {
  const isPlain = path.every((element) => element !== '' && !/^\$|[.\0]/.test(element));
  return isPlain ? path.join('.') : undefined;
}
