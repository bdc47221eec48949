// Log lines as scripts write them.
import { stringifyJson } from './json.ts';

/** Strings as they are, objects as indented JSON, others by String(), joined by spaces. */
export function logLine(values: readonly unknown[]): string {
  return `${values.map(logText).join(' ')}\n`;
}

function logText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Error) return String(value);
  try {
    return stringifyJson(value, 2) ?? String(value);
  } catch {
    return String(value);
  }
}
