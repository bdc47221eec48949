// Hashes of many names of rows at once.
import { decimalNameHash } from './row-name';

/**
 * Hashes of the row names first + position, written in decimal (0 to 4,294,967,295).
 * positions: Int32, count of them, followed by 16 spare bytes that are overwritten; out: Uint64.
 */
export function hashDecimalNames(first: f64, positions: usize, count: i32, out: usize): void {
  const spare = positions + ((<usize>count) << 2);
  for (let i: usize = 0; i < <usize>count; i++) {
    const name = <u32>(<u64>first + <u64>load<u32>(positions + (i << 2)));
    store<u64>(out + (i << 3), decimalNameHash(name, spare));
  }
}
