// The one form that failures take as replies, whatever transport carries them.
import { errorBody, RowanError } from '../../util/error.ts';
import type { Reply } from './request.ts';

/** `details` and the like are the error's own; what was not expected is a 500. */
export function failureReply(thrown: unknown, requestId: string): Reply {
  const { error, httpCode, code, details, ...extra } = errorBody(thrown);
  const headers: Record<string, string> = {};
  const allowed = thrown instanceof RowanError ? details?.allowedVerbs : undefined;
  if (Array.isArray(allowed)) headers.Allow = allowed.join(', ');
  if (httpCode === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (httpCode === 503) headers['Retry-After'] = '1';
  const body = { error, httpCode, code, ...(details === undefined ? {} : { details }), ...extra };
  return { status: httpCode, headers, json: { ...body, requestId } };
}
