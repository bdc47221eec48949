// Bounds what one connection may ask ahead. HTTP lets a client send requests without waiting for
// replies; Node takes all that come, and each costs memory until its turn to be answered.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Replies that may wait for their turn on a connection before no more is read from it. */
const WAITING_COUNT_MAX = 64;

interface Connection {
  waitingCount: number;
  isHeld: boolean;
}

const connections = new WeakMap<Socket, Connection>();

/** Notes a request whose reply must wait for earlier ones of its connection. */
export function boundPipelining(response: ServerResponse): void {
  const { socket } = response.req;
  const connection = connections.get(socket) ?? follow(socket);
  if (++connection.waitingCount >= WAITING_COUNT_MAX && !connection.isHeld) {
    connection.isHeld = true;
    socket.pause();
  }
  response.once('socket', () => {
    connection.waitingCount--;
    if (!connection.isHeld || connection.waitingCount > WAITING_COUNT_MAX / 2) return;
    connection.isHeld = false;
    socket.resume();
  });
}

function follow(socket: Socket): Connection {
  const connection: Connection = { waitingCount: 0, isHeld: false };
  connections.set(socket, connection);
  // Node goes on reading when a request has come to its end; this stops it before a byte is taken.
  socket.on('resume', () => {
    if (!connection.isHeld) return;
    socket.pause();
    // Where it counts as paused, that alone would not stop what has just been started.
    socket.emit('pause');
  });
  return connection;
}
