// Sparse matrices row by row: row i holds the cells `starts[i]` to `starts[i + 1]` of `columns`
// (i32) and `values` (f64). And rows of dense vectors, which a basis consists of.

/** Lengths of dense rows are multiples of it; what is behind the last value is 0. */
@shared
const ROW_GROUP: i32 = 4;

/** z += A'(A x) for the rows from `from` to `to`. */
export function addNormalProduct(
  starts: usize,
  columns: usize,
  values: usize,
  from: i32,
  to: i32,
  x: usize,
  z: usize,
): void {
  let cell = <usize>load<i32>(starts + (<usize>from << 2));
  for (let row = from; row < to; row++) {
    const end = <usize>load<i32>(starts + (<usize>(row + 1) << 2));
    let sum: f64 = 0;
    for (let i = cell; i < end; i++) {
      const column = <usize>load<i32>(columns + (i << 2));
      sum += load<f64>(values + (i << 3)) * load<f64>(x + (column << 3));
    }
    if (sum != 0) {
      for (let i = cell; i < end; i++) {
        const at = z + (<usize>load<i32>(columns + (i << 2)) << 3);
        store<f64>(at, load<f64>(at) + load<f64>(values + (i << 3)) * sum);
      }
    }
    cell = end;
  }
}

/** The dot product of `x` with each of `rowCount` rows of `length` f64, a multiple of four. */
export function rowDots(rows: usize, rowCount: i32, length: i32, x: usize, out: usize): void {
  const size = <usize>length << 3;
  for (let row: i32 = 0; row < rowCount; row++, rows += size) {
    let a = f64x2.splat(0);
    let b = a;
    for (let i: usize = 0; i < size; i += 32) {
      a = f64x2.add(a, f64x2.mul(v128.load(rows + i), v128.load(x + i)));
      b = f64x2.add(b, f64x2.mul(v128.load(rows + i, 16), v128.load(x + i, 16)));
    }
    const sum = f64x2.add(a, b);
    store<f64>(
      out + (<usize>row << 3),
      f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1),
    );
  }
}

/** x += the sum of `rowCount` rows of `length` f64, a multiple of four, each times its weight. */
export function addRows(rows: usize, rowCount: i32, length: i32, weights: usize, x: usize): void {
  const size = <usize>length << 3;
  for (let row: i32 = 0; row < rowCount; row++, rows += size) {
    const weight = v128.load64_splat(weights + (<usize>row << 3));
    for (let i: usize = 0; i < size; i += 32) {
      v128.store(x + i, f64x2.add(v128.load(x + i), f64x2.mul(weight, v128.load(rows + i))));
      v128.store(
        x + i,
        f64x2.add(v128.load(x + i, 16), f64x2.mul(weight, v128.load(rows + i, 16))),
        16,
      );
    }
  }
}
