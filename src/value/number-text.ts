// The text of numbers, and numbers from text.
import { normalizeInteger } from './atom.ts';

/**
 * The shortest digits that read back equal, in the dialect's layout: plain up to the digits there
 * are, zeros added while no longer than the scientific form + 5, else `D.DDDeX`.
 */
export function printNumber(value: number | bigint): string {
  if (typeof value === 'bigint') return value.toString();
  if (Number.isSafeInteger(value)) return Object.is(value, -0) ? '0' : value.toString();
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 63) {
    return BigInt(value).toString();
  }
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential()) as RegExpExecArray;
  const sign = match[1] as string;
  const digits = (match[2] as string) + (match[3] ?? '');
  const point = Number(match[4]) + 1;
  const count = digits.length;
  if (point > 0 && point <= count) {
    return `${sign}${digits.slice(0, point)}${point < count ? `.${digits.slice(point)}` : ''}`;
  }
  if (point > -7 && point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  const mantissa = count === 1 ? digits : `${digits[0]}.${digits.slice(1)}`;
  const scientific = `${mantissa}e${point - 1}`;
  if (point > count && point <= scientific.length + 5) {
    return sign + digits + '0'.repeat(point - count);
  }
  return sign + scientific;
}

const NUMBER = /^[ \t\n\r\f\v]*([+-]?)(?:(\d+)|(\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)$/;

/**
 * Reads a whole string as a number: leading white space, sign, decimal digits with fraction and
 * exponent, or inf, infinity, nan in any case. Not a number: undefined. The caller handles ''.
 */
export function parseNumber(text: string): number | bigint | undefined {
  const match = NUMBER.exec(text);
  if (match !== null) {
    const trimmed = text.trimStart();
    if (match[2] === undefined) return Number(trimmed);
    if (match[2].length < 16) {
      const value = Number(match[2]);
      return match[1] === '-' && value !== 0 ? -value : value;
    }
    return parseBigInteger(match[1] === '-', match[2]);
  }
  const word = /^[ \t\n\r\f\v]*([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (word === null) return undefined;
  if ((word[2] as string).toLowerCase() === 'nan') return Number.NaN;
  return word[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** Integers from -2^63 to 2^64-1 are exact; beyond they become doubles. */
export function parseBigInteger(negative: boolean, digits: string): number | bigint {
  if (digits.length > 400) return negative ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  const magnitude = BigInt(digits);
  const value = negative ? -magnitude : magnitude;
  if (value >= -(2n ** 63n) && value < 2n ** 64n) return normalizeInteger(value);
  return Number(value);
}
