// Singular value decomposition of rows of cells: numbers scaled, other values one column each.

import { ROW_GROUP } from '../../kernel/generated.ts';
import type { Atom } from '../../value/atom.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { type Eigen, symmetricEigen } from '../linear-algebra.ts';
import {
  type FitContext,
  Layout,
  type LearnJob,
  lookEvery,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import { largestEigenpairs } from './lanczos.ts';
import {
  type CellColumn,
  infiniteValue,
  type VirtualColumn,
  virtualColumns,
} from './virtual-column.ts';

export interface SvdOptions {
  /** singular values that are kept at most */
  readonly numSingularValues: number;
  /** columns that the decomposition is made of, from the first; the others are projected */
  readonly numDenseBasisVectors: number;
}

export interface SvdFit {
  readonly columns: readonly VirtualColumn[];
  /** descending */
  readonly singularValues: Float64Array;
  /** for each column its part of every singular vector */
  readonly columnVectors: readonly Float64Array[];
  /** for each row its embedding: the projection on each vector, divided by its singular value */
  readonly rowVectors: readonly Float64Array[];
}

/** Directions are kept while their singular value is above this share of the largest. */
const SINGULAR_VALUE_MIN = 1e-6;
/** A basis of at most so many columns is decomposed as a dense matrix. */
const DENSE_SIZE_MAX = 256;
const SEED = 1;

/**
 * Eigenpairs of X'X / N over the basis, X being the virtual columns. The sign of a vector is such
 * that its largest component is positive. Cost: cells of the basis x vectors for a basis of any
 * size, size^3 for a small one.
 * @throws DATA_ERROR for an infinite value
 */
export function fitSvd(
  context: FitContext,
  cellColumns: readonly CellColumn[],
  rowCount: number,
  options: SvdOptions,
): SvdFit {
  const look = lookEvery(context);
  const columns = virtualColumns(cellColumns, look);
  const matrix = sparseMatrix(columns, cellColumns, rowCount, look);
  const basisSize = Math.min(columns.length, options.numDenseBasisVectors);
  const count = Math.min(options.numSingularValues, basisSize);
  const pairs = decompose(context, matrix, basisSize, count);
  const { singularValues, vectors } = keptVectors(pairs, count);
  return { columns, singularValues, ...project(matrix, vectors, singularValues, basisSize, look) };
}

/** The singular vectors of a symmetric matrix of products. */
export function singularVectors(
  context: FitContext,
  gram: Float64Array,
  size: number,
  count: number,
): SingularVectors {
  const look = () => context.checkCancelled();
  if (size === 0) return { singularValues: new Float64Array(), vectors: [] };
  return keptVectors(symmetricEigen(gram, size, look), count);
}

interface SingularVectors {
  readonly singularValues: Float64Array;
  readonly vectors: readonly Float64Array[];
}

function keptVectors({ values, vectors }: Eigen, count: number): SingularVectors {
  const singular = Array.from(values, (value) => Math.sqrt(Math.max(0, value)));
  const kept = singular.filter((value) => value > SINGULAR_VALUE_MIN * (singular[0] as number));
  const singularValues = Float64Array.from(kept.slice(0, count));
  return {
    singularValues,
    vectors: vectors.slice(0, singularValues.length).map(withPositiveLargest),
  };
}

/** Rows of the virtual columns, row by row. */
interface SparseMatrix {
  readonly rowCount: number;
  readonly columnCount: number;
  readonly starts: Int32Array;
  readonly columns: Int32Array;
  readonly values: Float64Array;
}

/** The number that a cell has in a virtual column. @throws DATA_ERROR for an infinite value */
export function scaledValue(
  { columnName, offset, scale }: VirtualColumn & { op: 'VALUE' },
  atom: Atom,
): number {
  const value = Number(atom);
  if (!Number.isFinite(value)) {
    throw infiniteValue(columnName, value);
  }
  return (value - offset) * scale;
}

/** Finds the virtual column of a cell. */
export function columnFinder(
  columns: readonly VirtualColumn[],
): (name: string) => { readonly value: number; readonly equal: ReadonlyMap<unknown, number> } {
  const byName = new Map<string, { value: number; readonly equal: Map<unknown, number> }>();
  for (const [index, column] of columns.entries()) {
    const entry = byName.get(column.columnName) ?? { value: -1, equal: new Map() };
    byName.set(column.columnName, entry);
    if (column.op === 'VALUE') entry.value = index;
    else entry.equal.set(keyOfAtom(column.cellValue), index);
  }
  const none = { value: -1, equal: new Map<unknown, number>() };
  return (name) => byName.get(name) ?? none;
}

function sparseMatrix(
  columns: readonly VirtualColumn[],
  cellColumns: readonly CellColumn[],
  rowCount: number,
  look: () => void,
): SparseMatrix {
  const starts = new Int32Array(rowCount + 1);
  for (const { rows, atoms } of cellColumns) {
    for (let i = 0; i < rows.length; i++) {
      look();
      if (Number.isNaN(atoms[i])) continue;
      const row = rows[i] as number;
      starts[row + 1] = (starts[row + 1] as number) + 1;
    }
  }
  for (let row = 0; row < rowCount; row++) {
    starts[row + 1] = (starts[row + 1] as number) + (starts[row] as number);
  }
  const cellCount = starts[rowCount] as number;
  const ends = starts.slice(0, rowCount);
  const matrix: SparseMatrix = {
    ...{ rowCount, columnCount: columns.length, starts },
    columns: new Int32Array(cellCount),
    values: new Float64Array(cellCount),
  };
  const find = columnFinder(columns);
  const add = (row: number, column: number, value: number): void => {
    const at = ends[row] as number;
    ends[row] = at + 1;
    matrix.columns[at] = column;
    matrix.values[at] = value;
  };
  for (const { name, rows, atoms } of cellColumns) {
    const { value, equal } = find(name);
    const continuous = value < 0 ? undefined : (columns[value] as VirtualColumn & { op: 'VALUE' });
    for (let i = 0; i < rows.length; i++) {
      look();
      const atom = atoms[i] as Atom;
      if (Number.isNaN(atom)) continue;
      const row = rows[i] as number;
      if (continuous === undefined) add(row, equal.get(keyOfAtom(atom)) as number, 1);
      // A null beside numbers is missing: its x~ is 0.
      else add(row, value, atom === null ? 0 : scaledValue(continuous, atom));
    }
  }
  return matrix;
}

function decompose(context: FitContext, matrix: SparseMatrix, size: number, count: number): Eigen {
  if (size === 0 || matrix.rowCount === 0) return { values: new Float64Array(), vectors: [] };
  if (size <= DENSE_SIZE_MAX || count > size / 3) {
    const look = () => context.checkCancelled();
    return symmetricEigen(gramMatrix(matrix, size, lookEvery(context)), size, look);
  }
  const placed = placeBasis(context.workspace, matrix, size);
  try {
    return decomposePlaced(context, placed, matrix.rowCount, size, count);
  } finally {
    context.workspace.memory.free(placed.span);
  }
}

/** X'X / N of the first `size` columns. */
function gramMatrix(matrix: SparseMatrix, size: number, look: () => void): Float64Array {
  const gram = new Float64Array(size * size);
  const { starts, columns, values, rowCount } = matrix;
  for (let row = 0; row < rowCount; row++) {
    const end = starts[row + 1] as number;
    for (let a = starts[row] as number; a < end; a++) {
      look();
      const i = columns[a] as number;
      const x = values[a] as number;
      if (i >= size || x === 0) continue;
      for (let b = starts[row] as number; b < end; b++) {
        const j = columns[b] as number;
        if (j <= i) gram[i * size + j] = (gram[i * size + j] as number) + x * (values[b] as number);
      }
    }
  }
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const value = (gram[i * size + j] as number) / rowCount;
      gram[i * size + j] = value;
      gram[j * size + i] = value;
    }
  }
  return gram;
}

