// A claim on a directory that no file stands for, so that nobody can remove it: a name among the
// abstract sockets of Linux, which the kernel gives to one process and takes back when that ends.
// Elsewhere, and between machines that share a disk, there is the lock file alone.
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';

/**
 * Claims a directory that exists, by what it is and not by its path.
 * @returns gives the claim back; undefined when another holder has it
 */
export function claimDirectory(directory: string): (() => void) | undefined {
  if (process.platform !== 'linux') return () => undefined;
  // The time of its making tells it from a removed one of the same number.
  const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
  const name = `rowan-data-${dev}-${ino}-${birthtimeNs}`;
  const socket = createServer((connection) => connection.destroy());
  socket.on('error', () => undefined); // told below, before the event
  socket.listen({ path: `\0${name}`, exclusive: true });
  socket.unref();
  if (!socket.listening) return isTaken(name) ? undefined : () => undefined;
  return () => socket.close();
}

/** Whether a name cannot be had because another has it, and not because there are none here. */
function isTaken(name: string): boolean {
  try {
    return readFileSync('/proc/net/unix', 'latin1').includes(`@${name}`);
  } catch {
    return false;
  }
}
