// Growing of one tree of a binary random forest, the whole tree in one call.
//
// A row that was drawn is an entry: row << shift | times drawn << 1 | label. Entries are
// partitioned in place, depth first, so a node is a stretch of them. Bucket code 0 of a column
// means "missing"; a test sends a row to the right when u8(code - offset) > threshold, so offset 0
// sends missing values to the left and offset 1 to the right.
//
// A tree of many rows takes steps, so that its thread can check for cancellation between them. The globals below
// hold the tree from its first step to its last.
import { loadRandom, randomBelow } from './random';
import { NODE_LEAF, NODE_STOPS_MISSING } from './tree-node';

/** One tree's inputs, scratch space and outputs. */
@unmanaged
@shared
class ForestTask {
  rowCount: u32;
  drawCount: u32;
  /** u8, 0 or 1 per row */
  labels: usize;
  /** f64 per row; 0 when all weigh the same */
  weights: usize;
  /** addresses of u8 columns, featureCount of them */
  columns: usize;
  /** highest code + 1 of each column, i32 */
  codeCounts: usize;
  /** number of each column in the model, i32 */
  columnNumbers: usize;
  featureCount: i32;
  featuresPerNode: i32;
  maxDepth: i32;
  shift: i32;
  /** u32 per entry */
  entries: usize;
  /** u32 per entry, and at least a byte per row */
  buffer: usize;
  /** FOREST_SCRATCH_SIZE + 8 bytes a feature */
  scratch: usize;
  /** FOREST_LOCAL_ROWS bytes a feature, then 8 * FOREST_LOCAL_ROWS bytes when weighted */
  local: usize;
  /** FOREST_PENDING_SIZE for each level of the tree and one more */
  pending: usize;
  /** outputs: 8 bytes, f64 and f32 per node */
  nodes: usize;
  values: usize;
  covers: usize;
  /** two random streams of four words each: rows, then features of nodes */
  rowState0: u32;
  rowState1: u32;
  rowState2: u32;
  rowState3: u32;
  nodeState0: u32;
  nodeState1: u32;
  nodeState2: u32;
  nodeState3: u32;
  entryCount: u32;
  nodeCount: i32;
  depth: i32;
  /** nodes that a later step grows */
  pendingCount: i32;
}

/** A node that waits for its turn; the last one is next. */
@unmanaged
@shared
class ForestPending {
  id: i32;
  from: i32;
  to: i32;
  depth: i32;
  zeros: f64;
  ones: f64;
}

/** Cells of features that a step looks at before it returns, give or take a node. */
const STEP_CELLS: i64 = 1 << 22;

/** A node that fits gets its own copy of the columns: reads then stay in the nearest caches. */
@shared
const FOREST_LOCAL_ROWS: i32 = 16384;
/** Up to this many entries are sorted instead of counted. */
const SORTED_ROWS: i32 = 24;
/** A split has to lower the score by this share at least; less is rounding. */
const MINIMAL_GAIN: f64 = 1e-9;

/** Bytes of a histogram: 256 codes x 2 labels x 8 bytes. */
@shared
const FOREST_HISTOGRAM_SIZE: usize = 4096;
/** Scratch bytes of a tree besides 8 a feature: two histograms and space to sort entries. */
@shared
const FOREST_SCRATCH_SIZE: usize = 2 * FOREST_HISTOGRAM_SIZE + 512;

let rows: usize = 0;
let spare: usize = 0;
let weights: usize = 0;
let shift: u32 = 0;
let lowMask: u32 = 0;
let featureCount: i32 = 0;
let perNode: i32 = 0;
let codeCounts: usize = 0;
let numbers: usize = 0;
let depthMax: i32 = 0;
let histogramA: usize = 0;
let histogramB: usize = 0;
let sorted: usize = 0;
let order: usize = 0;
let localColumns: usize = 0;
let localData: usize = 0;
let useLocal: bool = false;
let nodes: usize = 0;
let values: usize = 0;
let covers: usize = 0;
let nodeCount: i32 = 0;
let depthSeen: i32 = 0;
let pending: usize = 0;
let pendingCount: i32 = 0;
let cellsSeen: i64 = 0;

