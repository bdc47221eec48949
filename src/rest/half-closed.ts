// Clients that have sent all they will send. The end of what arrives is sent by those that only
// wait for their reply and by those that have left; only what is written to them tells which:
// the machine of a client that has left refuses it.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The first attempts are close together: work for nobody should end soon. */
const FIRST_PAUSE_MS = 10;
const PAUSE_MS_MAX = 2_000;
/** Where nothing may be asked, as between pieces of the reply, one must come in this time. */
const SILENCE_MS_MAX = 3_000;

/** Node would close connections at the end of what arrives, whatever reply is due. */
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
    // Clients of HTTP/1.0 do not know replies that only say that another one follows.
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
