// CityHash64 (version 1.0) of short texts: the hashes of row names that are decimal numbers.

const K2: u64 = 0x9ae16a3b2f90404f;
const K3: u64 = 0xc949d7c7509e6557;
const MUL: u64 = 0x9ddfea08eb382d69;

@inline
function mix(value: u64): u64 {
  return value ^ (value >> 47);
}

@inline
function combine(u: u64, v: u64): u64 {
  const a = mix((u ^ v) * MUL);
  const b = mix((v ^ a) * MUL);
  return b * MUL;
}

/** The hash of up to 16 bytes at `text`. */
function shortHash(text: usize, length: i32): u64 {
  if (length > 8) {
    const a = load<u64>(text);
    const b = load<u64>(text + <usize>length - 8);
    return combine(a, rotr<u64>(b + <u64>length, <u64>length)) ^ b;
  }
  if (length >= 4) {
    const a = <u64>load<u32>(text);
    return combine(<u64>length + (a << 3), <u64>load<u32>(text + <usize>length - 4));
  }
  const first = <u32>load<u8>(text);
  const middle = <u32>load<u8>(text + (<usize>length >> 1));
  const last = <u32>load<u8>(text + <usize>length - 1);
  const y = first + (middle << 8);
  const z = <u32>length + (last << 2);
  return mix((<u64>y * K2) ^ (<u64>z * K3)) * K2;
}

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
  return shortHash(start, <i32>(end - start));
}

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
