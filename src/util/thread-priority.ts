// Threads that compute give way to the one that answers.
import { setPriority } from 'node:os';

/** Enough for the thread that answers to go first, little enough to keep a share beside others. */
const NICENESS = 10;

/**
 * Lets the other threads of this process go first where there are fewer processors than threads
 * that want one. A niceness belongs to a thread on Linux, and to the whole process elsewhere, where
 * nothing is done.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(0, NICENESS);
  } catch {
    // A system that forbids it loses only a little promptness.
  }
}
