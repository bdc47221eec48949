// Learning a feature from its training values: type, buckets, categories.
import { DISTINCT_SLOTS } from '../../kernel/generated.ts';
import { failure } from '../../util/error.ts';
import { type Atom, atomTypeName } from '../../value/atom.ts';
import { atomToJsonText } from '../../value/json.ts';
import { Timestamp } from '../../value/timestamp.ts';
import { Random } from '../random.ts';
import {
  type JobContext,
  Layout,
  lookEvery,
  NEVER_CANCELLED,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import {
  BLOCK_ROW_COUNT,
  forEachBlock,
  forEachNumberBlock,
  numberAt,
  placed,
  placedNumbers,
} from './block.ts';
import { bucketBoundaries, type WeightedValues, weightedValues } from './boundaries.ts';
import { type CategoryTotal, listCategories, rankCategories } from './categories.ts';
import { BUCKET_COUNT_MAX, type Feature } from './feature.ts';
import {
  categoryOf,
  featureType,
  type NumberPiece,
  numberOf,
  type SourceColumn,
  type SparseColumn,
} from './source.ts';

/** What the rows weigh and what they teach; both one float64 a row. */
export interface RowTargets {
  readonly rowCount: number;
  /** absent when all rows weigh the same */
  readonly weights?: Float64Array;
  /** 0 or 1 for two classes, the number for regression; orders categories */
  readonly targets?: Float64Array;
  /** how many rows they are, where one stands for several */
  readonly standsFor?: number;
}

export interface DescribeOptions {
  /** how categories get codes, see CategoricalFeature; `none`: as `each`, and no buckets of numbers */
  readonly coding: 'rank' | 'each' | 'none';
  /** an arena with room for scratch; a column that lies in it is not copied */
  readonly arena: number;
  /** buckets of a number at most; default 255 */
  readonly bucketCountMax?: number;
}

/** Of more rows than this, as many are drawn to place the boundaries of buckets. */
const SAMPLE_ROW_COUNT_MAX = 262_144;

/** @throws DATA_ERROR when the values of a numeric column are not numbers */
export function describeFeature(
  workspace: Workspace,
  source: SourceColumn,
  rows: RowTargets,
  options: DescribeOptions,
  scope: JobContext = NEVER_CANCELLED,
): Feature {
  if (source.kind === 'nulls' || rows.rowCount === 0) return { kind: 'unused', name: source.name };
  if (options.coding === 'none' && source.kind !== 'codes') return describePresence(source, rows);
  const { bucketCountMax = BUCKET_COUNT_MAX } = options;
  if (source.kind === 'numbers') return describeNumbers(workspace, source, rows, options, scope);
  if (source.kind === 'sparse') return describeSparse(source, rows, bucketCountMax, scope);
  const totals = codeTotals(workspace, source, rows, options.arena, scope);
  const seen = source.entries.filter((_, index) => totals.counts[index + 1] !== 0);
  const type = featureType(seen);
  const hasMissing = totals.counts[0] !== 0;
  const { name } = source;
  if (type === 'INUTILE') return { kind: 'unused', name };
  scope.checkCancelled();
  if (type === 'REAL') {
    const values = Float64Array.from(seen, (atom) => requireNumber(name, atom));
    if (options.coding === 'none') return unbucketed(name, hasMissing);
    const weights = totals.weights.subarray(1).filter((_, i) => totals.counts[i + 1] !== 0);
    return {
      kind: 'numeric',
      name,
      boundaries: bucketBoundaries(weightedValues(values, weights, scope), bucketCountMax),
      hasMissing,
    };
  }
  const look = lookEvery(scope);
  const categories = uniteCategories(source.entries, totals, look);
  return options.coding === 'rank'
    ? rankCategories(name, categories, rows.standsFor ?? rows.rowCount, hasMissing, look)
    : listCategories(name, categories, hasMissing, look);
}

function requireNumber(name: string, atom: Atom): number {
  const number = numberOf(atom);
  if (number === undefined) throw noFeature(name, atom);
  return number;
}

/** The refusal of a value that learners cannot read. */
function noFeature(name: string, value: Atom): Error {
  const kind = atomTypeName(value);
  const remedy =
    value instanceof Timestamp
      ? `, or make numbers of it, as in {date_part('hour', ${name}) AS hour}`
      : '';
  return failure(
    'DATA_ERROR',
    `Column '${name}' holds values of type ${kind}, such as ${atomToJsonText(value)}, but learners read numbers and texts: leave it out, as in {* EXCLUDING (${name})}${remedy}`,
    { column: name },
  );
}

export function notNumeric(name: string, value: Atom): Error {
  return failure(
    'DATA_ERROR',
    `Value for column '${name}' was numeric in training, but is now ${atomToJsonText(value)}`,
  );
}

interface CodeTotals {
  /** rows of each code, NULL first */
  readonly counts: Float64Array;
  readonly weights: Float64Array;
  readonly targetSums: Float64Array;
}

function codeTotals(
  workspace: Workspace,
  { pieces, entries }: SourceColumn & { kind: 'codes' },
  rows: RowTargets,
  arena: number,
  scope: JobContext,
): CodeTotals {
  const { targets, weights } = rows;
  const entryCount = entries.length;
  const blockSize = BLOCK_ROW_COUNT * 8;
  const pairsSize = (entryCount + 1) * 16;
  return withScratch(workspace, arena, 3 * blockSize + 2 * pairsSize, (scratch) => {
    const { f64, u8 } = workspace.memory.get(arena);
    const kernels = workspace.kernels(arena);
    const weightsAt = scratch + blockSize;
    const targetsAt = weightsAt + blockSize;
    const pairsAt = targetsAt + blockSize;
    const countsAt = pairsAt + pairsSize;
    u8.fill(0, pairsAt, countsAt + pairsSize);
    forEachBlock(pieces, (codes, row) => {
      scope.checkCancelled();
      const source = placed(workspace, arena, codes, scratch);
      const { BYTES_PER_ELEMENT: width, length } = codes;
      if (weights !== undefined) f64.set(weights.subarray(row, row + length), weightsAt >>> 3);
      if (targets !== undefined) f64.set(targets.subarray(row, row + length), targetsAt >>> 3);
      const weighted = weights === undefined ? 0 : weightsAt;
      const target = targets === undefined ? 0 : targetsAt;
      kernels.binTotals(source, width, length, target, weighted, pairsAt);
      if (weighted !== 0) kernels.binTotals(source, width, length, 0, 0, countsAt);
    });
    scope.checkCancelled();
    const column = (at: number, part: number) => {
      const values = new Float64Array(entryCount + 1);
      for (let i = 0; i < values.length; i++) values[i] = f64[(at >>> 3) + 2 * i + part] as number;
      return values;
    };
    return {
      counts: column(weights === undefined ? pairsAt : countsAt, 0),
      weights: column(pairsAt, 0),
      targetSums: column(pairsAt, 1),
    };
  });
}

/** Totals by text: the number 1 and the string '1' are one category. */
function uniteCategories(
  entries: readonly Atom[],
  totals: CodeTotals,
  look: () => void,
): CategoryTotal[] {
  const byText = new Map<string, { category: string; weight: number; targetSum: number }>();
  for (const [index, entry] of entries.entries()) {
    look();
    if (entry === null || totals.counts[index + 1] === 0) continue;
    const category = categoryOf(entry);
    let total = byText.get(category);
    if (total === undefined) {
      total = { category, weight: 0, targetSum: 0 };
      byText.set(category, total);
    }
    total.weight += totals.weights[index + 1] as number;
    total.targetSum += totals.targetSums[index + 1] as number;
  }
  return [...byText.values()];
}

/** A number of which learners read the values. */
function unbucketed(name: string, hasMissing: boolean): Feature {
  return { kind: 'numeric', name, boundaries: new Float64Array(0), hasMissing };
}

/** Only whether rows have numbers. */
function describePresence(
  source: Extract<SourceColumn, { kind: 'numbers' | 'sparse' }>,
  { rowCount }: RowTargets,
): Feature {
  const { name } = source;
  let presentCount = 0;
  if (source.kind === 'sparse') presentCount = source.rows.length;
  else for (const piece of source.pieces) presentCount += presentCountOf(piece);
  return presentCount === 0 ? { kind: 'unused', name } : unbucketed(name, presentCount < rowCount);
}

function presentCountOf(piece: NumberPiece): number {
  const { values, validity } = piece;
  if (validity === undefined && values instanceof Int32Array) return values.length;
  let count = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(numberAt(piece, i))) count++;
  return count;
}

