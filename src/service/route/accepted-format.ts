// The output format of a query, as its parameter or the header Accept says.
import type { FormatName } from '../../exec/output/format.ts';

const ACCEPTED_TYPES: Readonly<Record<string, FormatName>> = {
  'application/json': 'full',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.arrow.stream': 'arrow',
};

/** What the Accept header likes best; between equals the one that it names first. */
export function acceptedFormat(accept: string): FormatName {
  let best: { format: FormatName; quality: number } = { format: 'full', quality: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    const format = ACCEPTED_TYPES[type];
    if (format !== undefined && quality > best.quality) best = { format, quality };
  }
  return best.format;
}
