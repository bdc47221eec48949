// What to do with a body that no handler will read.
import type { IncomingMessage } from 'node:http';

/** How long, and for how many bytes, a refused body is still taken so that the reply arrives. */
const LINGER_MS = 1000;
const LINGER_BYTES_MAX = 64 * 2 ** 20;

/**
 * Closing a socket while bytes arrive resets the connection, and the client may never see why it
 * was refused. So what it sends is thrown away for a moment.
 */
export function lingerBeforeClose(request: IncomingMessage): void {
  const { socket } = request;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    let size = 0;
    request.on('data', (part: Buffer) => {
      size += part.length;
      if (size > LINGER_BYTES_MAX) socket.destroy();
    });
    request.resume();
    request.once('end', () => socket.destroy());
    socket.once('close', () => clearTimeout(timer));
  };
}
