// Points in a byte a coordinate, for a first look at which of them are near.

/**
 * Of points `from` to `to`, both multiples of four, those whose codes are near those of a query:
 * twice their product less the square of the point's is at least `limit`. A point has `stride` i8
 * at `codes`, a multiple of 8, and its square as i32 at `squares`; the query has as many i16.
 * Their numbers go to `found` as i32. Answers how many.
 */
export function nearCodes(
  codes: usize,
  squares: usize,
  stride: usize,
  from: i32,
  to: i32,
  query: usize,
  limit: i32,
  found: usize,
): i32 {
  const limits = i32x4.splat(limit);
  const first = found;
  let a = codes + <usize>from * stride;
  for (let point = from; point < to; point += 4) {
    let b = a + stride;
    let c = b + stride;
    let d = c + stride;
    const end = b;
    let as = i32x4.splat(0);
    let bs = as;
    let cs = as;
    let ds = as;
    for (let at = query; a < end; at += 16) {
      const q = v128.load(at);
      as = i32x4.add(as, i32x4.dot_i16x8_s(v128.load8x8_s(a), q));
      bs = i32x4.add(bs, i32x4.dot_i16x8_s(v128.load8x8_s(b), q));
      cs = i32x4.add(cs, i32x4.dot_i16x8_s(v128.load8x8_s(c), q));
      ds = i32x4.add(ds, i32x4.dot_i16x8_s(v128.load8x8_s(d), q));
      a += 8;
      b += 8;
      c += 8;
      d += 8;
    }
    a = d;
    const low = i32x4.add(
      v128.shuffle<i32>(as, bs, 0, 4, 1, 5),
      v128.shuffle<i32>(as, bs, 2, 6, 3, 7),
    );
    const high = i32x4.add(
      v128.shuffle<i32>(cs, ds, 0, 4, 1, 5),
      v128.shuffle<i32>(cs, ds, 2, 6, 3, 7),
    );
    const products = i32x4.add(
      v128.shuffle<i32>(low, high, 0, 1, 4, 5),
      v128.shuffle<i32>(low, high, 2, 3, 6, 7),
    );
    const scores = i32x4.sub(
      i32x4.shl(products, 1),
      v128.load(squares + (<usize>point << 2)),
    );
    let near = i32x4.bitmask(i32x4.ge_s(scores, limits));
    for (; near != 0; near &= near - 1) {
      store<i32>(found, point + <i32>ctz(near));
      found += 4;
    }
  }
  return <i32>((found - first) >> 2);
}
