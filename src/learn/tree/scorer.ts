// Scoring with tree ensembles: rows in batches and one by one, on the copy in shared memory.
import { NODE_SIZE, TREE_ENTRY, TREE_ENTRY_SIZE } from '../../kernel/generated.ts';
import type { Atom } from '../../value/atom.ts';
import type { Span } from '../../value/column/snapshot.ts';
import { notNumeric } from '../feature/describe.ts';
import {
  boundariesOf,
  type CategoricalFeature,
  categoryCode,
  type Feature,
  MISSING_CODE,
  numericCode,
} from '../feature/feature.ts';
import { categoryPositions, encodeColumn } from '../feature/matrix.ts';
import { categoryOf, numberOf, type SourceColumn } from '../feature/source.ts';
import {
  type FitContext,
  type JobContext,
  Layout,
  type LearnJob,
  lookEvery,
  NEVER_CANCELLED,
  serialContext,
  type Workspace,
  withScratch,
} from '../workspace.ts';
import type { CodeColumn, TreeEnsemble } from './ensemble.ts';

/** Rows that are encoded before any is scored; what bounds the memory that scoring takes. */
const BATCH_ROW_COUNT = 262_144;
/** Rows that pass through all trees as one unit of work: codes and outputs stay in the caches. */
const UNIT_ROW_COUNT = 8192;

/** Encoded rows and where their scores go; addresses are in `arena`. */
interface ScoreTask {
  readonly arena: number;
  readonly table: number;
  readonly treeCount: number;
  readonly width: number;
  readonly codes: number;
  readonly stride: number;
  readonly out: number;
  readonly flags: number;
  readonly rowCount: number;
}

export function scoreJob(workspace: Workspace): LearnJob<ScoreTask, void> {
  return {
    name: 'learn.score-rows',
    execute(task, unit, scope) {
      scope.checkCancelled();
      const { arena, treeCount, width, stride } = task;
      const from = unit * UNIT_ROW_COUNT;
      const count = Math.min(UNIT_ROW_COUNT, task.rowCount - from);
      const out = task.out + from * width * 8;
      workspace
        .kernels(arena)
        .ensembleRows(
          ...([task.table, treeCount, width, task.codes + from * stride, stride] as const),
          ...([count, out, task.flags + from / 8] as const),
        );
    },
  };
}

/** As scoreRowsIn, in the calling thread. */
export function scoreRows(
  workspace: Workspace,
  ensemble: TreeEnsemble,
  sources: readonly SourceColumn[],
  fromRow: number,
  toRow: number,
): Float64Array {
  return scoreRowsIn(serialContext(workspace), ensemble, sources, fromRow, toRow);
}

/**
 * Scores rows [fromRow, toRow) on the threads of a context: width numbers a row, row by row.
 * @param sources one for each feature of the model, in their order
 * @throws DATA_ERROR when a text stands where training had numbers
 */
