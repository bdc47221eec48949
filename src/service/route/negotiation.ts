// What a client takes, as its headers say (RFC 9110, section 12.5).
import Negotiator from 'negotiator';
import type { FormatName } from '../../exec/output/format.ts';

const FORMATS_BY_TYPE: Readonly<Record<string, FormatName>> = {
  'application/json': 'full',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/vnd.apache.arrow.stream': 'arrow',
};
const FORMAT_TYPES = Object.keys(FORMATS_BY_TYPE);

/** The output format that an `Accept` header likes best; full when it names none of ours. */
export function acceptedFormat(accept: string): FormatName {
  const type = new Negotiator({ headers: { accept: plainTypes(accept) } }).mediaType(FORMAT_TYPES);
  return FORMATS_BY_TYPE[type ?? ''] ?? 'full';
}

/** Types without what describes them further, such as a charset: ours fit any. */
function plainTypes(accept: string): string {
  return accept.replace(/;\s*(?!q\s*=)[^;,]*/gi, '');
}

/** Whether an `Accept` header asks for a page rather than for JSON, as those of browsers do. */
export function prefersPage(accept = ''): boolean {
  return new Negotiator({ headers: { accept } }).mediaType(PAGE_OR_JSON) === 'text/html';
}

const PAGE_OR_JSON = ['application/json', 'text/html'];

/**
 * The coding that an `Accept-Encoding` header likes best; undefined for none.
 * @param codings what there is, the best first
 */
export function acceptedCoding<Coding extends string>(
  acceptEncoding: string | undefined,
  codings: readonly Coding[],
): Coding | undefined {
  if (acceptEncoding === undefined || acceptEncoding === '') return undefined;
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding } });
  const coding = negotiator.encoding([...codings, 'identity'], { preferred: codings });
  return coding === 'identity' ? undefined : (coding as Coding | undefined);
}
