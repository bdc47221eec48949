// Best tests of a node of a decision tree, from a histogram over one column's bucket codes.
// Cells hold f64 sums: per class the weight of its rows, or for regression {weight, weight x
// (target - mean of the node)}, both followed by the number of rows. Code 0 means "missing".

/** Totals of the rows listed at `rows` (u32): labelCount weights and the row count, all f64. */
export function splitTotals(
  rows: usize,
  count: i32,
  labels: usize,
  weights: usize,
  labelCount: i32,
  totals: usize,
): void {
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const cell = totals + (<usize>load<u16>(labels + (row << 1)) << 3);
    store<f64>(cell, load<f64>(cell) + load<f64>(weights + (row << 3)));
  }
  store<f64>(totals + (<usize>labelCount << 3), <f64>count);
}

/** Adds rows to the cells, labelCount + 1 f64 each, of their bucket codes. */
export function splitHistogram(
  rows: usize,
  count: i32,
  column: usize,
  labels: usize,
  weights: usize,
  labelCount: i32,
  cells: usize,
): void {
  const size = <usize>(labelCount + 1) << 3;
  const last = <usize>labelCount << 3;
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const cell = cells + <usize>load<u8>(column + row) * size;
    const sum = cell + (<usize>load<u16>(labels + (row << 1)) << 3);
    store<f64>(sum, load<f64>(sum) + load<f64>(weights + (row << 3)));
    store<f64>(cell + last, load<f64>(cell + last) + 1);
  }
}

/**
 * Where each row has a weight for each label: cells of {weight for, weight against} a label, then
 * the row count. `pairs`: labelCount f64 a row.
 */
export function splitPairTotals(
  rows: usize,
  count: i32,
  labels: usize,
  pairs: usize,
  labelCount: i32,
  totals: usize,
): void {
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    addPairs(totals, <usize>load<u32>(at), labels, pairs, labelCount);
  }
  store<f64>(totals + (<usize>labelCount << 4), <f64>count);
}

@inline
function addPairs(cell: usize, row: usize, labels: usize, pairs: usize, labelCount: i32): void {
  const own = <i32>load<u16>(labels + (row << 1));
  let from = pairs + ((row * <usize>labelCount) << 3);
  let to = cell;
  for (let l: i32 = 0; l < labelCount; l++, from += 8, to += 16) {
    const at = to + (<usize>(l != own) << 3);
    store<f64>(at, load<f64>(at) + load<f64>(from));
  }
}

/** Adds rows to the cells, 2 labelCount + 1 f64 each, of their bucket codes. */
export function splitPairHistogram(
  rows: usize,
  count: i32,
  column: usize,
  labels: usize,
  pairs: usize,
  labelCount: i32,
  cells: usize,
): void {
  const last = <usize>labelCount << 4;
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const cell = cells + <usize>load<u8>(column + row) * (last + 8);
    addPairs(cell, row, labels, pairs, labelCount);
    store<f64>(cell + last, load<f64>(cell + last) + 1);
  }
}

/** {weight, weight x target, smallest, largest target, rows} of the listed rows. */
export function splitTargetTotals(
  rows: usize,
  count: i32,
  targets: usize,
  weights: usize,
  totals: usize,
): void {
  let weightSum: f64 = 0;
  let sum: f64 = 0;
  let low: f64 = Infinity;
  let high: f64 = -Infinity;
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const weight = load<f64>(weights + (row << 3));
    const target = load<f64>(targets + (row << 3));
    weightSum += weight;
    sum += weight * target;
    low = min(low, target);
    high = max(high, target);
  }
  store<f64>(totals, weightSum);
  store<f64>(totals, sum, 8);
  store<f64>(totals, low, 16);
  store<f64>(totals, high, 24);
  store<f64>(totals, <f64>count, 32);
}

/** Sum of weight x (target - mean)^2 of the listed rows. */
export function splitVariance(
  rows: usize,
  count: i32,
  targets: usize,
  weights: usize,
  mean: f64,
): f64 {
  let sum: f64 = 0;
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const distance = load<f64>(targets + (row << 3)) - mean;
    sum += load<f64>(weights + (row << 3)) * distance * distance;
  }
  return sum;
}

