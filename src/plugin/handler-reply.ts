// What a request handler of a plugin gave, as a reply; the framing of it is the server's alone.
import type { Reply } from '../service/route/request.ts';
import { failure } from '../util/error.ts';
import type { HandlerReply } from './message.ts';

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** They say how bytes are sent, not what they mean. */
const FRAMING_HEADERS = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** @throws SCRIPT_EXCEPTION for a status or headers that cannot be sent */
export function replyOf({ status, contentType, headers, encoding, body }: HandlerReply): Reply {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw failure(
      'SCRIPT_EXCEPTION',
      `a plugin answered with the status ${status}; accepted are 200 to 599`,
    );
  }
  checkHeader('Content-Type', contentType);
  let type = contentType;
  const others: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    checkHeader(name, value);
    if (name.toLowerCase() === 'content-type') type = value;
    else others[name] = value;
  }
  const reply = { status, headers: others, contentType: type };
  if (encoding !== 'latin1') return { ...reply, text: body };
  return { ...reply, bytes: Buffer.from(body, 'latin1') };
}

function checkHeader(name: string, value: string): void {
  if (FRAMING_HEADERS.has(name.toLowerCase())) {
    throw failure('SCRIPT_EXCEPTION', `a plugin may not set the header ${name}`);
  }
  if (HEADER_NAME.test(name) && HEADER_VALUE.test(value)) return;
  throw failure('SCRIPT_EXCEPTION', `a plugin answered with an invalid header ${name}`);
}
