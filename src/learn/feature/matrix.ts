// Feature matrices: bucket codes of all rows in shared memory, and how they are filled.
import { BOUNDARY_SLOTS } from '../../kernel/generated.ts';
import { assert } from '../../util/assert.ts';
import type { Atom } from '../../value/atom.ts';
import type { Span } from '../../value/column/snapshot.ts';
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
  placed,
  placedNumbers,
} from './block.ts';
import { describeFeature, notNumeric, type RowTargets } from './describe.ts';
import {
  boundariesOf,
  type CategoricalFeature,
  categoryCode,
  codeCountOf,
  columnCountOf,
  type Feature,
  MISSING_CODE,
  numericCode,
} from './feature.ts';
import { categoryOf, denseSource, numberOf, type SourceColumn } from './source.ts';
import {
  type ScarceColumn,
  type SparseCodes,
  scarceColumns,
  writeSparseCodes,
} from './sparse-codes.ts';

/** One column of codes, a byte a row. */
export interface MatrixColumn {
  /** index into the features */
  readonly feature: number;
  /** which of the feature's columns it is */
  readonly part: number;
  /** byte offset in the matrix's arena; 0 when sparse */
  readonly offset: number;
  /** its codes are among the sparse ones of the matrix */
  readonly isSparse: boolean;
  /** highest code + 1 */
  readonly codeCount: number;
}

/** Plain data: can be posted to other threads, which see the same memory. */
export interface FeatureMatrix {
  readonly rowCount: number;
  /** holds all columns but the sparse ones */
  readonly span: Span;
  /** columns that few rows have; only for learners that take them */
  readonly sparse?: SparseCodes;
  readonly features: readonly Feature[];
  readonly columns: readonly MatrixColumn[];
}

/** Room for the codes of `rowCount` rows. The span is the caller's to free. */
export function allocateMatrix(
  workspace: Workspace,
  features: readonly Feature[],
  rowCount: number,
  arena?: number,
  isScarce: readonly boolean[] = [],
): FeatureMatrix {
  const layout = new Layout();
  const columns: MatrixColumn[] = [];
  for (const [index, feature] of features.entries()) {
    for (let part = 0; part < columnCountOf(feature); part++) {
      const codeCount = codeCountOf(feature, part);
      const isSparse = isScarce[index] === true;
      // Kernels may read a little past the last code.
      const offset = isSparse ? 0 : layout.take(rowCount + 16);
      columns.push({ feature: index, part, offset, codeCount, isSparse });
    }
  }
  const { memory } = workspace;
  const size = Math.max(16, layout.sizeBytes);
  const span = arena === undefined ? memory.allocate(size) : memory.allocateIn(arena, size);
  return {
    rowCount,
    span,
    features,
    columns: columns.map((column) =>
      column.isSparse ? column : { ...column, offset: span.offset + column.offset },
    ),
  };
}

export interface MatrixOptions {
  /** how categories get codes; `none`: features are described, and nothing is encoded */
  readonly coding: 'rank' | 'each' | 'none';
  readonly arena: number;
  /** buckets of a number at most; default 255 */
  readonly bucketCountMax?: number | undefined;
  /** many columns that few rows have are kept by their entries */
  readonly keepsSparse?: boolean;
}

/** Gives the memory of all columns back. */
export function freeMatrix({ memory }: Workspace, { span, sparse }: FeatureMatrix): void {
  memory.free(span);
  if (sparse !== undefined) memory.free(sparse.span);
}

/** Describes and encodes all columns in the calling thread, which looks up between them. */
export function buildMatrix(
  workspace: Workspace,
  sources: readonly SourceColumn[],
  rows: RowTargets,
  { coding, arena, bucketCountMax, keepsSparse = false }: MatrixOptions,
  scope: JobContext = NEVER_CANCELLED,
): FeatureMatrix {
  const features = sources.map((source) => {
    scope.checkCancelled();
    const limit = bucketCountMax === undefined ? {} : { bucketCountMax };
    return describeFeature(workspace, source, rows, { coding, arena, ...limit }, scope);
  });
  const coded = coding === 'none' ? [] : features;
  const isScarce = keepsSparse ? scarceColumns(sources, coded) : [];
  const matrix = { ...allocateMatrix(workspace, coded, rows.rowCount, arena, isScarce), features };
  if (coding === 'none') return matrix;
  try {
    for (const [index, source] of sources.entries()) {
      if (isScarce[index] === true) continue;
      encodeFeature(workspace, matrix, index, source, 0, rows.rowCount, scope);
    }
    const scarce = scarceOf(matrix, sources);
    if (scarce.length === 0) return matrix;
    const sparse = writeSparseCodes(workspace, scarce, rows.rowCount, arena, scope);
    return { ...matrix, sparse };
  } catch (thrown) {
    workspace.memory.free(matrix.span);
    throw thrown;
  }
}