/** The regression form of splitHistogram: cells of {weight, weight x (target - mean), rows}. */
export function splitTargetHistogram(
  rows: usize,
  count: i32,
  column: usize,
  targets: usize,
  weights: usize,
  mean: f64,
  cells: usize,
): void {
  for (let at = rows; at < rows + (<usize>count << 2); at += 4) {
    const row = <usize>load<u32>(at);
    const cell = cells + <usize>load<u8>(column + row) * 24;
    const weight = load<f64>(weights + (row << 3));
    const sum = weight * (load<f64>(targets + (row << 3)) - mean);
    store<f64>(cell, load<f64>(cell) + weight);
    store<f64>(cell, load<f64>(cell, 8) + sum, 8);
    store<f64>(cell, load<f64>(cell, 16) + 1, 16);
  }
}

const PRESENT: i32 = 1;
const LESS: i32 = 2;
const EQUAL: i32 = 3;

// What the search has found so far: the smallest sum of outcome scores, and its test.
let best: f64 = 0;
let tolerance: f64 = 0;
let kind: i32 = 0;
let low: i32 = 0;
let high: i32 = 0;

@inline
function offer(score: f64, test: i32, from: i32, to: i32): void {
  if (score < best - tolerance) {
    best = score;
    kind = test;
    low = from;
    high = to;
  }
}

/**
 * Score of one outcome: classes, the sum over labels of sqrt(w+ w-); regression, minus the part of
 * the squared error that the outcome's own mean explains.
 */
function outcomeScore(cell: usize, labelCount: i32): f64 {
  if (labelCount == 0) {
    const weight = load<f64>(cell);
    const sum = load<f64>(cell, 8);
    return weight > 0 ? (-sum * sum) / weight : 0;
  }
  if (labelCount < 0) {
    let sum: f64 = 0;
    for (let l: i32 = 0; l < -labelCount; l++) {
      const at = cell + (<usize>l << 4);
      sum += Math.sqrt(load<f64>(at) * load<f64>(at, 8));
    }
    return sum;
  }
  if (labelCount == 2) return 2 * Math.sqrt(load<f64>(cell) * load<f64>(cell, 8));
  let total: f64 = 0;
  let seen: i32 = 0;
  for (let l: i32 = 0; l < labelCount; l++) {
    const weight = load<f64>(cell + (<usize>l << 3));
    total += weight;
    seen += i32(weight > 0);
  }
  if (seen < 2) return 0; // total - weight would be rounding, not weight of others
  let score: f64 = 0;
  for (let l: i32 = 0; l < labelCount; l++) {
    const weight = load<f64>(cell + (<usize>l << 3));
    score += Math.sqrt(weight * (total - weight));
  }
  return score;
}

@inline
function addCell(target: usize, source: usize, size: usize): void {
  for (let k: usize = 0; k < size; k += 8) {
    store<f64>(target + k, load<f64>(target + k) + load<f64>(source + k));
  }
}

/**
 * The best three-way test of one column: lowest sum of outcome scores, then PRESENT before others,
 * then the smaller argument. Only tests that part the rows count.
 * @param cells codes x (labelCount + 1, regression 3) f64
 * @param labelCount classes, 0 for regression; minus classes: cells have pairs of weights a label
 * @param isOrdered LESS tests between codes; otherwise EQUAL tests of codes up to equalMax
 * @param margin scores this much apart are a tie
 * @param scratch (codes + 4) cells and codes f64
 * @param result f64 score, then i32 kind (0 none, 1 PRESENT, 2 LESS, 3 EQUAL), i32 low, i32 high:
 *   LESS parts codes <= low from codes >= high with no row between; EQUAL tests code low
 */
