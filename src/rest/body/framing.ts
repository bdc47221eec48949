// Where a request ends must be beyond doubt: a proxy in front that reads its framing in another way
// would take a part of it for a request of its own (RFC 9112, sections 6.1 and 11.2).
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { failure } from '../../util/error.ts';

/** Connections of which nothing that follows is believed. */
const misframed = new WeakSet<Socket>();

/** Whether a request of the connection was refused for its framing. */
export function isMisframed(socket: Socket): boolean {
  return misframed.has(socket);
}

/**
 * Refuses what Node's parser lets pass: it looks at the last transfer coding only.
 * @throws INVALID_PARAMETER; then for every further request of the connection
 */
export function checkFraming({ headers, socket }: IncomingMessage): void {
  const coding = headers['transfer-encoding'];
  if (coding === undefined && !misframed.has(socket)) return;
  if (coding?.toLowerCase() === 'chunked' && !misframed.has(socket)) return;
  misframed.add(socket);
  throw failure(
    'INVALID_PARAMETER',
    `Transfer-Encoding: '${coding ?? ''}' is not accepted; accepted is chunked alone`,
  );
}