function scarceOf(
  { columns, features }: FeatureMatrix,
  sources: readonly SourceColumn[],
): ScarceColumn[] {
  const scarce: ScarceColumn[] = [];
  for (const [column, { feature: index, isSparse }] of columns.entries()) {
    const source = sources[index];
    if (!isSparse || source?.kind !== 'sparse') continue;
    scarce.push({ column, feature: features[index] as Feature, source });
  }
  return scarce;
}

/**
 * Writes the codes of rows [fromRow, toRow) of one feature. Ranges and features are independent
 * of one another, so they can be shared out over threads.
 */
export function encodeFeature(
  workspace: Workspace,
  matrix: FeatureMatrix,
  featureIndex: number,
  source: SourceColumn,
  fromRow: number,
  toRow: number,
  scope: JobContext = NEVER_CANCELLED,
): void {
  const feature = matrix.features[featureIndex] as Feature;
  const { columns } = matrix;
  for (let i = firstColumnOf(columns, featureIndex); i < columns.length; i++) {
    const column = columns[i] as MatrixColumn;
    if (column.feature !== featureIndex) break;
    scope.checkCancelled();
    const target = {
      arena: matrix.span.arena,
      offset: column.offset,
      stride: 1,
      fromRow,
      toRow,
    };
    encodeColumn(workspace, feature, column.part, source, target, scope);
  }
}