export function scoreRowsIn(
  { workspace, parallel }: Pick<FitContext, 'workspace' | 'parallel'>,
  ensemble: TreeEnsemble,
  sources: readonly SourceColumn[],
  fromRow: number,
  toRow: number,
): Float64Array {
  const { columns, width } = ensemble;
  const scores = new Float64Array((toRow - fromRow) * width);
  const stride = Math.max(1, columns.length);
  const arena = arenaOf(ensemble);
  const treeCount = ensemble.trees.length;
  const batchRowCount = Math.min(BATCH_ROW_COUNT, toRow - fromRow);
  const sizes = [
    TREE_ENTRY_SIZE * treeCount,
    batchRowCount * stride + 16,
    batchRowCount * width * 8,
    batchRowCount / 8 + 8,
  ];
  const layout = new Layout();
  for (const size of sizes) layout.take(size);
  withScratch(workspace, arena, layout.sizeBytes, (scratch) => {
    const place = new Layout(scratch);
    const [table, codes, out, flags] = sizes.map((size) => place.take(size)) as [
      number,
      number,
      number,
      number,
    ];
    const { f64, u8 } = workspace.memory.get(arena);
    const job = scoreJob(workspace);
    writeTable(workspace, ensemble, table);
    for (let row = fromRow; row < toRow; row += BATCH_ROW_COUNT) {
      const rowCount = Math.min(BATCH_ROW_COUNT, toRow - row);
      if (columns.length === 0) u8.fill(MISSING_CODE, codes, codes + rowCount);
      for (const [index, { feature, part }] of columns.entries()) {
        const source = sources[feature] as SourceColumn;
        encodeColumn(workspace, ensemble.features[feature] as Feature, part, source, {
          arena,
          offset: codes + index - row * stride,
          stride,
          fromRow: row,
          toRow: row + rowCount,
        });
      }
      u8.fill(0, out, out + rowCount * width * 8);
      const task = { arena, table, treeCount, width, codes, stride, out, flags, rowCount };
      parallel.run(job, task, Math.ceil(rowCount / UNIT_ROW_COUNT));
      scores.set(f64.subarray(out >>> 3, (out >>> 3) + rowCount * width), (row - fromRow) * width);
    }
  });
  if (ensemble.divisor !== 1) {
    for (let i = 0; i < scores.length; i++) scores[i] = (scores[i] as number) / ensemble.divisor;
  }
  return scores;
}

/** Scores one row after another without allocating; made once per thread and model. */
export interface RowScorer {
  /**
   * @param values one for each feature of the model, in their order; null or undefined is missing
   * @param output `width` scores
   * @returns the first score
   * @throws DATA_ERROR when a text stands where training had numbers
   */
  score(values: ArrayLike<Atom | undefined>, output?: Float64Array): number;
  /**
   * Scores several rows, which takes less than one after another: they share the way through trees.
   * @param read the values of a row; asked once for each, in order
   * @returns `width` scores a row
   */
  scoreAll(rowCount: number, read: (row: number) => ArrayLike<Atom | undefined>): Float64Array;
  /** Gives the scorer's memory back; the model's stays. */
  release(): void;
}

/** @param scope is asked in between where features have many categories */
export function compileScorer(
  workspace: Workspace,
  ensemble: TreeEnsemble,
  scope: JobContext = NEVER_CANCELLED,
): RowScorer {
  const { columns, width, divisor } = ensemble;
  const encode = compileEncoder(ensemble.features, columns, scope);
  const treeCount = ensemble.trees.length;
  const stride = Math.max(1, columns.length);
  const arena = arenaOf(ensemble);
  const sizes = [TREE_ENTRY_SIZE * treeCount, stride + 16, width * 8];
  const layout = new Layout();
  for (const size of sizes) layout.take(size);
  const span: Span = workspace.memory.allocateIn(arena, layout.sizeBytes);
  const place = new Layout(span.offset);
  const [table, row, out] = sizes.map((size) => place.take(size)) as [number, number, number];
  writeTable(workspace, ensemble, table);
  const { f64, u8 } = workspace.memory.get(arena);
  const kernels = workspace.kernels(arena);
  const outAt = out >>> 3;
  u8.fill(MISSING_CODE, row, row + stride);
  const scoreSome = (target: Float64Array, from: number, count: number, read: ReadValues) => {
    const some = [count * stride + 16, count * width * 8, count / 8 + 8];
    const needed = new Layout();
    for (const size of some) needed.take(size);
    withScratch(workspace, arena, needed.sizeBytes, (scratch) => {
      const room = new Layout(scratch);
      const [codes, outs, flags] = some.map((size) => room.take(size)) as [number, number, number];
      if (columns.length === 0) u8.fill(MISSING_CODE, codes, codes + count);
      for (let i = 0; i < count; i++) encode(read(from + i), u8, codes + i * stride);
      u8.fill(0, outs, outs + count * width * 8);
      kernels.ensembleRows(table, treeCount, width, codes, stride, count, outs, flags);
      for (let i = 0; i < count * width; i++) {
        target[from * width + i] = (f64[(outs >>> 3) + i] as number) / divisor;
      }
    });
  };
  return {
    score(values, output) {
      encode(values, u8, row);
      kernels.ensembleRow(table, treeCount, width, row, stride, out);
      if (output !== undefined) {
        for (let k = 0; k < width; k++) output[k] = (f64[outAt + k] as number) / divisor;
      }
      return (f64[outAt] as number) / divisor;
    },
    scoreAll(rowCount, read) {
      const scores = new Float64Array(rowCount * width);
      for (let from = 0; from < rowCount; from += UNIT_ROW_COUNT) {
        scoreSome(scores, from, Math.min(UNIT_ROW_COUNT, rowCount - from), read);
      }
      return scores;
    },
    release: () => workspace.memory.free(span),
  };
}

