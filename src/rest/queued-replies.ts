// Replies to requests that a client sent without waiting for earlier ones. Node gives a reply its
// connection when its turn comes, and tells only that one when the client goes away.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export class QueuedReplies {
  readonly #gone = new WeakMap<Socket, Set<() => void>>();

  /** Destroys the reply and calls `onGone` when the connection closes before the reply's turn. */
  watch(response: ServerResponse, onGone: () => void): void {
    if (response.socket !== null) return;
    const { socket } = response.req;
    const waiting = this.#waitingOn(socket);
    const leave = () => {
      response.destroy();
      onGone();
    };
    waiting.add(leave);
    response.once('socket', () => waiting.delete(leave));
  }

  #waitingOn(socket: Socket): Set<() => void> {
    const known = this.#gone.get(socket);
    if (known !== undefined) return known;
    const waiting = new Set<() => void>();
    this.#gone.set(socket, waiting);
    socket.once('close', () => {
      for (const leave of waiting) leave();
    });
    return waiting;
  }
}
