// Clients that have closed their sending side. A FIN comes both from a client that waits for its
// reply and from one that has left. Writing to the connection tells them apart: the machine of a
// client that has left answers with a reset.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The first attempts are close together, so that the work of a client that left ends soon. */
const FIRST_PAUSE_MS = 10;
const PAUSE_MS_MAX = 2_000;
/** Once the head is sent no interim reply may be: then a piece of the reply must be written in this time. */
const SILENCE_MS_MAX = 3_000;

/** By default Node closes a connection at its FIN, although a reply is due. */
export function admitHalfClosed(server: Server): void {
  // As old as Node's server, and not among its types.
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/** Closes the connection when its client has left before the whole reply was written. */
export function watchHalfClosed(request: IncomingMessage, response: ServerResponse): void {
  // Of the replies of a connection, the one that is being written is watched.
  if (response.socket === null) response.once('socket', () => watchCurrent(request, response));
  else watchCurrent(request, response);
}

function watchCurrent({ socket, httpVersion }: IncomingMessage, response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  let writtenBytes = 0;
  let silentMs = 0;
  const look = (): void => {
    if (response.writableEnded) return;
    // Clients of HTTP/1.0 do not know interim replies (1xx).
    if (!response.headersSent && httpVersion === '1.1') response.writeProcessing();
    const isSilent = socket.bytesWritten === writtenBytes && socket.writableLength === 0;
    writtenBytes = socket.bytesWritten;
    silentMs = isSilent ? silentMs + pauseMs : 0;
    if (silentMs >= SILENCE_MS_MAX) {
      socket.destroy();
      return;
    }
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
    timer = setTimeout(look, pauseMs);
  };
  const onEnd = (): void => {
    timer = setTimeout(look, pauseMs);
  };
  if (socket.readableEnded) onEnd();
  else socket.once('end', onEnd);
  response.once('close', () => {
    clearTimeout(timer);
    socket.off('end', onEnd);
  });
}
