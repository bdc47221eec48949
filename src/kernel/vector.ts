// Signatures of the vector kernels of the query engine. Addresses are byte offsets into the arena
// of the kernels; counts are in rows. Truth values are bytes: 0 false, 1 null, 2 true.

/** Codes of comparison operators, as the kernels know them. */
export const COMPARE = { '=': 0, '!=': 1, '<': 2, '<=': 3, '>': 4, '>=': 5 } as const;
/** Codes of arithmetic operators. */
export const ARITHMETIC = { '+': 0, '-': 1, '*': 2, '/': 3 } as const;

export const TRUTH = { false: 0, null: 1, true: 2 } as const;

/** Outputs of kernels may reach this far behind their last row. */
export const OVERRUN_SIZE = 64;

export interface VectorKernels {
  compareI32(values: number, count: number, operator: number, limit: number, out: number): void;
  compareF64(
    a: number,
    b: number,
    step: number,
    count: number,
    operator: number,
    out: number,
  ): void;
  andTruth(a: number, b: number, count: number, out: number): void;
  orTruth(a: number, b: number, count: number, out: number): void;
  notTruth(a: number, count: number, out: number): void;
  nullTruth(truth: number, valid: number, count: number): void;
  expandBits(bits: number, count: number, out: number): void;
  validCodes(codes: number, width: number, count: number, out: number): void;
  mapCodesU8(codes: number, width: number, count: number, table: number, out: number): void;
  mapCodesI32(codes: number, width: number, count: number, table: number, out: number): void;
  mapCodesF64(codes: number, width: number, count: number, table: number, out: number): void;
  widenCodes(codes: number, width: number, count: number, out: number): void;
  selectTrue(truth: number, count: number, out: number): number;
  countTrue(truth: number, count: number): number;

  arithmeticF64(
    a: number,
    aStep: number,
    b: number,
    bStep: number,
    count: number,
    operator: number,
    out: number,
  ): void;
  convertI32ToF64(values: number, count: number, out: number): void;
  andBytes(a: number, b: number, count: number, out: number): void;

  chooseF64(
    truth: number,
    a: number,
    aStep: number,
    b: number,
    bStep: number,
    count: number,
    out: number,
  ): void;
  chooseBytes(truth: number, a: number, b: number, count: number, out: number): void;

  dropGroups(groups: number, truth: number, count: number, trash: number): void;
  combineGroups(groups: number, next: number, count: number, factor: number): void;
  rangeCodes(values: number, valid: number, count: number, least: number, out: number): void;
  groupCount(groups: number, valid: number, count: number, counts: number): void;
  groupSumI32(groups: number, values: number, valid: number, count: number, cells: number): void;
  groupSumF64(groups: number, values: number, valid: number, count: number, cells: number): void;
  groupMinF64(groups: number, values: number, valid: number, count: number, cells: number): void;
  groupMaxF64(groups: number, values: number, valid: number, count: number, cells: number): void;
  groupMoments(groups: number, values: number, valid: number, count: number, cells: number): void;
  groupPresence(groups: number, codes: number, count: number, width: number, present: number): void;
  presence(codes: number, width: number, truth: number, count: number, present: number): void;
  sumI32(values: number, truth: number, count: number): bigint;
  sumF64Where(values: number, truth: number, count: number): number;
  addCellsI64(target: number, source: number, cellCount: number): void;
  addCellsF64(target: number, source: number, cellCount: number): void;
  mergeExtremes(target: number, source: number, cellCount: number, sign: number): void;
  addCounts(target: number, source: number, count: number): void;
  orBytes(target: number, source: number, count: number): void;
  countBytes(bytes: number, count: number): number;