/** The basis in shared memory, without the columns behind it. */
interface PlacedMatrix {
  readonly span: Span;
  readonly starts: number;
  readonly columns: number;
  readonly values: number;
}

function placeBasis(workspace: Workspace, matrix: SparseMatrix, size: number): PlacedMatrix {
  const { starts, columns, values, rowCount } = matrix;
  let cellCount = 0;
  for (const column of columns) if (column < size) cellCount++;
  const place = (base: number) => {
    const layout = new Layout(base);
    return {
      starts: layout.take((rowCount + 1) * 4),
      columns: layout.take(cellCount * 4),
      values: layout.take(cellCount * 8),
      layout,
    };
  };
  const span = workspace.memory.allocate(place(0).layout.sizeBytes);
  const { layout: _, ...at } = place(span.offset);
  const { f64, memory } = workspace.memory.get(span.arena);
  const placedStarts = new Int32Array(memory.buffer, at.starts, rowCount + 1);
  const placedColumns = new Int32Array(memory.buffer, at.columns, cellCount);
  let cell = 0;
  for (let row = 0; row < rowCount; row++) {
    placedStarts[row] = cell;
    for (let i = starts[row] as number; i < (starts[row + 1] as number); i++) {
      if ((columns[i] as number) >= size) continue;
      placedColumns[cell] = columns[i] as number;
      f64[(at.values >>> 3) + cell] = values[i] as number;
      cell++;
    }
  }
  placedStarts[rowCount] = cell;
  return { span, ...at };
}

interface ProductTask {
  readonly matrix: PlacedMatrix;
  readonly rowCount: number;
  readonly unitRows: number;
  readonly length: number;
  readonly x: number;
  /** room for the product of each unit */
  readonly parts: number;
}

