// JSON as text that people read. Integers past 2^53 arrive as bigint and keep their digits.

export function jsonText(value: unknown, indent = 2): string {
  return write(value, '', ' '.repeat(indent));
}

/** Short values stay on one line. */
const LINE_LENGTH_MAX = 76;

function write(value: unknown, margin: string, step: string): string {
  if (typeof value === 'bigint') return String(value);
  if (typeof value === 'number' && !Number.isFinite(value)) return `"${value}"`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const inner = margin + step;
  const isList = Array.isArray(value);
  const items = isList
    ? value.map((item) => write(item, inner, step))
    : Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([name, item]) => `${JSON.stringify(name)}: ${write(item, inner, step)}`);
  const [open, close] = isList ? '[]' : '{}';
  if (items.length === 0) return `${open}${close}`;
  const line = `${open}${items.join(', ')}${close}`;
  const fits = line.length + margin.length <= LINE_LENGTH_MAX && !line.includes('\n');
  if (step === '' || fits) return isList || step === '' ? line : `{ ${items.join(', ')} }`;
  return `${open}\n${items.map((item) => inner + item).join(',\n')}\n${margin}${close}`;
}