// The best test of the node at hand.
let bestScore: f64 = 0;
let bestFeature: i32 = -1;
let bestThreshold: i32 = 0;
let bestOffset: u32 = 0;
let bestStops: u32 = 0;
let bestLeft: v128 = i64x2(0, 0);

/** Draws the rows and takes the first step. */
export function forestTree(address: usize): void {
  const task = changetype<ForestTask>(address);
  rows = task.entries;
  spare = task.buffer;
  weights = task.weights;
  shift = <u32>task.shift;
  lowMask = (1 << shift) - 1;
  featureCount = task.featureCount;
  perNode = min(task.featuresPerNode, featureCount);
  codeCounts = task.codeCounts;
  numbers = task.columnNumbers;
  depthMax = task.maxDepth;
  histogramA = task.scratch;
  histogramB = histogramA + FOREST_HISTOGRAM_SIZE;
  sorted = histogramB + FOREST_HISTOGRAM_SIZE;
  order = sorted + 512;
  localColumns = order + (<usize>featureCount << 2);
  localData = task.local;
  nodes = task.nodes;
  values = task.values;
  covers = task.covers;
  nodeCount = 1;
  depthSeen = 0;
  pending = task.pending;
  pendingCount = 0;
  // Copying all columns pays when the levels below will read about as many.
  useLocal = featureCount <= perNode * 12;
  for (let f: i32 = 0; f < featureCount; f++) {
    store<i32>(order + (<usize>f << 2), f);
    store<usize>(localColumns + (<usize>f << 2), localData + <usize>f * <usize>FOREST_LOCAL_ROWS);
  }
  loadRandom(address + offsetof<ForestTask>('rowState0'));
  const count = drawRows(task.rowCount, task.drawCount, task.labels);
  task.entryCount = <u32>count;
  loadRandom(address + offsetof<ForestTask>('nodeState0'));
  push(0, 0, count, 0, weights == 0 ? totals<i32>(0, count) : totals<f64>(0, count));
  forestStep(address);
}

/** Grows pending nodes in the order of depth until a step's work is done. */
export function forestStep(address: usize): void {
  const task = changetype<ForestTask>(address);
  cellsSeen = 0;
  while (pendingCount > 0 && cellsSeen < STEP_CELLS) {
    pendingCount--;
    const node = changetype<ForestPending>(pending + <usize>pendingCount * offsetof<ForestPending>());
    const total = f64x2(node.zeros, node.ones);
    const id = node.id;
    const from = node.from;
    const to = node.to;
    const depth = node.depth;
    if (weights == 0) grow<i32>(id, from, to, depth, total, task.columns, weights, false);
    else grow<f64>(id, from, to, depth, total, task.columns, weights, false);
  }
  task.nodeCount = nodeCount;
  task.depth = depthSeen;
  task.pendingCount = pendingCount;
}

function push(id: i32, from: i32, to: i32, depth: i32, total: v128): void {
  const node = changetype<ForestPending>(pending + <usize>pendingCount * offsetof<ForestPending>());
  pendingCount++;
  node.id = id;
  node.from = from;
  node.to = to;
  node.depth = depth;
  node.zeros = f64x2.extract_lane(total, 0);
  node.ones = f64x2.extract_lane(total, 1);
}

/** Draws with replacement and lists each drawn row once, with the number of times. */
function drawRows(rowCount: u32, drawCount: u32, labels: usize): i32 {
  const times = spare;
  memory.fill(times, 0, rowCount);
  for (let i: u32 = 0; i < drawCount; i++) {
    const at = times + <usize>randomBelow(rowCount);
    const n = <u32>load<u8>(at);
    store<u8>(at, n + u32(n < 255));
  }
  const timesMax = lowMask >> 1;
  let out = rows;
  for (let row: u32 = 0; row < rowCount; row++) {
    let n = <u32>load<u8>(times + <usize>row);
    const base = (row << shift) | <u32>load<u8>(labels + <usize>row);
    while (n > timesMax) {
      store<u32>(out, base | (timesMax << 1));
      out += 4;
      n -= timesMax;
    }
    store<u32>(out, base | (n << 1));
    out += <usize>(n != 0) << 2;
  }
  return <i32>((out - rows) >> 2);
}