function describeNumbers(
  workspace: Workspace,
  source: SourceColumn & { kind: 'numbers' },
  rows: RowTargets,
  { arena, bucketCountMax = BUCKET_COUNT_MAX }: DescribeOptions,
  scope: JobContext,
): Feature {
  const few = fewValues(workspace, source.pieces, rows, arena, scope);
  const { name } = source;
  if (few.values.length === 0) return { kind: 'unused', name };
  scope.checkCancelled();
  const values =
    few.values.length > BUCKET_COUNT_MAX ? sampledValues(source.pieces, rows, scope) : few;
  const boundaries = bucketBoundaries(values, bucketCountMax);
  return { kind: 'numeric', name, boundaries, hasMissing: few.hasMissing };
}

function describeSparse(
  { name, rows: at, values }: SparseColumn,
  { rowCount, weights }: RowTargets,
  bucketCountMax: number,
  scope: JobContext,
): Feature {
  if (at.length === 0) return { kind: 'unused', name };
  const own = weights && Float64Array.from(at, (row) => weights[row] as number);
  const boundaries = bucketBoundaries(weightedValues(values, own, scope), bucketCountMax);
  return { kind: 'numeric', name, boundaries, hasMissing: at.length < rowCount };
}

/** All distinct values while they are at most 255, otherwise at least one more. */
function fewValues(
  workspace: Workspace,
  pieces: readonly NumberPiece[],
  rows: RowTargets,
  arena: number,
  scope: JobContext,
): WeightedValues & { hasMissing: boolean } {
  const blockSize = BLOCK_ROW_COUNT * 8;
  const layout = new Layout();
  const sizes = [blockSize, blockSize, DISTINCT_SLOTS * 16, DISTINCT_SLOTS * 2];
  for (const size of sizes) layout.take(size);
  return withScratch(workspace, arena, layout.sizeBytes, (scratch) => {
    const { f64, u16 } = workspace.memory.get(arena);
    const kernels = workspace.kernels(arena);
    const place = new Layout(scratch);
    const [values, weights, table, slots] = sizes.map((size) => place.take(size)) as [
      number,
      number,
      number,
      number,
    ];
    let found = 0;
    let hasMissing = false;
    forEachNumberBlock(pieces, (piece, from, length, row) => {
      scope.checkCancelled();
      const isMany = found > BUCKET_COUNT_MAX;
      if (isMany && hasMissing) return;
      const source = placedNumbers(workspace, arena, piece, from, length, values);
      hasMissing ||= containsNaN(f64.subarray(source >>> 3, (source >>> 3) + length));
      if (isMany) return;
      if (rows.weights !== undefined) {
        f64.set(rows.weights.subarray(row, row + length), weights >>> 3);
      }
      const weighted = rows.weights === undefined ? 0 : weights;
      const limit = BUCKET_COUNT_MAX;
      found = kernels.binDistinct(source, length, weighted, limit, table, slots, found);
    });
    const at = (index: number) => (table >>> 3) + 2 * (u16[(slots >>> 1) + index] as number);
    const count = Math.min(found, BUCKET_COUNT_MAX);
    const distinct = Float64Array.from({ length: count }, (_, i) => f64[at(i)] as number);
    const sums = Float64Array.from({ length: count }, (_, i) => f64[at(i) + 1] as number);
    if (found > BUCKET_COUNT_MAX) {
      return { values: new Float64Array(found), weights: new Float64Array(0), hasMissing };
    }
    return { ...weightedValues(distinct, sums), hasMissing };
  });
}

