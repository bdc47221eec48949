// Training of text classifiers: a row is the mean of its features' vectors, its label is chosen by
// a softmax over products with the labels' vectors. All vectors are f32, `size` of them, a multiple
// of 4 with zeros at the end.

@unmanaged
@shared
class TextTask {
  /** u32 row numbers in the order of training */
  order: usize;
  /** u32: entries of row r are starts[r] up to starts[r + 1] */
  starts: usize;
  /** u32 vector number an entry */
  features: usize;
  /** f32 repetitions an entry */
  counts: usize;
  /** u16 a row */
  labels: usize;
  /** f32 a row: what its step is multiplied by */
  weights: usize;
  inputs: usize;
  outputs: usize;
  size: i32;
  labelCount: i32;
  /** size f32 each, then labelCount f32 */
  hidden: usize;
  gradient: usize;
  scores: usize;
}

/** target += factor x source */
@inline
function addScaled(target: usize, source: usize, factor: f32, size: i32): void {
  const by = f32x4.splat(factor);
  for (let k: usize = 0; k < <usize>size << 2; k += 16) {
    v128.store(target + k, f32x4.add(v128.load(target + k), f32x4.mul(by, v128.load(source + k))));
  }
}

@inline
function product(a: usize, b: usize, size: i32): f32 {
  let sums = f32x4.splat(0);
  for (let k: usize = 0; k < <usize>size << 2; k += 16) {
    sums = f32x4.add(sums, f32x4.mul(v128.load(a + k), v128.load(b + k)));
  }
  return (
    f32x4.extract_lane(sums, 0) +
    f32x4.extract_lane(sums, 1) +
    (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3))
  );
}

/**
 * Steps of stochastic gradient descent for rows order[from] up to order[to]; the rate falls by
 * `fall` a row. Answers the sum of the rows' log losses.
 */
export function textTrain(at: usize, from: u32, to: u32, rate: f32, fall: f32): f64 {
  const t = changetype<TextTask>(at);
  const bytes = <usize>t.size << 2;
  let loss: f64 = 0;
  for (let i = from; i < to; i++, rate -= fall) {
    const row = <usize>load<u32>(t.order + (<usize>i << 2));
    const first = load<u32>(t.starts + (row << 2));
    const end = load<u32>(t.starts + (row << 2), 4);
    const weight = load<f32>(t.weights + (row << 2));
    if (first == end || weight == 0) continue;
    memory.fill(t.hidden, 0, bytes);
    memory.fill(t.gradient, 0, bytes);
    let count: f32 = 0;
    for (let e = first; e < end; e++) {
      const times = load<f32>(t.counts + (<usize>e << 2));
      const vector = t.inputs + <usize>load<u32>(t.features + (<usize>e << 2)) * bytes;
      addScaled(t.hidden, vector, times, t.size);
      count += times;
    }
    const share: f32 = 1 / count;
    for (let k: usize = 0; k < bytes; k += 16) {
      v128.store(t.hidden + k, f32x4.mul(v128.load(t.hidden + k), f32x4.splat(share)));
    }
    const label = <i32>load<u16>(t.labels + (row << 1));
    let highest: f32 = -Infinity;
    for (let l: i32 = 0; l < t.labelCount; l++) {
      const score = product(t.hidden, t.outputs + <usize>l * bytes, t.size);
      store<f32>(t.scores + (<usize>l << 2), score);
      highest = max(highest, score);
    }
    let total: f32 = 0;
    for (let l: i32 = 0; l < t.labelCount; l++) {
      const value = NativeMathf.exp(load<f32>(t.scores + (<usize>l << 2)) - highest);
      store<f32>(t.scores + (<usize>l << 2), value);
      total += value;
    }
    for (let l: i32 = 0; l < t.labelCount; l++) {
      const p = load<f32>(t.scores + (<usize>l << 2)) / total;
      if (l == label) loss -= Math.log(Math.max(1e-30, <f64>p));
      const step = rate * weight * (<f32>(l == label) - p);
      const vector = t.outputs + <usize>l * bytes;
      addScaled(t.gradient, vector, step, t.size);
      addScaled(vector, t.hidden, step, t.size);
    }
    for (let e = first; e < end; e++) {
      const times = load<f32>(t.counts + (<usize>e << 2));
      const vector = t.inputs + <usize>load<u32>(t.features + (<usize>e << 2)) * bytes;
      addScaled(vector, t.gradient, times * share, t.size);
    }
  }
  return loss;
}
