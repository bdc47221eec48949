/** A text of an expression, or of a list of them, that is the same wherever it stands in the query. */
export function textOfExpression(value: unknown): string {
  return JSON.stringify(value, (name, part: unknown) => {
    if (name === 'start' || name === 'end') return undefined;
    if (typeof part === 'bigint') return `${part}n`;
    return typeof part === 'number' && !Number.isFinite(part) ? `number ${part}` : part;
  });
}
