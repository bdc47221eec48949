// The target of a request line: where the path ends, and the bytes that Node hands over as Latin-1.
import { failure } from '../util/error.ts';

export interface RequestTarget {
  /** percent-encoded as it was sent; raw UTF-8 became text */
  readonly path: string;
  /** without `?`, empty when there is none */
  readonly query: string;
}

/** @throws INVALID_PARAMETER when raw bytes are not UTF-8 */
export function parseTarget(url: string): RequestTarget {
  let text = url;
  if (!text.startsWith('/')) text = withoutOrigin(text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the test is for bytes beyond ASCII
  if (/[^\x00-\x7f]/.test(text)) text = decodeRawBytes(text);
  const mark = text.indexOf('?');
  if (mark < 0) return { path: text, query: '' };
  return { path: text.slice(0, mark), query: text.slice(mark + 1) };
}

/** Proxies send `http://host/path`; `*` stands for the server itself. */
function withoutOrigin(url: string): string {
  const match = /^https?:\/\/[^/?]*(.*)$/is.exec(url);
  if (match === null) return url;
  const rest = match[1] ?? '';
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function decodeRawBytes(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
  } catch {
    throw failure('INVALID_PARAMETER', 'request target has bytes that are not UTF-8');
  }
}