/** The part of A'(A x) that a unit of rows adds. */
export function normalProductJob(workspace: Workspace): LearnJob<ProductTask, void> {
  return {
    name: 'learn.normal-product',
    execute({ matrix, rowCount, unitRows, length, x, parts }, unit, scope) {
      scope.checkCancelled();
      const { span, starts, columns, values } = matrix;
      const z = parts + unit * length * 8;
      workspace.memory.get(span.arena).f64.fill(0, z >>> 3, (z >>> 3) + length);
      const from = unit * unitRows;
      const to = Math.min(rowCount, from + unitRows);
      workspace.kernels(span.arena).addNormalProduct(starts, columns, values, from, to, x, z);
    },
  };
}

/** Units that a product is divided into: each has a sum of its own, so not too many. */
const UNIT_COUNT_MAX = 8;
const UNIT_ROW_COUNT_MIN = 2048;

function decomposePlaced(
  context: FitContext,
  matrix: PlacedMatrix,
  rowCount: number,
  size: number,
  count: number,
): Eigen {
  const { workspace, parallel } = context;
  const { arena } = matrix.span;
  const length = Math.ceil(size / ROW_GROUP) * ROW_GROUP;
  const unitRows = Math.max(UNIT_ROW_COUNT_MIN, Math.ceil(rowCount / UNIT_COUNT_MAX));
  const unitCount = Math.ceil(rowCount / unitRows);
  return withScratch(workspace, arena, unitCount * length * 8, (parts) => {
    const { f64 } = workspace.memory.get(arena);
    const job = normalProductJob(workspace);
    const multiply = (x: number, y: number): void => {
      parallel.run(job, { matrix, rowCount, unitRows, length, x, parts }, unitCount);
      const product = f64.subarray(y >>> 3, (y >>> 3) + length);
      product.fill(0);
      for (let unit = 0; unit < unitCount; unit++) {
        const part = f64.subarray(
          (parts >>> 3) + unit * length,
          (parts >>> 3) + (unit + 1) * length,
        );
        for (let i = 0; i < length; i++) product[i] = (product[i] as number) + (part[i] as number);
      }
      for (let i = 0; i < length; i++) product[i] = (product[i] as number) / rowCount;
    };
    const progress = context.progress === undefined ? {} : { progress: context.progress };
    return largestEigenpairs(workspace, multiply, {
      ...{ size, count, seed: SEED, arena, scope: context },
      ...progress,
    });
  });
}

function withPositiveLargest(vector: Float64Array): Float64Array {
  let largest = 0;
  for (const value of vector) if (Math.abs(value) > Math.abs(largest)) largest = value;
  return largest < 0 ? vector.map((value) => -value) : vector;
}

/** Vectors of all columns, those behind the basis by their products with it, and of all rows. */
function project(
  { rowCount, columnCount, starts, columns, values }: SparseMatrix,
  vectors: readonly Float64Array[],
  singularValues: Float64Array,
  basisSize: number,
  look: () => void,
): Pick<SvdFit, 'columnVectors' | 'rowVectors'> {
  const width = vectors.length;
  const columnVectors = Array.from({ length: columnCount }, (_, column) =>
    column < basisSize
      ? Float64Array.from(vectors, (vector) => vector[column] as number)
      : new Float64Array(width),
  );
  const rowVectors: Float64Array[] = [];
  const addCells = (row: number, fromColumn: number, toColumn: number, sum: Float64Array) => {
    for (let i = starts[row] as number; i < (starts[row + 1] as number); i++) {
      look();
      const column = columns[i] as number;
      if (column < fromColumn || column >= toColumn) continue;
      const vector = columnVectors[column] as Float64Array;
      const value = values[i] as number;
      for (let d = 0; d < width; d++) sum[d] = (sum[d] as number) + value * (vector[d] as number);
    }
  };
  for (let row = 0; row < rowCount; row++) {
    const sum = new Float64Array(width);
    addCells(row, 0, basisSize, sum);
    rowVectors.push(sum);
  }
  if (basisSize < columnCount) {
    for (let row = 0; row < rowCount; row++) {
      const sum = rowVectors[row] as Float64Array;
      for (let i = starts[row] as number; i < (starts[row + 1] as number); i++) {
        look();
        const column = columns[i] as number;
        if (column < basisSize) continue;
        const vector = columnVectors[column] as Float64Array;
        for (let d = 0; d < width; d++) {
          const share = ((values[i] as number) * (sum[d] as number)) / rowCount;
          vector[d] = (vector[d] as number) + share / (singularValues[d] as number) ** 2;
        }
      }
    }
    for (let row = 0; row < rowCount; row++) {
      addCells(row, basisSize, columnCount, rowVectors[row] as Float64Array);
    }
  }
  for (const vector of rowVectors) {
    for (let d = 0; d < width; d++) {
      vector[d] = (vector[d] as number) / (singularValues[d] as number);
    }
  }
  return { columnVectors, rowVectors };
}
