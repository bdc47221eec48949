// Joins on codes: rows of the build side hang in chains at the codes of their keys. Code 0 is NULL
// and matches nothing; in `head` and `next` 0 ends a chain and row r is written r + 1.

/**
 * Codes of values that lie in a range; 0 for NULL and for values outside of it. Written up to 16
 * bytes past the last row.
 */
export function rangeCodesWithin(
  values: usize,
  valid: usize,
  count: i32,
  least: i32,
  cardinality: i32,
  out: usize,
): void {
  const base = i32x4.splat(least - 1);
  const end = i32x4.splat(cardinality);
  const zero = i32x4.splat(0);
  for (let i: usize = 0; i < <usize>count; i += 4) {
    const codes = i32x4.sub(v128.load(values + (i << 2)), base);
    let within = i32x4.lt_u(codes, end);
    if (valid) {
      const bytes = i16x8.extend_low_i8x16_u(v128.load32_zero(valid + i));
      within = v128.and(within, i32x4.ne(i32x4.extend_low_i16x8_u(bytes), zero));
    }
    v128.store(out + (i << 2), v128.and(codes, within));
  }
}

/**
 * Hangs rows first … first + count - 1 at their codes, before those that hang there. Called from
 * the last chunk to the first, so that chains are in ascending order. Returns the rows that share
 * their code with others.
 */
export function linkRows(codes: usize, count: i32, first: i32, head: usize, next: usize): i32 {
  let shared = 0;
  for (let i = count - 1; i >= 0; i--) {
    const code = <usize>load<i32>(codes + ((<usize>i) << 2));
    const at = head + (code << 2);
    const row = first + i;
    const behind = code == 0 ? 0 : load<i32>(at);
    store<i32>(next + ((<usize>row) << 2), behind);
    if (code == 0) continue;
    if (behind != 0) shared++;
    store<i32>(at, row + 1);
  }
  return shared;
}

/**
 * Pairs of matching rows: positions of the probe side and row numbers of the build side, at most
 * `capacity` of them. `next` 0: no code has several rows. `lone`: the build row that goes with rows
 * without a match, or -1 to leave these out. state: { position, rest of a chain }, two Int32 that
 * start as 0. Returns the number of pairs; fewer than `capacity` mean that all rows are done.
 */
export function probePairs(
  codes: usize,
  truth: usize,
  count: i32,
  head: usize,
  next: usize,
  lone: i32,
  state: usize,
  left: usize,
  right: usize,
  capacity: i32,
): i32 {
  let i = load<i32>(state);
  let chain = load<i32>(state, 4);
  let pairs = 0;
  while (pairs < capacity) {
    if (chain == 0) {
      if (i >= count) break;
      if (truth && load<u8>(truth + <usize>i) != 2) {
        i++;
        continue;
      }
      chain = load<i32>(head + ((<usize>load<i32>(codes + ((<usize>i) << 2))) << 2));
      if (chain == 0) {
        if (lone >= 0) {
          store<i32>(left + ((<usize>pairs) << 2), i);
          store<i32>(right + ((<usize>pairs) << 2), lone);
          pairs++;
        }
        i++;
        continue;
      }
    }
    store<i32>(left + ((<usize>pairs) << 2), i);
    store<i32>(right + ((<usize>pairs) << 2), chain - 1);
    pairs++;
    chain = next ? load<i32>(next + ((<usize>(chain - 1)) << 2)) : 0;
    if (chain == 0) i++;
  }
  store<i32>(state, i);
  store<i32>(state, chain, 4);
  return pairs;
}

/**
 * Puts values where the codes of their rows are: 2 into `present`, a truth byte a code. Returns the
 * rows whose code was taken. Code 0 stays untouched.
 */
export function markCodes(codes: usize, count: i32, present: usize): i32 {
  let shared = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const code = <usize>load<i32>(codes + (i << 2));
    if (code == 0) continue;
    shared += <i32>load<u8>(present + code) >> 1;
    store<u8>(present + code, 2);
  }
  return shared;
}

/** out[codes[i]] = values[i] */
export function scatterBytes(codes: usize, values: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(out + <usize>load<i32>(codes + (i << 2)), load<u8>(values + i));
  }
}

