// The texts that describe what modules export.

export interface Documented {
  __summary?: string;
  __markdown?: string;
}

/** Gives a function its texts; they are no enumerable members. */
export function documented<Value extends object>(
  value: Value,
  summary: string,
  markdown = summary,
): Value {
  Object.defineProperty(value, '__summary', { value: summary });
  Object.defineProperty(value, '__markdown', { value: markdown });
  return value;
}
