// URLs as Rowan takes them: a scheme is required, the rest belongs to the scheme.
import { failure } from '../util/error.ts';

export interface FileUrl {
  /** as it was given */
  readonly text: string;
  /** lower case, without `://` */
  readonly scheme: string;
  /** what stands behind `://`, undecoded */
  readonly rest: string;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

/** @throws INVALID_URL when there is no scheme */
export function parseFileUrl(text: string): FileUrl {
  const match = SCHEME.exec(text);
  if (match === null) {
    throw failure(
      'INVALID_URL',
      text === ''
        ? 'URL must not be empty (if you want a file, add file://)'
        : `Cannot accept URI without scheme (if you want a file, add file://): ${text}`,
      { url: text },
    );
  }
  return { text, scheme: (match[1] as string).toLowerCase(), rest: text.slice(match[0].length) };
}

/** Decodes percent escapes; text that is not validly escaped is taken as it is. */
export function decodePercent(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The URL that reads back as this path: only what decoding would change is escaped. */
export function fileUrlOf(path: string): string {
  return `file://${path.replaceAll('%', '%25')}`;
}

/** The lower-case last suffix of a name without its dot, or ''. A trailing `~` does not count. */
export function lastSuffix(name: string): string {
  const base = name.slice(name.lastIndexOf('/') + 1).replace(/~$/, '');
  const dot = base.lastIndexOf('.');
  return dot === -1 ? '' : base.slice(dot + 1).toLowerCase();
}
