// Values of Parquet files as atoms.
import type { SchemaElement } from 'hyparquet';
import type { Atom } from '../../value/atom.ts';
import { normalizeInteger } from '../../value/atom.ts';
import { Interval } from '../../value/interval.ts';
import { Timestamp } from '../../value/timestamp.ts';

/** A value as its page holds it. */
export type RawValue = number | bigint | boolean | Uint8Array;

/** How the values of a column become atoms; numbers need no change. */
export type ValueReader =
  | { readonly kind: 'numbers' }
  | { readonly kind: 'texts' }
  | { readonly kind: 'atoms'; atomOf(value: RawValue): Atom };

const JULIAN_EPOCH_DAYS = 2_440_588;
const NANOSECONDS_PER_DAY = 86_400_000_000_000n;
const SECONDS_PER_DAY = 86_400;

/** Makes atoms of the values of a column, by the types that its schema says. */
export function valueReader(element: SchemaElement): ValueReader {
  const { type, converted_type: converted, logical_type: logical } = element;
  const name = logical?.type ?? converted;
  if (converted === 'DECIMAL' || name === 'DECIMAL') return atoms(decimalReader(element));
  switch (type) {
    case 'BOOLEAN':
      return atoms((value) => (value === true || value === 1 ? 1 : 0));
    case 'INT32':
      if (name === 'DATE') {
        return atoms((value) => new Timestamp(Number(value) * SECONDS_PER_DAY));
      }
      if (name === 'TIME_MILLIS' || name === 'TIME') {
        return atoms((value) => secondsInterval(Number(value) / 1e3));
      }
      if (converted === 'UINT_32' || isUnsigned(element, 32)) {
        return atoms((value) => Number(value) >>> 0);
      }
      return { kind: 'numbers' };
    case 'INT64':
      return int64Reader(element);
    case 'INT96':
      return atoms((value) => new Timestamp(int96Seconds(BigInt(value as bigint))));
    case 'FLOAT':
    case 'DOUBLE':
      return { kind: 'numbers' };
    case 'BYTE_ARRAY':
      return name === 'UTF8' || name === 'STRING' || name === 'ENUM' || name === 'JSON'
        ? { kind: 'texts' }
        : atoms((value) => Uint8Array.from(value as Uint8Array));
    default:
      if (name === 'UUID') return atoms((value) => uuidText(value as Uint8Array));
      if (name === 'FLOAT16') return atoms((value) => halfFloat(value as Uint8Array));
      if (converted === 'INTERVAL') return atoms((value) => intervalOf(value as Uint8Array));
      return atoms((value) => Uint8Array.from(value as Uint8Array));
  }
}

function atoms(atomOf: (value: RawValue) => Atom): ValueReader {
  return { kind: 'atoms', atomOf };
}

function isUnsigned({ logical_type: logical }: SchemaElement, bits: number): boolean {
  return logical?.type === 'INTEGER' && logical.bitWidth === bits && !logical.isSigned;
}

function int64Reader(element: SchemaElement): ValueReader {
  const { converted_type: converted, logical_type: logical } = element;
  const unit =
    logical?.type === 'TIMESTAMP' || logical?.type === 'TIME'
      ? logical.unit
      : /_(MILLIS|MICROS)$/.exec(converted ?? '')?.[1];
  const perSecond = unit === 'NANOS' ? 1e9 : unit === 'MICROS' ? 1e6 : 1e3;
  if (logical?.type === 'TIMESTAMP' || converted?.startsWith('TIMESTAMP_') === true) {
    return atoms((value) => new Timestamp(secondsOf(BigInt(value as bigint), perSecond)));
  }
  if (logical?.type === 'TIME' || converted?.startsWith('TIME_') === true) {
    return atoms((value) => secondsInterval(Number(value) / perSecond));
  }
  if (converted === 'UINT_64' || isUnsigned(element, 64)) {
    return atoms((value) => normalizeInteger(BigInt.asUintN(64, BigInt(value as bigint))));
  }
  return { kind: 'numbers' };
}

/** Whole seconds and their fraction apart, so that neither is rounded more than it must. */
function secondsOf(value: bigint, perSecond: number): number {
  const unit = BigInt(perSecond);
  const whole = value / unit;
  return Number(whole) + Number(value - whole * unit) / perSecond;
}

function int96Seconds(value: bigint): number {
  const days = Number(BigInt.asIntN(32, value >> 64n)) - JULIAN_EPOCH_DAYS;
  const nanoseconds = BigInt.asUintN(64, value) % NANOSECONDS_PER_DAY;
  return days * SECONDS_PER_DAY + Number(nanoseconds) / 1e9;
}

function secondsInterval(seconds: number): Interval {
  return Interval.ofSigned(0, 0, seconds);
}

function intervalOf(bytes: Uint8Array): Interval {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const milliseconds = view.getUint32(8, true);
  return new Interval(view.getUint32(0, true), view.getUint32(4, true), milliseconds / 1e3);
}

/** The text of 16 bytes. */
export function uuidText(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes).toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function halfFloat(bytes: Uint8Array): number {
  const bits = (bytes[0] as number) | ((bytes[1] as number) << 8);
  const sign = bits >> 15 === 1 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  const value = exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
  return sign * value + 0;
}

/** An integer when there is no scale and it fits; a number that has the same digits; else text. */
function decimalReader({ scale = 0 }: SchemaElement): (value: RawValue) => Atom {
  return (value) => {
    const unscaled = value instanceof Uint8Array ? bigEndian(value) : BigInt(value as bigint);
    return decimalAtom(unscaled, scale);
  };
}

/** A decimal as an atom: the number with the same digits, else its text. */
export function decimalAtom(unscaled: bigint, scale: number): Atom {
  if (scale <= 0) {
    const whole = unscaled * 10n ** BigInt(-scale);
    if (whole >= -(2n ** 63n) && whole < 2n ** 64n) return normalizeInteger(whole);
    return whole.toString();
  }
  const text = decimalText(unscaled, scale);
  const number = Number(text);
  return sameDigits(number, unscaled, scale) ? number : text;
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const split = digits.length - scale;
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, split)}.${digits.slice(split)}`;
}

/** True when the shortest text of a double is the decimal. */
function sameDigits(number: number, unscaled: bigint, scale: number): boolean {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(number));
  if (match === null) return false;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const shift = scale - fraction.length + Number(exponent);
  const digits = BigInt(whole + fraction);
  const magnitude = unscaled < 0n ? -unscaled : unscaled;
  const isNegative = sign === '-';
  if (isNegative !== unscaled < 0n && magnitude !== 0n) return false;
  if (shift >= 0) return digits * 10n ** BigInt(shift) === magnitude;
  return digits === magnitude * 10n ** BigInt(-shift);
}

function bigEndian(bytes: Uint8Array): bigint {
  if (bytes.length === 0) return 0n;
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}