@inline
function weightOf<T>(entry: u32, row: usize, rowWeights: usize): T {
  const times = (entry & lowMask) >> 1;
  if (isInteger<T>()) return <T>times;
  return <T>(<f64>times * load<f64>(rowWeights + (row << 3)));
}

/** Weights of label 0 and 1 among entries that still carry rows of the whole matrix. */
function totals<T>(from: i32, to: i32): v128 {
  return totalsOf<T>(from, to, weights);
}

function totalsOf<T>(from: i32, to: i32, rowWeights: usize): v128 {
  let zeros: T = 0;
  let ones: T = 0;
  const end = rows + (<usize>to << 2);
  for (let at = rows + (<usize>from << 2); at < end; at += 4) {
    const entry = load<u32>(at);
    const weight = weightOf<T>(entry, <usize>(entry >> shift), rowWeights);
    if (entry & 1) ones += weight;
    else zeros += weight;
  }
  return f64x2(<f64>zeros, <f64>ones);
}

function grow<T>(
  id: i32,
  from: i32,
  to: i32,
  depth: i32,
  total: v128,
  columns: usize,
  rowWeights: usize,
  isLocal: bool,
): void {
  const n = to - from;
  const zeros = f64x2.extract_lane(total, 0);
  const ones = f64x2.extract_lane(total, 1);
  const node = nodes + (<usize>id << 3);
  store<u32>(node, NODE_LEAF);
  store<i32>(node, id, 4);
  store<f64>(values + (<usize>id << 3), n == 0 ? 0.5 : ones / (zeros + ones));
  store<f32>(covers + (<usize>id << 2), <f32>(zeros + ones));
  if (depth > depthSeen) depthSeen = depth;
  if (depth >= depthMax || n < 2 || zeros == 0 || ones == 0) return;
  if (!isLocal && useLocal && n <= FOREST_LOCAL_ROWS) {
    makeLocal<T>(from, n, columns, rowWeights);
    columns = localColumns;
    if (isFloat<T>()) rowWeights = localWeights();
    isLocal = true;
  }

  cellsSeen += <i64>n * <i64>perNode;
  bestScore = Math.sqrt(zeros * ones) * (1 - MINIMAL_GAIN);
  bestFeature = -1;
  if (perNode >= featureCount) {
    let f: i32 = 0;
    for (; f + 1 < featureCount; f += 2) tryPair<T>(f, f + 1, from, n, total, columns, rowWeights);
    if (f < featureCount) tryOne<T>(f, from, n, total, columns, rowWeights);
  } else {
    let k: i32 = 0;
    for (; k + 1 < perNode; k += 2) {
      const first = drawFeature(k);
      tryPair<T>(first, drawFeature(k + 1), from, n, total, columns, rowWeights);
    }
    // A node whose features all fail goes on to those it did not draw.
    for (; k < featureCount && (k < perNode || bestFeature < 0); k++) {
      tryOne<T>(drawFeature(k), from, n, total, columns, rowWeights);
    }
  }
  if (bestFeature < 0) return;

  const test =
    <u32>load<i32>(numbers + (<usize>bestFeature << 2)) |
    bestStops |
    (<u32>bestThreshold << 16) |
    (bestOffset << 24);
  const column = <usize>load<u32>(columns + (<usize>bestFeature << 2));
  let left = bestLeft;
  const middle = partition(from, n, column, bestOffset, <u32>bestThreshold);
  if (middle == from || middle == to) return;
  let right = f64x2.sub(total, left);
  if (isFloat<T>()) {
    // Differences of sums are not exact, and a pure node must be seen to be pure.
    left = totalsOf<T>(from, middle, rowWeights);
    right = totalsOf<T>(middle, to, rowWeights);
  }
  const child = nodeCount;
  nodeCount += 2;
  store<u32>(node, test);
  store<i32>(node, child, 4);
  if (n > FOREST_LOCAL_ROWS) {
    push(child + 1, middle, to, depth + 1, right);
    push(child, from, middle, depth + 1, left);
    return;
  }
  grow<T>(child, from, middle, depth + 1, left, columns, rowWeights, isLocal);
  grow<T>(child + 1, middle, to, depth + 1, right, columns, rowWeights, isLocal);
}

