// xoshiro128++ (Blackman & Vigna, "Scrambled linear pseudorandom number generators", 2021), the
// same generator as src/learn/random.ts. Its state lives in globals: one stream at a time.

let s0: u32 = 0;
let s1: u32 = 0;
let s2: u32 = 0;
let s3: u32 = 0;

/** Starts a stream from four words at `state`. */
export function loadRandom(state: usize): void {
  s0 = load<u32>(state);
  s1 = load<u32>(state, 4);
  s2 = load<u32>(state, 8);
  s3 = load<u32>(state, 12);
}

/** The next 32 random bits. */
@inline
export function nextRandom(): u32 {
  const result = rotl<u32>(s0 + s3, 7) + s0;
  const t = s1 << 9;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= t;
  s3 = rotl<u32>(s3, 11);
  return result;
}

/** A whole number below `bound`. */
@inline
export function randomBelow(bound: u32): u32 {
  return <u32>((<u64>nextRandom() * <u64>bound) >> 32);
}
