// Filling and summing of plain float64 vectors. Every address is a byte offset into the arena.

/** Sets `count` float64 values from `address` on to `value`. */
export function fillF64(address: usize, count: i32, value: f64): void {
  const pair = f64x2.splat(value);
  const end = address + ((<usize>count) << 3);
  const pairsEnd = address + ((<usize>(count & ~1)) << 3);
  for (; address < pairsEnd; address += 16) v128.store(address, pair);
  if (address < end) store<f64>(address, value);
}

/**
 * Adds up `count` float64 values from `address` on. Two partial sums run side by side, so the
 * result can differ from a sum from left to right in its last bits, but never between runs.
 */
export function sumF64(address: usize, count: i32): f64 {
  let sums = f64x2.splat(0);
  const end = address + ((<usize>count) << 3);
  const pairsEnd = address + ((<usize>(count & ~1)) << 3);
  for (; address < pairsEnd; address += 16) sums = f64x2.add(sums, v128.load(address));
  let sum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1);
  if (address < end) sum += load<f64>(address);
  return sum;
}