  partitionKeys(
    keys: number,
    truth: number,
    count: number,
    bits: number,
    pairs: number,
    starts: number,
  ): void;
  numberPairs(
    pairs: number,
    count: number,
    table: number,
    mask: number,
    keys: number,
    state: number,
  ): number;
  enterKeys(keys: number, count: number, table: number, mask: number): void;
  scatterNumbers(
    pairs: number,
    starts: number,
    bases: number,
    partCount: number,
    out: number,
  ): void;
  enterWords(
    words: number,
    count: number,
    isPair: number,
    table: number,
    mask: number,
    used: number,
  ): number;
  findWords(
    words: number,
    count: number,
    isPair: number,
    table: number,
    mask: number,
    out: number,
  ): void;
  pairCodes(upper: number, lower: number, count: number, out: number): void;
  fieldsOfWords(words: number, count: number, shift: number, bits: number, out: number): void;
  doublesOfKeys(keys: number, count: number, out: number): void;
  gatherU64(words: number, rows: number, count: number, out: number): void;
  selectCells(counts: number, cellCount: number, out: number): number;
  expandCells(
    prefixes: number,
    prefixCount: number,
    codes: number,
    cardinality: number,
    counts: number,
    out: number,
  ): number;
  digitsOfCells(
    cells: number,
    count: number,
    divisor: number,
    cardinality: number,
    out: number,
  ): void;
  gatherCellsI64(base: number, size: number, cells: number, count: number, out: number): void;
  gatherCellsF64(base: number, size: number, cells: number, count: number, out: number): void;

  rangeCodesWithin(
    values: number,
    valid: number,
    count: number,
    least: number,
    cardinality: number,
    out: number,
  ): void;
  linkRows(codes: number, count: number, first: number, head: number, next: number): number;
  probePairs(
    codes: number,
    truth: number,
    count: number,
    head: number,
    next: number,
    lone: number,
    state: number,
    left: number,
    right: number,
    capacity: number,
  ): number;
  countCodes(codes: number, count: number, starts: number): number;
  sumCounts(starts: number, count: number): void;
  placeRows(codes: number, count: number, first: number, cursors: number, rows: number): void;
  probeRows(
    codes: number,
    truth: number,
    count: number,
    ends: number,
    rows: number,
    lone: number,
    state: number,
    left: number,
    right: number,
    capacity: number,
  ): number;
  markCodes(codes: number, count: number, present: number): number;
  scatterBytes(codes: number, values: number, count: number, out: number): void;
  scatterI32(codes: number, values: number, count: number, out: number): void;
  scatterF64(codes: number, values: number, count: number, out: number): void;
  gatherBytes(values: number, rows: number, count: number, out: number): void;
  gatherI32(values: number, rows: number, count: number, out: number): void;
  gatherF64(values: number, rows: number, count: number, out: number): void;

  orderKeysF64(values: number, valid: number, count: number, descending: number, out: number): void;
  orderKeysI32(values: number, valid: number, count: number, descending: number, out: number): void;
  selectAtMost(keys: number, truth: number, count: number, limit: bigint, out: number): number;
  selectWithinI32(
    values: number,
    truth: number,
    from: number,
    count: number,
    limit: number,
    descending: number,
    most: number,
    out: number,
  ): number;
  splitTies(keys: number, positions: number, count: number, limit: bigint, ties: number): number;
  radixPass(source: number, target: number, count: number, shift: number, counts: number): void;
  varyingBits(pairs: number, count: number): bigint;
  pairKeys(keys: number, count: number, first: number, out: number): void;
  packKeyI32(
    values: number,
    valid: number,
    count: number,
    least: number,
    top: number,
    bits: number,
    out: number,
  ): void;
  appendTails(words: number, tails: number, count: number, bits: number, align: number): void;
  keepLeast(
    keys: number,
    truth: number,
    count: number,
    heap: number,
    size: number,
    keep: number,
  ): number;
  pairTrueKeys(keys: number, truth: number, count: number, first: number, out: number): number;
  gatherPairKeys(pairs: number, count: number, words: number): void;
  findTie(pairs: number, from: number, count: number): number;
  rowsOfPairs(pairs: number, count: number, out: number): void;
  sortFewPairs(pairs: number, count: number): void;
  sortPairs(pairs: number, spare: number, count: number, counts: number): void;
  setPairKeys(pairs: number, count: number, keys: number): void;
  endOfTie(pairs: number, from: number, count: number): number;
  sortTies(
    pairs: number,
    from: number,
    count: number,
    most: number,
    first: number,
    spare: number,
  ): number;
  groupLeast(
    groups: number,
    words: number,
    count: number,
    start: number,
    cells: number,
    first: number,
    spare: number,
  ): void;
  mergeLeast(target: number, source: number, cellCount: number, first: number, spare: number): void;
  hashDecimalNames(first: number, positions: number, count: number, out: number): void;
}
