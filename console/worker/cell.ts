// Values of Arrow as text and as plain values.
import { type Field, Type } from 'apache-arrow';
import type { ColumnKind } from './protocol.ts';

export function kindOf(field: Field): ColumnKind {
  if (field.metadata.get('rowan.mixed') === 'true') return 'mixed';
  switch (field.type.typeId) {
    case Type.Int:
    case Type.Int64:
    case Type.Uint64:
    case Type.Int32:
      return 'integer';
    case Type.Float:
    case Type.Float64:
      return 'number';
    case Type.Timestamp:
    case Type.TimestampMicrosecond:
      return 'timestamp';
    case Type.Interval:
      return 'interval';
    case Type.Binary:
    case Type.LargeBinary:
      return 'blob';
    default:
      return 'text';
  }
}

/** null: NULL */
export function cellText(value: unknown, kind: ColumnKind): string | null {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case 'timestamp':
      return timestampText(value as number);
    case 'interval':
      return intervalText(value);
    case 'blob':
      return `${(value as Uint8Array).length} bytes: ${hex((value as Uint8Array).subarray(0, 24))}`;
    default:
      return String(value);
  }
}

/** What copies hold: numbers as numbers where JSON can, everything else as text. */
export function plainValue(value: unknown, kind: ColumnKind): unknown {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case 'number':
      return value;
    case 'integer':
      return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
    case 'mixed':
      return parsed(String(value));
    case 'blob':
      return hex(value as Uint8Array);
    default:
      return cellText(value, kind);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Digits of the second only as far as they are needed. @param milliseconds perhaps with a fraction */
export function timestampText(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const date = new Date(whole);
  if (Number.isNaN(date.getTime())) return String(milliseconds);
  const microseconds = Math.round((milliseconds - whole) * 1000);
  const fraction = date.toISOString().slice(20, 23) + String(microseconds).padStart(3, '0');
  const digits = fraction.replace(/0+$/, '');
  return `${date.toISOString().slice(0, 19)}${digits === '' ? '' : `.${digits}`}Z`;
}

const NANOSECONDS = 1_000_000_000n;

/** Months, days, and nanoseconds in two words, as Arrow keeps them. */
function intervalText(value: unknown): string {
  if (!(value instanceof Int32Array) || value.length < 4) return String(value);
  const [months = 0, days = 0] = value;
  const [, nanoseconds = 0n] = new BigInt64Array(value.slice(0, 4).buffer);
  const seconds = Number(nanoseconds / NANOSECONDS) + Number(nanoseconds % NANOSECONDS) / 1e9;
  const parts = [
    months === 0 ? '' : `${months} MONTH`,
    days === 0 ? '' : `${days}D`,
    seconds === 0 && (months !== 0 || days !== 0) ? '' : `${seconds}S`,
  ];
  return parts.filter((part) => part !== '').join(' ');
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