@inline
function localWeights(): usize {
  return localData + <usize>featureCount * <usize>FOREST_LOCAL_ROWS;
}

/** Copies the columns of a node's rows side by side and numbers its entries from 0. */
function makeLocal<T>(from: i32, n: i32, columns: usize, rowWeights: usize): void {
  const first = rows + (<usize>from << 2);
  for (let f: i32 = 0; f < featureCount; f++) {
    const source = <usize>load<u32>(columns + (<usize>f << 2));
    const target = <usize>load<u32>(localColumns + (<usize>f << 2));
    for (let i: i32 = 0; i < n; i++) {
      const row = <usize>(load<u32>(first + (<usize>i << 2)) >> shift);
      store<u8>(target + <usize>i, load<u8>(source + row));
    }
  }
  if (isFloat<T>()) {
    const target = localWeights();
    for (let i: i32 = 0; i < n; i++) {
      const row = <usize>(load<u32>(first + (<usize>i << 2)) >> shift);
      store<f64>(target + (<usize>i << 3), load<f64>(rowWeights + (row << 3)));
    }
  }
  for (let i: i32 = 0; i < n; i++) {
    const at = first + (<usize>i << 2);
    store<u32>(at, (<u32>i << shift) | (load<u32>(at) & lowMask));
  }
}

/** Moves a random one of the features from position k on to position k, and answers it. */
function drawFeature(k: i32): i32 {
  const at = order + ((<usize>k + <usize>randomBelow(<u32>(featureCount - k))) << 2);
  const feature = load<i32>(at);
  const front = order + (<usize>k << 2);
  store<i32>(at, load<i32>(front));
  store<i32>(front, feature);
  return feature;
}

function tryPair<T>(
  a: i32,
  b: i32,
  from: i32,
  n: i32,
  total: v128,
  columns: usize,
  rowWeights: usize,
): void {
  if (n <= SORTED_ROWS) {
    tryOne<T>(a, from, n, total, columns, rowWeights);
    tryOne<T>(b, from, n, total, columns, rowWeights);
    return;
  }
  const columnA = <usize>load<u32>(columns + (<usize>a << 2));
  const columnB = <usize>load<u32>(columns + (<usize>b << 2));
  const codesA = load<i32>(codeCounts + (<usize>a << 2));
  const codesB = load<i32>(codeCounts + (<usize>b << 2));
  memory.fill(histogramA, 0, <usize>codesA << (1 + alignof<T>()));
  memory.fill(histogramB, 0, <usize>codesB << (1 + alignof<T>()));
  let at = rows + (<usize>from << 2);
  const end = at + (<usize>n << 2);
  for (; at < end; at += 4) {
    const entry = load<u32>(at);
    const row = <usize>(entry >> shift);
    const label = <usize>(entry & 1);
    const weight = weightOf<T>(entry, row, rowWeights);
    const cellA = histogramA + (((<usize>load<u8>(columnA + row) << 1) | label) << alignof<T>());
    const cellB = histogramB + (((<usize>load<u8>(columnB + row) << 1) | label) << alignof<T>());
    store<T>(cellA, load<T>(cellA) + weight);
    store<T>(cellB, load<T>(cellB) + weight);
  }
  scanHistogram<T>(a, histogramA, codesA, total);
  scanHistogram<T>(b, histogramB, codesB, total);
}

