// HighwayHash with 64 bits of output, as kernel/assembly/hash/highway-hash.ts computes it.
import { HIGHWAY_PACKET_SIZE, HIGHWAY_STATE_SIZE } from '../kernel/generated.ts';
import { HASH_BASE, hashMemory } from './hash-memory.ts';

/** Four 64-bit words. */
export type HighwayKey = readonly [bigint, bigint, bigint, bigint];

/** Bytes that are brought before the kernel at once: whole packets. */
const PIECE_SIZE = 1024 * HIGHWAY_PACKET_SIZE;
const STATE = HASH_BASE;
const PIECE = HASH_BASE + HIGHWAY_STATE_SIZE;

/** The 64-bit hash, unsigned. */
export function highwayHash64(key: HighwayKey, bytes: Uint8Array): bigint {
  const { kernels, bytes: memory } = hashMemory();
  for (let i = 0; i < 4; i++) memory.writeBigUInt64LE(key[i] as bigint, STATE + 8 * i);
  kernels.highwayStart(STATE);
  const end = bytes.length - (bytes.length % HIGHWAY_PACKET_SIZE);
  for (let from = 0; from < end; from += PIECE_SIZE) {
    const to = Math.min(from + PIECE_SIZE, end);
    memory.set(bytes.subarray(from, to), PIECE);
    kernels.highwayPackets(STATE, PIECE, (to - from) / HIGHWAY_PACKET_SIZE);
  }
  if (end < bytes.length) memory.set(bytes.subarray(end), PIECE);
  return BigInt.asUintN(64, kernels.highwayEnd(STATE, PIECE, bytes.length - end));
}
