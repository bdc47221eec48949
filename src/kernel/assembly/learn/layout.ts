// Forces on the points of a layout: attraction along the edges of a sparse matrix, repulsion by all
// other points, whose far groups count as one (Barnes & Hut, "A hierarchical O(N log N) force-
// calculation algorithm", 1986). Layouts have 2 or 3 dimensions in the tree, any number without.

/**
 * A cell of the tree. Cells stand in depth-first order, so that the cell behind a subtree is the
 * one to go on with when the subtree counts as one point.
 */
@unmanaged
@shared
class TreeCell {
  x: f64;
  y: f64;
  z: f64;
  /** points in it */
  count: f64;
  /** square of its width, times what a cell must be farther than to count as one */
  reach: f64;
  /** first point in sorted order */
  from: i32;
  /** number of the cell behind its subtree */
  next: i32;
  /** points that are looked at one by one; 0: it has cells of its own */
  leafCount: i32;
  unused: i32;
}

/** Dimensions up to which there is a tree. */
@shared
const TREE_DIMENSION_MAX: i32 = 3;
/** Cells of at most this many points are not divided. */
const LEAF_COUNT: i32 = 8;
/** Bits of a coordinate in the sort key. */
const BITS: i32 = 20;

/** A task of building. */
@unmanaged
@shared
class TreeTask {
  /** dimension f64 a point */
  positions: usize;
  count: i32;
  dimension: i32;
  /** u64 a point, twice: sort keys with their points and room to sort them */
  keys: usize;
  spare: usize;
  /** i32 a point: its number in the layout, by sorted order */
  order: usize;
  /** three f64 a point, by sorted order */
  sorted: usize;
  /** three f64 a point and three more, at least 1 KiB: sums of the sorted points before it */
  sums: usize;
  cells: usize;
  /** 1 / the squared opening ratio */
  openness: f64;
  low0: f64;
  low1: f64;
  low2: f64;
  width: f64;
}

/** Builds the tree. Answers the number of its cells, of which there is room for two a point. */
export function layoutTree(taskAddress: usize): i32 {
  const task = changetype<TreeTask>(taskAddress);
  findBounds(task);
  makeKeys(task);
  sortKeys(task);
  placeSorted(task);
  return divide(task, 0, 0, task.count, BITS - 1);
}

function findBounds(task: TreeTask): void {
  const dimension = task.dimension;
  let width: f64 = 0;
  for (let j: i32 = 0; j < 3; j++) {
    let low: f64 = 0;
    if (j < dimension) {
      low = Infinity;
      let high: f64 = -Infinity;
      for (let i: i32 = 0; i < task.count; i++) {
        const value = load<f64>(task.positions + (<usize>(i * dimension + j) << 3));
        low = min(low, value);
        high = max(high, value);
      }
      width = max(width, high - low);
    }
    store<f64>(changetype<usize>(task) + offsetof<TreeTask>('low0') + (<usize>j << 3), low);
  }
  task.width = width > 0 ? width * (1 + 1e-9) : 1;
}

/** Spreads the low 20 bits of a number to every `dimension`-th bit. */
function spread(value: u64, dimension: i32): u64 {
  let out: u64 = 0;
  for (let bit: i32 = 0; bit < BITS; bit++) {
    out |= ((value >> <u64>bit) & 1) << <u64>(bit * dimension);
  }
  return out;
}

/** Keys whose order visits cell after cell, each with its point. */
function makeKeys(task: TreeTask): void {
  const dimension = task.dimension;
  const scale = <f64>(1 << BITS) / task.width;
  for (let i: i32 = 0; i < task.count; i++) {
    let key: u64 = 0;
    for (let j: i32 = 0; j < dimension; j++) {
      const low = load<f64>(
        changetype<usize>(task) + offsetof<TreeTask>('low0') + (<usize>j << 3),
      );
      const value = load<f64>(task.positions + (<usize>(i * dimension + j) << 3));
      key |= spread(<u64>((value - low) * scale), dimension) << <u64>j;
    }
    store<u64>(task.keys + (<usize>i << 3), key);
    store<i32>(task.order + (<usize>i << 2), i);
  }
}