type ReadValues = (row: number) => ArrayLike<Atom | undefined>;
type Encoder = (values: ArrayLike<Atom | undefined>, codes: Uint8Array, offset: number) => void;

/** Writes the codes of one row of values. */
export function compileEncoder(
  features: readonly Feature[],
  columns: readonly CodeColumn[],
  scope: JobContext = NEVER_CANCELLED,
): Encoder {
  const positions = new Map<Feature, ReadonlyMap<string, number>>();
  const look = lookEvery(scope);
  const positionsOf = (feature: CategoricalFeature): ReadonlyMap<string, number> => {
    let known = positions.get(feature);
    if (known === undefined) {
      known = categoryPositions(feature, look);
      positions.set(feature, known);
    }
    return known;
  };
  const encoders = columns.map((column) => encoderOf(features, column, positionsOf));
  return (values, codes, offset) => {
    for (let i = 0; i < encoders.length; i++) {
      codes[offset + i] = (encoders[i] as (values: ArrayLike<Atom | undefined>) => number)(values);
    }
  };
}

function encoderOf(
  features: readonly Feature[],
  { feature: index, part }: CodeColumn,
  positionsOf: (feature: CategoricalFeature) => ReadonlyMap<string, number>,
) {
  const feature = features[index] as Feature;
  if (feature.kind === 'numeric') {
    const { name } = feature;
    const boundaries = boundariesOf(feature, part);
    return (values: ArrayLike<Atom | undefined>) => {
      const value = values[index];
      if (typeof value === 'number') return numericCode(boundaries, value);
      if (value === null || value === undefined) return MISSING_CODE;
      const number = numberOf(value);
      if (number === undefined) throw notNumeric(name, value);
      return numericCode(boundaries, number);
    };
  }
  if (feature.kind === 'unused') return () => MISSING_CODE;
  const positions = positionsOf(feature);
  return (values: ArrayLike<Atom | undefined>) => {
    const value = values[index];
    if (value === null || value === undefined) return MISSING_CODE;
    const position = positions.get(typeof value === 'string' ? value : categoryOf(value)) ?? -1;
    return categoryCode(feature, position, part);
  };
}

/** All trees are in one arena; a model without trees does not occur. */
function arenaOf(ensemble: TreeEnsemble): number {
  return ensemble.trees[0]?.span.arena ?? 0;
}

function writeTable(workspace: Workspace, ensemble: TreeEnsemble, table: number): void {
  const { u32, f64 } = workspace.memory.get(arenaOf(ensemble));
  for (const [index, { span, nodeCount, depth }] of ensemble.trees.entries()) {
    const entry = table + index * TREE_ENTRY_SIZE;
    u32[(entry + TREE_ENTRY.nodes) >>> 2] = span.offset;
    u32[(entry + TREE_ENTRY.values) >>> 2] = span.offset + nodeCount * NODE_SIZE;
    u32[(entry + TREE_ENTRY.depth) >>> 2] = depth;
    u32[(entry + TREE_ENTRY.slot) >>> 2] = ensemble.slots?.[index] ?? -1;
    f64[(entry + TREE_ENTRY.weight) >>> 3] = ensemble.weights[index] as number;
    u32[(entry + TREE_ENTRY.sets) >>> 2] = ensemble.sets?.offset ?? 0;
  }
}
