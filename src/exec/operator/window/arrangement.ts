// Rows of a window in their order: partitions lie one behind the other, peers stand together.
import { assert } from '../../../util/assert.ts';

export interface Arrangement {
  /** row numbers by position */
  readonly order: Uint32Array;
  /** where each partition begins, and the number of rows */
  readonly partitionStarts: Uint32Array;
  /** absent: no function of the window asks for peers */
  readonly peers: PeerGroups | undefined;
}

/** Runs of rows with equal keys. */
export interface PeerGroups {
  /** where each run of peers begins, and the number of rows */
  readonly groupStarts: Uint32Array;
  /** the number of the run of peers at each position */
  readonly groupOf: Uint32Array;
}

/**
 * @param partitions, peers 1 at each position where a partition or a run of peers begins; `peers`
 * is absent when nobody asks for them
 */
export function arrange(
  order: Uint32Array,
  partitions: Uint8Array,
  peers: Uint8Array | undefined,
): Arrangement {
  return { order, partitionStarts: startsOf(partitions), peers: peers && groupPeers(peers) };
}

/** The peers of an arrangement that was made with them. */
export function peersOf({ peers }: Arrangement): PeerGroups {
  assert(peers !== undefined, 'the arrangement has peers');
  return peers;
}

function groupPeers(peers: Uint8Array): PeerGroups {
  const count = peers.length;
  const groupOf = new Uint32Array(count);
  let group = -1;
  for (let position = 0; position < count; position++) {
    group += peers[position] as number;
    groupOf[position] = group;
  }
  return { groupStarts: startsOf(peers), groupOf };
}

function startsOf(marks: Uint8Array): Uint32Array {
  let count = 0;
  for (let i = 0; i < marks.length; i++) count += marks[i] as number;
  const starts = new Uint32Array(count + 1);
  let at = 0;
  for (let i = 0; i < marks.length; i++) if (marks[i] === 1) starts[at++] = i;
  starts[count] = marks.length;
  return starts;
}

/** Calls `visit` with where each partition begins and ends. */
export function forEachPartition(
  { partitionStarts }: Arrangement,
  visit: (from: number, to: number) => void,
): void {
  for (let i = 0; i + 1 < partitionStarts.length; i++) {
    visit(partitionStarts[i] as number, partitionStarts[i + 1] as number);
  }
}