export function splitSearch(
  cells: usize,
  codes: i32,
  labelCount: i32,
  isOrdered: i32,
  equalMax: i32,
  margin: f64,
  scratch: usize,
  result: usize,
): void {
  const size: usize =
    labelCount == 0
      ? 24
      : labelCount < 0
        ? <usize>(1 - 2 * labelCount) << 3
        : <usize>(labelCount + 1) << 3;
  const rowsAt = size - 8;
  best = Infinity;
  tolerance = margin;
  kind = 0;
  low = 0;
  high = 0;
  // Suffix sums: exact zeros stay exact, which differences from the total would not be.
  const running = scratch;
  const suffixes = scratch + size * 2;
  const suffixScores = suffixes + size * <usize>(codes + 2);
  memory.fill(suffixes + size * <usize>codes, 0, size);
  for (let code = codes - 1; code >= 1; code--) {
    const suffix = suffixes + size * <usize>code;
    memory.copy(suffix, suffix + size, size);
    addCell(suffix, cells + size * <usize>code, size);
    store<f64>(suffixScores + (<usize>code << 3), outcomeScore(suffix, labelCount));
  }
  const missingScore = outcomeScore(cells, labelCount);
  const presentRows = codes > 1 ? load<f64>(suffixes + size + rowsAt) : 0;
  if (presentRows > 0) {
    if (load<f64>(cells + rowsAt) > 0) {
      offer(missingScore + load<f64>(suffixScores, 8), PRESENT, 0, 1);
    }
    memory.fill(running, 0, size);
    if (isOrdered) searchOrdered(cells, codes, labelCount, size, missingScore, scratch);
    else searchEqual(cells, min(codes, equalMax + 1), labelCount, size, missingScore, scratch);
  }
  store<f64>(result, best);
  store<i32>(result, kind, 8);
  store<i32>(result, low, 12);
  store<i32>(result, high, 16);
}

function searchOrdered(
  cells: usize,
  codes: i32,
  labelCount: i32,
  size: usize,
  missingScore: f64,
  running: usize,
): void {
  const suffixScores = running + size * <usize>(codes + 4);
  let last: i32 = 0;
  for (let code: i32 = 1; code < codes; code++) {
    const cell = cells + size * <usize>code;
    if (load<f64>(cell + size - 8) == 0) continue;
    if (last > 0) {
      const left = outcomeScore(running, labelCount);
      const right = load<f64>(suffixScores + (<usize>code << 3));
      offer(missingScore + left + right, LESS, last, code);
    }
    addCell(running, cell, size);
    last = code;
  }
}

function searchEqual(
  cells: usize,
  end: i32,
  labelCount: i32,
  size: usize,
  missingScore: f64,
  running: usize,
): void {
  const others = running + size;
  const suffixes = running + size * 2;
  for (let code: i32 = 1; code < end; code++) {
    const cell = cells + size * <usize>code;
    if (load<f64>(cell + size - 8) == 0) continue;
    memory.copy(others, running, size);
    addCell(others, suffixes + size * <usize>(code + 1), size);
    if (load<f64>(others + size - 8) > 0) {
      const score = outcomeScore(cell, labelCount) + outcomeScore(others, labelCount);
      offer(missingScore + score, EQUAL, code, code);
    }
    addCell(running, cell, size);
  }
}

/**
 * Parts the listed rows, stably and in place, into true, false and missing. True are codes in
 * [first, last]. `counts`: three i32.
 */
export function splitRows(
  rows: usize,
  count: i32,
  column: usize,
  first: i32,
  last: i32,
  spare: usize,
  counts: usize,
): void {
  let low = rows;
  let other = spare;
  let missing = spare + (<usize>count << 2);
  const end = rows + (<usize>count << 2);
  for (let at = rows; at < end; at += 4) {
    const row = load<u32>(at);
    const code = <i32>load<u8>(column + <usize>row);
    if (code >= first && code <= last) {
      store<u32>(low, row);
      low += 4;
    } else if (code != 0) {
      store<u32>(other, row);
      other += 4;
    } else {
      missing -= 4;
      store<u32>(missing, row);
    }
  }
  const trueCount = <i32>((low - rows) >> 2);
  const falseCount = <i32>((other - spare) >> 2);
  memory.copy(low, spare, other - spare);
  // Missing rows were laid down from the back, so they are read from the back.
  let from = spare + (<usize>count << 2);
  for (let at = low + (other - spare); at < end; at += 4) {
    from -= 4;
    store<u32>(at, load<u32>(from));
  }
  store<i32>(counts, trueCount);
  store<i32>(counts, falseCount, 4);
  store<i32>(counts, count - trueCount - falseCount, 8);
}