/** Columns are in the order of their features, of which there may be a million. */
function firstColumnOf(columns: readonly MatrixColumn[], feature: number): number {
  let low = 0;
  let high = columns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((columns[middle] as MatrixColumn).feature < feature) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface CodeTarget {
  readonly arena: number;
  /** where the code of row 0 would go */
  readonly offset: number;
  /** bytes from row to row */
  readonly stride: number;
  readonly fromRow: number;
  readonly toRow: number;
}

/** Writes one column's codes; `source` may hold values that training never saw. */
export function encodeColumn(
  workspace: Workspace,
  feature: Feature,
  part: number,
  column: SourceColumn,
  target: CodeTarget,
  scope: JobContext = NEVER_CANCELLED,
): void {
  const source = denseSource(column);
  if (source.kind === 'numbers' && feature.kind === 'numeric') {
    encodeNumbers(workspace, boundariesOf(feature, part), source, target, scope);
  } else if (source.kind === 'numbers' && feature.kind === 'categorical') {
    const look = lookEvery(scope);
    const positions = categoryPositions(feature, look);
    encodeEach(workspace, source, target, (value) => {
      look();
      if (Number.isNaN(value)) return MISSING_CODE;
      return categoryCode(feature, positions.get(categoryOf(value)) ?? -1, part);
    });
  } else if (source.kind === 'codes') {
    if (feature.kind === 'numeric') refuseOthers(feature.name, source, target);
    const table = codeTable(feature, part, source.entries, lookEvery(scope));
    encodeCodes(workspace, table, source, target, scope);
  } else {
    const { u8 } = workspace.memory.get(target.arena);
    for (let row = target.fromRow; row < target.toRow; row++) {
      u8[target.offset + row * target.stride] = MISSING_CODE;
    }
  }
}

/** Position of each category in the feature's list. @param look called for each */
export function categoryPositions(
  { categories }: CategoricalFeature,
  look: () => void = () => undefined,
): Map<string, number> {
  const positions = new Map<string, number>();
  for (const [index, category] of categories.entries()) {
    look();
    positions.set(category, index);
  }
  return positions;
}

/** Throws when a row has an entry that is not a number. */
function refuseOthers(
  name: string,
  source: SourceColumn & { kind: 'codes' },
  { fromRow, toRow }: CodeTarget,
): void {
  const isOther = source.entries.map((entry) => entry !== null && numberOf(entry) === undefined);
  if (!isOther.includes(true)) return;
  forEachBlock(
    source.pieces,
    (codes) => {
      for (const code of codes) {
        if (code > 0 && isOther[code - 1]) throw notNumeric(name, source.entries[code - 1] ?? null);
      }
    },
    fromRow,
    toRow,
  );
}

function encodeNumbers(
  workspace: Workspace,
  boundaries: Float64Array,
  source: SourceColumn & { kind: 'numbers' },
  target: CodeTarget,
  scope: JobContext,
): void {
  const { arena, stride } = target;
  const tableSize = BOUNDARY_SLOTS * 8;
  assert(boundaries.length < BOUNDARY_SLOTS, 'too many boundaries');
  withScratch(workspace, arena, tableSize + BLOCK_ROW_COUNT * 8, (table) => {
    const { f64 } = workspace.memory.get(arena);
    const kernels = workspace.kernels(arena);
    f64.fill(Number.NaN, table >>> 3, (table + tableSize) >>> 3);
    f64.set(boundaries, table >>> 3);
    const { fromRow, toRow } = target;
    forEachNumberBlock(
      source.pieces,
      (piece, from, length, row) => {
        scope.checkCancelled();
        const values = placedNumbers(workspace, arena, piece, from, length, table + tableSize);
        kernels.binF64(values, length, table, target.offset + row * stride, stride);
      },
      fromRow,
      toRow,
    );
  });
}

function encodeCodes(
  workspace: Workspace,
  codes: Uint8Array,
  source: SourceColumn & { kind: 'codes' },
  target: CodeTarget,
  scope: JobContext,
): void {
  const { arena, stride } = target;
  const staging = BLOCK_ROW_COUNT * 4;
  withScratch(workspace, arena, staging + codes.length, (scratch) => {
    const table = scratch + staging;
    workspace.memory.get(arena).u8.set(codes, table);
    const kernels = workspace.kernels(arena);
    forEachBlock(
      source.pieces,
      (piece, row) => {
        scope.checkCancelled();
        const at = placed(workspace, arena, piece, scratch);
        const width = piece.BYTES_PER_ELEMENT;
        kernels.binCodes(at, width, piece.length, table, target.offset + row * stride, stride);
      },
      target.fromRow,
      target.toRow,
    );
  });
}

/** The bucket code of every dictionary code, NULL first. @param look called for each */
function codeTable(
  feature: Feature,
  part: number,
  entries: readonly Atom[],
  look: () => void,
): Uint8Array {
  const table = new Uint8Array(entries.length + 1);
  if (feature.kind === 'unused') return table;
  if (feature.kind === 'numeric') {
    const boundaries = boundariesOf(feature, part);
    for (const [index, entry] of entries.entries()) {
      look();
      // Entries that no row has may be anything.
      const number = entry === null ? Number.NaN : (numberOf(entry) ?? Number.NaN);
      table[index + 1] = numericCode(boundaries, number);
    }
    return table;
  }
  const positions = categoryPositions(feature, look);
  for (const [index, entry] of entries.entries()) {
    look();
    if (entry === null) continue;
    const position = positions.get(categoryOf(entry)) ?? -1;
    table[index + 1] = categoryCode(feature, position, part);
  }
  return table;
}

function encodeEach(
  workspace: Workspace,
  source: SourceColumn & { kind: 'numbers' },
  target: CodeTarget,
  codeOf: (value: number) => number,
): void {
  const { u8 } = workspace.memory.get(target.arena);
  withScratch(workspace, target.arena, BLOCK_ROW_COUNT * 8, (staging) => {
    const { f64 } = workspace.memory.get(target.arena);
    const place = (piece: Parameters<typeof placedNumbers>[2], from: number, length: number) =>
      placedNumbers(workspace, target.arena, piece, from, length, staging) >>> 3;
    forEachNumberBlock(
      source.pieces,
      (piece, from, length, row) => {
        const at = place(piece, from, length);
        for (let i = 0; i < length; i++) {
          u8[target.offset + (row + i) * target.stride] = codeOf(f64[at + i] as number);
        }
      },
      target.fromRow,
      target.toRow,
    );
  });
}