function tryOne<T>(
  feature: i32,
  from: i32,
  n: i32,
  total: v128,
  columns: usize,
  rowWeights: usize,
): void {
  const column = <usize>load<u32>(columns + (<usize>feature << 2));
  if (n <= SORTED_ROWS) {
    scanSorted<T>(feature, column, from, n, total, rowWeights);
    return;
  }
  const codes = load<i32>(codeCounts + (<usize>feature << 2));
  memory.fill(histogramA, 0, <usize>codes << (1 + alignof<T>()));
  let at = rows + (<usize>from << 2);
  const end = at + (<usize>n << 2);
  for (; at < end; at += 4) {
    const entry = load<u32>(at);
    const row = <usize>(entry >> shift);
    const code = <usize>load<u8>(column + row);
    const cell = histogramA + (((code << 1) | <usize>(entry & 1)) << alignof<T>());
    store<T>(cell, load<T>(cell) + weightOf<T>(entry, row, rowWeights));
  }
  scanHistogram<T>(feature, histogramA, codes, total);
}

@inline
function cellAt<T>(histogram: usize, code: i32): v128 {
  if (isInteger<T>()) {
    return f64x2.convert_low_i32x4_s(v128.load64_zero(histogram + (<usize>code << 3)));
  }
  return v128.load(histogram + (<usize>code << 4));
}

/** sqrt(left0 left1) + sqrt(right0 right1): half of the score that a split should make small. */
@inline
function scoreOf(left: v128, total: v128): f64 {
  const right = f64x2.sub(total, left);
  const zeros = v128.shuffle<f64>(left, right, 0, 2);
  const ones = v128.shuffle<f64>(left, right, 1, 3);
  const roots = f64x2.sqrt(f64x2.mul(zeros, ones));
  return f64x2.extract_lane(roots, 0) + f64x2.extract_lane(roots, 1);
}

@inline
function consider(
  feature: i32,
  left: v128,
  total: v128,
  threshold: i32,
  offset: u32,
  stops: u32,
): void {
  const score = scoreOf(left, total);
  if (score < bestScore) {
    bestScore = score;
    bestFeature = feature;
    bestThreshold = threshold;
    bestOffset = offset;
    bestStops = stops;
    bestLeft = left;
  }
}

@inline
function isEmptyCell<T>(histogram: usize, code: i32): bool {
  if (isInteger<T>()) return load<i64>(histogram + (<usize>code << 3)) == 0;
  return !v128.any_true(v128.load(histogram + (<usize>code << 4)));
}

function scanHistogram<T>(feature: i32, histogram: usize, codes: i32, total: v128): void {
  let left = f64x2.splat(0);
  if (isEmptyCell<T>(histogram, 0)) {
    for (let code: i32 = 1; code < codes - 1; code++) {
      if (isEmptyCell<T>(histogram, code)) continue;
      left = f64x2.add(left, cellAt<T>(histogram, code));
      consider(feature, left, total, code, 0, NODE_STOPS_MISSING);
    }
    return;
  }
  const missing = cellAt<T>(histogram, 0);
  consider(feature, missing, total, 0, 0, 0);
  for (let code: i32 = 1; code < codes - 1; code++) {
    if (isEmptyCell<T>(histogram, code)) continue;
    left = f64x2.add(left, cellAt<T>(histogram, code));
    consider(feature, f64x2.add(left, missing), total, code, 0, 0);
    consider(feature, left, total, code - 1, 1, 0);
  }
}