/** Sorts keys and points by radix, a byte at a time; equal keys keep their order. */
function sortKeys(task: TreeTask): void {
  const count = task.count;
  const bytes = (BITS * task.dimension + 7) / 8;
  let keys = task.keys;
  let spareKeys = task.spare;
  // The sums are not needed yet: their room holds the counts and the points' second place.
  const counts = task.sums;
  let order = task.order;
  let spareOrder = task.sorted;
  for (let byte: i32 = 0; byte < bytes; byte++) {
    memory.fill(counts, 0, 1024);
    const shift = <u64>(byte * 8);
    for (let i: i32 = 0; i < count; i++) {
      const digit = <usize>((load<u64>(keys + (<usize>i << 3)) >> shift) & 255);
      store<i32>(counts + (digit << 2), load<i32>(counts + (digit << 2)) + 1);
    }
    let total: i32 = 0;
    for (let digit: usize = 0; digit < 256; digit++) {
      const here = load<i32>(counts + (digit << 2));
      store<i32>(counts + (digit << 2), total);
      total += here;
    }
    for (let i: i32 = 0; i < count; i++) {
      const key = load<u64>(keys + (<usize>i << 3));
      const slot = counts + (<usize>((key >> shift) & 255) << 2);
      const at = <usize>load<i32>(slot);
      store<i32>(slot, <i32>at + 1);
      store<u64>(spareKeys + (at << 3), key);
      store<i32>(spareOrder + (at << 2), load<i32>(order + (<usize>i << 2)));
    }
    let kept = keys;
    keys = spareKeys;
    spareKeys = kept;
    kept = order;
    order = spareOrder;
    spareOrder = kept;
  }
  if (keys != task.keys) {
    memory.copy(task.keys, keys, <usize>count << 3);
    memory.copy(task.order, order, <usize>count << 2);
  }
}

function placeSorted(task: TreeTask): void {
  const dimension = task.dimension;
  store<f64>(task.sums, 0);
  store<f64>(task.sums, 0, 8);
  store<f64>(task.sums, 0, 16);
  for (let i: i32 = 0; i < task.count; i++) {
    const point = load<i32>(task.order + (<usize>i << 2));
    const to = <usize>(i * 3) << 3;
    for (let j: i32 = 0; j < 3; j++) {
      const value =
        j < dimension ? load<f64>(task.positions + (<usize>(point * dimension + j) << 3)) : 0;
      const at = to + (<usize>j << 3);
      store<f64>(task.sorted + at, value);
      store<f64>(task.sums + at + 24, load<f64>(task.sums + at) + value);
    }
  }
}

/** Writes the cell of the sorted points [from, to) and those in it. Answers the next cell's number. */
function divide(task: TreeTask, number: i32, from: i32, to: i32, level: i32): i32 {
  const cell = changetype<TreeCell>(task.cells + <usize>number * offsetof<TreeCell>());
  const count = to - from;
  // Levels at which all points stay together make no cells: there are fewer cells than points twice.
  const difference =
    load<u64>(task.keys + (<usize>from << 3)) ^ load<u64>(task.keys + (<usize>(to - 1) << 3));
  while (level >= 0 && difference >> <u64>(level * task.dimension) == 0) level--;
  const sumFrom = task.sums + (<usize>(from * 3) << 3);
  const sumTo = task.sums + (<usize>(to * 3) << 3);
  cell.count = <f64>count;
  cell.x = (load<f64>(sumTo) - load<f64>(sumFrom)) / <f64>count;
  cell.y = (load<f64>(sumTo, 8) - load<f64>(sumFrom, 8)) / <f64>count;
  cell.z = (load<f64>(sumTo, 16) - load<f64>(sumFrom, 16)) / <f64>count;
  const width = task.width / <f64>(1 << (BITS - 1 - level));
  cell.reach = width * width * task.openness;
  cell.from = from;
  let next = number + 1;
  if (count <= LEAF_COUNT || level < 0) {
    cell.leafCount = count;
    cell.next = next;
    return next;
  }
  cell.leafCount = 0;
  const shift = <u64>(level * task.dimension);
  let start = from;
  while (start < to) {
    const digit = load<u64>(task.keys + (<usize>start << 3)) >> shift;
    let end = start + 1;
    while (end < to && load<u64>(task.keys + (<usize>end << 3)) >> shift == digit) end++;
    next = divide(task, next, start, end, level - 1);
    start = end;
  }
  cell.next = next;
  return next;
}

/**
 * Repulsion of the sorted points from `from` to `to`: the sum of q^2 (y_i - y_j) over all others,
 * q = 1 / (1 + |y_i - y_j|^2), as `dimension` f64 a point of the layout at `forces`. Answers the
 * sum of all q.
 */
