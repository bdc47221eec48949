// & | ^ ~ on signed 64-bit integers. A null operand gives null.
import type { BitwiseOperator } from '../../sql/node.ts';
import { type Atom, isInteger, normalizeInteger } from '../../value/atom.ts';
import { conversionError, toBigint } from '../conversion.ts';
import type { AtomOperator } from './arithmetic.ts';

export const BITWISE: Readonly<Record<BitwiseOperator, AtomOperator>> = {
  '&': bitwise(
    (a, b) => a & b,
    (a, b) => a & b,
  ),
  '|': bitwise(
    (a, b) => a | b,
    (a, b) => a | b,
  ),
  '^': bitwise(
    (a, b) => a ^ b,
    (a, b) => a ^ b,
  ),
};

export function complementAtom(a: Atom): Atom {
  if (a === null) return null;
  return normalizeInteger(~toBigint(requireSigned(a)));
}

/** 32-bit operands, by far the most frequent, need no bigint. */
function bitwise(
  narrow: (a: number, b: number) => number,
  wide: (a: bigint, b: bigint) => bigint,
): AtomOperator {
  return (a, b) => {
    if (a === null || b === null) return null;
    if (isInt32(a) && isInt32(b)) return narrow(a, b);
    return normalizeInteger(wide(toBigint(requireSigned(a)), toBigint(requireSigned(b))));
  };
}

function isInt32(atom: Atom): atom is number {
  return typeof atom === 'number' && (atom | 0) === atom;
}

function requireSigned(atom: Atom): number | bigint {
  if (isInteger(atom) && atom < 2n ** 63n) return atom;
  throw conversionError(atom, 'integer');
}
