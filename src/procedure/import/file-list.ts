// The files that an importer reads: one URL, or several.
import { failure, RowanError } from '../../util/error.ts';

/** @throws MISSING_PARAMETER */
export function fileUrls(dataFileUrl: string | readonly string[] | undefined): readonly string[] {
  const urls = typeof dataFileUrl === 'string' ? [dataFileUrl] : (dataFileUrl ?? []);
  if (urls.length > 0 && !urls.includes('')) return urls;
  throw failure('MISSING_PARAMETER', 'dataFileUrl is a required property and must not be empty');
}

/** Says in which of several files it happened. */
export function withFile(thrown: unknown, dataFileUrl: string): unknown {
  if (!(thrown instanceof RowanError) || thrown.details?.dataFileUrl !== undefined) return thrown;
  const { code, httpCode, message, details, extra } = thrown;
  return new RowanError(code, httpCode, message, { ...details, dataFileUrl }, extra);
}