export function treeRepulsion(
  taskAddress: usize,
  cellCount: i32,
  from: i32,
  to: i32,
  forces: usize,
): f64 {
  const task = changetype<TreeTask>(taskAddress);
  const end = task.cells + <usize>cellCount * offsetof<TreeCell>();
  let total: f64 = 0;
  for (let i = from; i < to; i++) {
    const own = task.sorted + (<usize>(i * 3) << 3);
    const x = load<f64>(own);
    const y = load<f64>(own, 8);
    const z = load<f64>(own, 16);
    let fx: f64 = 0;
    let fy: f64 = 0;
    let fz: f64 = 0;
    let at = task.cells;
    while (at < end) {
      const cell = changetype<TreeCell>(at);
      if (cell.leafCount > 0) {
        let other = task.sorted + (<usize>(cell.from * 3) << 3);
        for (let k = cell.leafCount; k > 0; k--, other += 24) {
          if (other == own) continue;
          const dx = x - load<f64>(other);
          const dy = y - load<f64>(other, 8);
          const dz = z - load<f64>(other, 16);
          const q = 1 / (1 + dx * dx + dy * dy + dz * dz);
          total += q;
          const qq = q * q;
          fx += qq * dx;
          fy += qq * dy;
          fz += qq * dz;
        }
        at += offsetof<TreeCell>();
        continue;
      }
      const dx = x - cell.x;
      const dy = y - cell.y;
      const dz = z - cell.z;
      const distance = dx * dx + dy * dy + dz * dz;
      if (distance <= cell.reach) {
        at += offsetof<TreeCell>();
        continue;
      }
      const q = 1 / (1 + distance);
      total += cell.count * q;
      const qq = cell.count * q * q;
      fx += qq * dx;
      fy += qq * dy;
      fz += qq * dz;
      at = task.cells + <usize>cell.next * offsetof<TreeCell>();
    }
    const point = load<i32>(task.order + (<usize>i << 2));
    const out = forces + (<usize>(point * task.dimension) << 3);
    store<f64>(out, fx);
    if (task.dimension > 1) store<f64>(out, fy, 8);
    if (task.dimension > 2) store<f64>(out, fz, 16);
  }
  return total;
}

/** As treeRepulsion, pair by pair and for any dimension; points in the order of the layout. */
export function plainRepulsion(
  positions: usize,
  count: i32,
  dimension: i32,
  from: i32,
  to: i32,
  forces: usize,
): f64 {
  const size = <usize>dimension << 3;
  let total: f64 = 0;
  for (let i = from; i < to; i++) {
    const own = positions + <usize>i * size;
    const out = forces + <usize>i * size;
    memory.fill(out, 0, size);
    for (let j: i32 = 0; j < count; j++) {
      if (j == i) continue;
      const other = positions + <usize>j * size;
      let distance: f64 = 0;
      for (let k: usize = 0; k < size; k += 8) {
        const d = load<f64>(own + k) - load<f64>(other + k);
        distance += d * d;
      }
      const q = 1 / (1 + distance);
      total += q;
      for (let k: usize = 0; k < size; k += 8) {
        const d = load<f64>(own + k) - load<f64>(other + k);
        store<f64>(out + k, load<f64>(out + k) + q * q * d);
      }
    }
  }
  return total;
}

/**
 * Attraction of the points from `from` to `to`: the sum of p q (y_i - y_j) over their edges, as
 * `dimension` f64 a point at `forces`. Edges of point i: `starts[i]` to `starts[i + 1]` of `ends`
 * (i32) and `weights` (f64).
 */
export function edgeAttraction(
  positions: usize,
  dimension: i32,
  from: i32,
  to: i32,
  starts: usize,
  ends: usize,
  weights: usize,
  forces: usize,
): void {
  const size = <usize>dimension << 3;
  for (let i = from; i < to; i++) {
    const own = positions + <usize>i * size;
    const out = forces + <usize>i * size;
    const last = load<i32>(starts + (<usize>(i + 1) << 2));
    if (dimension == 2) {
      const x = load<f64>(own);
      const y = load<f64>(own, 8);
      let fx: f64 = 0;
      let fy: f64 = 0;
      for (let e = load<i32>(starts + (<usize>i << 2)); e < last; e++) {
        const other = positions + (<usize>load<i32>(ends + (<usize>e << 2)) << 4);
        const dx = x - load<f64>(other);
        const dy = y - load<f64>(other, 8);
        const pull = load<f64>(weights + (<usize>e << 3)) / (1 + dx * dx + dy * dy);
        fx += pull * dx;
        fy += pull * dy;
      }
      store<f64>(out, fx);
      store<f64>(out, fy, 8);
      continue;
    }
    memory.fill(out, 0, size);
    for (let e = load<i32>(starts + (<usize>i << 2)); e < last; e++) {
      const other = positions + <usize>load<i32>(ends + (<usize>e << 2)) * size;
      let distance: f64 = 0;
      for (let k: usize = 0; k < size; k += 8) {
        const d = load<f64>(own + k) - load<f64>(other + k);
        distance += d * d;
      }
      const pull = load<f64>(weights + (<usize>e << 3)) / (1 + distance);
      for (let k: usize = 0; k < size; k += 8) {
        const d = load<f64>(own + k) - load<f64>(other + k);
        store<f64>(out + k, load<f64>(out + k) + pull * d);
      }
    }
  }
}
