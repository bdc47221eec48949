// Rows of several values become one row for each value.

/** out[i * stride] = values[i]: a column among `stride` that lie row by row. */
export function interleaveBytes(values: usize, count: i32, stride: i32, out: usize): void {
  const step = <usize>stride;
  for (let i: usize = 0, at = out; i < <usize>count; i++, at += step) store<u8>(at, load<u8>(values + i));
}

/** out[i * stride] = values[i], Int32. */
export function interleaveI32(values: usize, count: i32, stride: i32, out: usize): void {
  const step = (<usize>stride) << 2;
  for (let i: usize = 0, at = out; i < <usize>count; i++, at += step) {
    store<i32>(at, load<i32>(values + (i << 2)));
  }
}

/** out[i * stride] = values[i], Float64. */
export function interleaveF64(values: usize, count: i32, stride: i32, out: usize): void {
  const step = (<usize>stride) << 3;
  for (let i: usize = 0, at = out; i < <usize>count; i++, at += step) {
    store<f64>(at, load<f64>(values + (i << 3)));
  }
}

/**
 * The cells that there are of rows of `stride` cells each, row by row.
 * @param present a byte a cell, 1 or 0; 0: all are there
 * @param rows u32 row of each cell
 * @param columns u16 column of each cell
 * @param cells u32 position of each cell among all
 * @returns how many
 */
export function presentCells(
  present: usize,
  rowCount: i32,
  stride: i32,
  rows: usize,
  columns: usize,
  cells: usize,
): i32 {
  let count: usize = 0;
  let position: i32 = 0;
  for (let row: i32 = 0; row < rowCount; row++) {
    for (let column: i32 = 0; column < stride; column++, position++) {
      // Written in any case, and again by the next cell where this one is not there.
      store<i32>(rows + (count << 2), row);
      store<u16>(columns + (count << 1), <u16>column);
      store<i32>(cells + (count << 2), position);
      count += present == 0 ? 1 : <usize>load<u8>(present + <usize>position);
    }
  }
  return <i32>count;
}