/** out[codes[i]] = values[i], Int32. */
export function scatterI32(codes: usize, values: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<i32>(out + (<usize>load<i32>(codes + (i << 2)) << 2), load<i32>(values + (i << 2)));
  }
}

/** out[codes[i]] = values[i], Float64. */
export function scatterF64(codes: usize, values: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<f64>(out + (<usize>load<i32>(codes + (i << 2)) << 3), load<f64>(values + (i << 3)));
  }
}

/** out[i] = values[rows[i]] */
export function gatherBytes(values: usize, rows: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<u8>(out + i, load<u8>(values + <usize>load<i32>(rows + (i << 2))));
  }
}

/** out[i] = values[rows[i]], Int32. */
export function gatherI32(values: usize, rows: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<i32>(out + (i << 2), load<i32>(values + (<usize>load<i32>(rows + (i << 2)) << 2)));
  }
}

/** out[i] = values[rows[i]], Float64. */
export function gatherF64(values: usize, rows: usize, count: i32, out: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    store<f64>(out + (i << 3), load<f64>(values + (<usize>load<i32>(rows + (i << 2)) << 3)));
  }
}

/**
 * Counts rows by their codes, in starts[code + 1]; code 0 is left out. Returns the rows that share
 * their code with one before.
 */
export function countCodes(codes: usize, count: i32, starts: usize): i32 {
  let shared = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    const code = <usize>load<i32>(codes + (i << 2));
    if (code == 0) continue;
    const at = starts + (code << 2);
    const before = load<i32>(at, 4);
    shared += before == 0 ? 0 : 1;
    store<i32>(at, before + 1, 4);
  }
  return shared;
}

/** Counts become positions: each is added to those before it. */
export function sumCounts(starts: usize, count: i32): void {
  let sum = 0;
  for (let i: usize = 0; i < <usize>count; i++) {
    sum += load<i32>(starts + (i << 2));
    store<i32>(starts + (i << 2), sum);
  }
}

/**
 * Puts the rows first … first + count - 1 where those of their code begin, and moves that place on:
 * when all rows are placed, `cursors` holds where the rows of each code end.
 */
export function placeRows(codes: usize, count: i32, first: i32, cursors: usize, rows: usize): void {
  for (let i: usize = 0; i < <usize>count; i++) {
    const code = <usize>load<i32>(codes + (i << 2));
    if (code == 0) continue;
    const at = load<i32>(cursors + (code << 2));
    store<i32>(rows + ((<usize>at) << 2), first + <i32>i);
    store<i32>(cursors + (code << 2), at + 1);
  }
}

/**
 * Pairs of matching rows as `probePairs` gives them, for a build side whose rows lie by their codes:
 * those of a code from ends[code - 1] to before ends[code]. state: { position, how many of its rows
 * are done }.
 */
export function probeRows(
  codes: usize,
  truth: usize,
  count: i32,
  ends: usize,
  rows: usize,
  lone: i32,
  state: usize,
  left: usize,
  right: usize,
  capacity: i32,
): i32 {
  let i = load<i32>(state);
  let done = load<i32>(state, 4);
  let pairs = 0;
  while (pairs < capacity && i < count) {
    if (truth && load<u8>(truth + <usize>i) != 2) {
      i++;
      continue;
    }
    const code = <usize>load<i32>(codes + ((<usize>i) << 2));
    let from = 0;
    let size = 0;
    if (code != 0) {
      from = load<i32>(ends + ((code - 1) << 2));
      size = load<i32>(ends + (code << 2)) - from;
    }
    if (size == 0) {
      if (lone >= 0) {
        store<i32>(left + ((<usize>pairs) << 2), i);
        store<i32>(right + ((<usize>pairs) << 2), lone);
        pairs++;
      }
      i++;
      continue;
    }
    const part = min(size - done, capacity - pairs);
    const source = rows + ((<usize>(from + done)) << 2);
    for (let j: usize = 0; j < <usize>part; j++) {
      const to = (<usize>pairs + j) << 2;
      store<i32>(left + to, i);
      store<i32>(right + to, load<i32>(source + (j << 2)));
    }
    pairs += part;
    done += part;
    if (done == size) {
      done = 0;
      i++;
    }
  }
  store<i32>(state, i);
  store<i32>(state, done, 4);
  return pairs;
}
