// Names of rows that are decimal numbers.
import { cityHash } from './city-hash';

/** The hash of a row name that is a decimal number; `spare`: 16 bytes to write it to. */
@inline
export function decimalNameHash(name: u32, spare: usize): u64 {
  const end = spare + 16;
  let number = name;
  let start = end;
  do {
    start -= 1;
    store<u8>(start, <u8>(48 + (number % 10)));
    number /= 10;
  } while (number != 0);
  return cityHash(start, <i32>(end - start));
}