/** The same search over few entries: sorted by code, then walked group by group. */
function scanSorted<T>(
  feature: i32,
  column: usize,
  from: i32,
  n: i32,
  total: v128,
  rowWeights: usize,
): void {
  const first = rows + (<usize>from << 2);
  const entryWeights = sorted + 128;
  for (let i: i32 = 0; i < n; i++) {
    const entry = load<u32>(first + (<usize>i << 2));
    const row = <usize>(entry >> shift);
    // Key: code, then what is needed to find label and weight again.
    let key = <u32>load<u8>(column + row) << 8;
    if (isInteger<T>()) {
      key |= entry & lowMask;
    } else {
      key |= (<u32>i << 1) | (entry & 1);
      store<T>(entryWeights + (<usize>i << 3), weightOf<T>(entry, row, rowWeights));
    }
    let j = i - 1;
    while (j >= 0) {
      const other = load<u32>(sorted + (<usize>j << 2));
      if (other <= key) break;
      store<u32>(sorted + (<usize>j << 2), other, 4);
      j--;
    }
    store<u32>(sorted + (<usize>j << 2), key, 4);
  }
  let left = f64x2.splat(0);
  let missing = f64x2.splat(0);
  let stops = NODE_STOPS_MISSING;
  for (let i: i32 = 0; i < n - 1; i++) {
    const key = load<u32>(sorted + (<usize>i << 2));
    const next = load<u32>(sorted + (<usize>i << 2), 4);
    const weight: f64 = isInteger<T>()
      ? <f64>((key & lowMask) >> 1)
      : load<f64>(entryWeights + (<usize>((key & 0xff) >> 1) << 3));
    const label = f64x2(<f64>(1 - (key & 1)), <f64>(key & 1));
    left = f64x2.add(left, f64x2.mul(f64x2.splat(weight), label));
    const code = <i32>(key >> 8);
    if (code == <i32>(next >> 8)) continue;
    if (code == 0) {
      missing = left;
      left = f64x2.splat(0);
      stops = 0;
      consider(feature, missing, total, 0, 0, 0);
    } else if (stops != 0) {
      consider(feature, left, total, code, 0, stops);
    } else {
      consider(feature, f64x2.add(left, missing), total, code, 0, 0);
      consider(feature, left, total, code - 1, 1, 0);
    }
  }
}

/** Stable, in place: entries that pass move to the back. Answers where they begin. */
function partition(from: i32, n: i32, column: usize, offset: u32, threshold: u32): i32 {
  const start = rows + (<usize>from << 2);
  const end = start + (<usize>n << 2);
  let low = start;
  let high = spare;
  for (let at = start; at < end; at += 4) {
    const entry = load<u32>(at);
    const code = <u32>load<u8>(column + <usize>(entry >> shift));
    const goesRight = <usize>(((code - offset) & 0xff) > threshold);
    store<u32>(low, entry);
    store<u32>(high, entry);
    high += goesRight << 2;
    low += (1 - goesRight) << 2;
  }
  memory.copy(low, spare, high - spare);
  return <i32>((low - rows) >> 2);
}

/**
 * Copies a tree breadth first, so that the upper levels, which every row visits, share cache
 * lines. In the copy a node holds the distance to its left child, so trees can be moved.
 * `sources`: 4 bytes a node of scratch.
 */
export function forestCopy(
  sourceNodes: usize,
  sourceValues: usize,
  sourceCovers: usize,
  count: i32,
  targetNodes: usize,
  targetValues: usize,
  targetCovers: usize,
  sources: usize,
): void {
  store<i32>(sources, 0);
  let next: i32 = 1;
  for (let i: i32 = 0; i < count; i++) {
    const source = load<i32>(sources + (<usize>i << 2));
    const test = load<u32>(sourceNodes + (<usize>source << 3));
    const child = load<i32>(sourceNodes + (<usize>source << 3), 4);
    const node = targetNodes + (<usize>i << 3);
    store<u32>(node, test);
    store<f64>(targetValues + (<usize>i << 3), load<f64>(sourceValues + (<usize>source << 3)));
    store<f32>(targetCovers + (<usize>i << 2), load<f32>(sourceCovers + (<usize>source << 2)));
    if (child == source) {
      store<i32>(node, 0, 4);
      continue;
    }
    store<i32>(node, next - i, 4);
    store<i32>(sources + (<usize>next << 2), child);
    store<i32>(sources + (<usize>next << 2), child + 1, 4);
    next += 2;
  }
}