function containsNaN(values: Float64Array): boolean {
  return values.includes(Number.NaN);
}

/** The values of all rows, or of one random row out of each of equal stretches of rows. */
function sampledValues(
  pieces: readonly NumberPiece[],
  rows: RowTargets,
  scope: JobContext,
): WeightedValues {
  const stretch = Math.max(1, rows.rowCount / SAMPLE_ROW_COUNT_MAX);
  const random = Random.of(rows.rowCount, pieces.length);
  const values = new Float64Array(Math.ceil(rows.rowCount / stretch));
  const weights = new Float64Array(rows.weights === undefined ? 0 : values.length);
  let count = 0;
  let first = 0;
  let stretchIndex = 0;
  let next = Math.floor(random.uniform() * stretch);
  for (const piece of pieces) {
    const end = first + piece.values.length;
    while (next < end) {
      const value = numberAt(piece, next - first);
      if (!Number.isNaN(value)) {
        values[count] = value;
        if (rows.weights !== undefined) weights[count] = rows.weights[next] as number;
        count++;
      }
      stretchIndex++;
      next = Math.floor((stretchIndex + random.uniform()) * stretch);
    }
    first = end;
  }
  return rows.weights === undefined
    ? weightedValues(values.subarray(0, count), undefined, scope)
    : weightedValues(values.subarray(0, count), weights.subarray(0, count), scope);
}
