// Puts the tables that a pipeline looks up into flat arrays of the arena that its chunks lie in.
import { assert } from '../../util/assert.ts';
import type { Arena } from '../../value/column/arena.ts';
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import type { FlatColumn } from '../vector/built-column.ts';
import { ChunkVectors } from '../vector/chunk.ts';
import { homeArena } from '../vector/chunk-range.ts';
import type { VectorEngine } from '../vector/engine.ts';
import type { GroupSource } from '../vector/group/group-job.ts';
import { buildKeyTables } from '../vector/group/key-table.ts';
import type { BlockSource } from '../vector/program/block-compiler.ts';
import { chunkColumn } from '../vector/program/block-compiler.ts';
import type { TruthProgram } from '../vector/program/program.ts';
import { Scratch } from '../vector/scratch.ts';
import type { Place, ProbeStep } from './batch-vectors.ts';
import type { Build, Pipeline, Stage } from './pipeline.ts';
import { fillFlat, flatColumn } from './table/flat-column.ts';

/** What jobs need to run a pipeline, and what to free when they are done. */
export interface BuiltSource {
  readonly source: GroupSource;
  readonly arena: number;
  readonly spans: readonly Span[];
}

/** The arena that most of the chunks of a pipeline lie in. */
export function arenaOf({ scope }: Pick<Pipeline, 'scope'>): number {
  return homeArena(scope.columns.filter((_, column) => scope.placeOf(column).table === 0));
}

/**
 * Builds the tables of a pipeline, once expressions have asked for their columns.
 * @param filter of the rows that are left; absent: whoever reads the source drops them
 * @param isNarrowed whoever reads the source picks rows of batches
 */
export function buildSource(
  pipeline: Omit<Stage, 'filter'>,
  engine: VectorEngine,
  filter?: TruthProgram,
  isNarrowed = false,
): BuiltSource {
  const arena = arenaOf(pipeline);
  const { scope, builds } = pipeline;
  if (builds.length === 0 && filter === undefined && !isNarrowed) {
    return { source: { kind: 'scan', columns: scope.columns }, arena, spans: [] };
  }
  const spans: Span[] = [];
  try {
    const places: Place[] = scope.columns.map(() => ({ kind: 'chunks' }));
    const steps = builds.map((build, step) => {
      const wanted = scope.columns.flatMap((_, column) => {
        const place = scope.placeOf(column);
        return place.table === step + 1 ? [{ column, own: place.column }] : [];
      });
      const before = sizeOf(spans);
      const builder = new TableBuild(engine, arena, spans, build);
      const flats = builder.build(wanted.map(({ own }) => own));
      build.sizeBytes = sizeOf(spans) - before;
      for (const { column, own } of wanted) {
        places[column] = { kind: 'built', step, flat: flats.get(own) as FlatColumn };
      }
      return builder.step();
    });
    const batches = { columns: chunkColumnsOf(pipeline), places, steps, filter };
    return { source: { kind: 'batches', batches }, arena, spans };
  } catch (thrown) {
    for (const span of spans) engine.arenas.free(span);
    throw thrown;
  }
}

function sizeOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

/** The columns by number; those of built tables keep their types, but not their chunks. */
function chunkColumnsOf({ scope, base }: Pick<Pipeline, 'base' | 'scope'>): ColumnSnapshot[] {
  return scope.columns.map((column, number) =>
    scope.placeOf(number).table === 0
      ? column
      : {
          ...column,
          chunks: base.chunkRowCounts.map((rowCount) => ({
            kind: 'constant',
            rowCount,
            atom: null,
          })),
        },
  );
}

/** For the kernel that runs whole programs; undefined when keys repeat or there are more tables. */
export function buildBlocks(
  pipeline: Pipeline,
  engine: VectorEngine,
): { readonly source: BlockSource; readonly spans: readonly Span[] } | undefined {
  const { scope, builds } = pipeline;
  const [build, ...others] = builds;
  if (others.length > 0) return undefined;
  const key = build?.key;
  const probeKey = build?.probe.key;
  if (build !== undefined && (key === undefined || probeKey === undefined)) return undefined;
  const columns = chunkColumnsOf(pipeline);
  if (build === undefined || key === undefined || probeKey === undefined) {
    const source: BlockSource = {
      ...{ columns: columns.map(chunkColumn), chunkColumns: columns },
      ...{ key: undefined, filter: undefined, present: undefined },
    };
    return { source, spans: [] };
  }
  const made = buildKeyTables(engine, {
    arena: arenaOf(pipeline),
    built: { table: build.table, filter: build.filter, key },
    probe: { columns, filter: build.probe.filter, key: probeKey },
    keepsProbe: build.keepsProbe,
    places: columns.map((_, number) => {
      const { table, column } = scope.placeOf(number);
      return table === 0 ? { isBuilt: false, column: number } : { isBuilt: true, column };
    }),
  });
  build.sizeBytes = made && sizeOf(made.spans);
  return made;
}

/** Rows of a chunk with the codes of their keys. */
interface BuildChunk {
  readonly codes: number;
  readonly count: number;
  readonly start: number;
  readonly chunk: ChunkVectors;
}

/** Puts the rows of a table where the codes of their keys are. */
class TableBuild {
  readonly #engine: VectorEngine;
  readonly #memory: Arena;
  readonly #spans: Span[];
  readonly #build: Build;
  /** where every row goes with every other one, all have the code 1 */
  readonly #cardinality: number;
  readonly #head: Span;
  #rows: Span | undefined;

  constructor(engine: VectorEngine, arena: number, spans: Span[], build: Build) {
    this.#engine = engine;
    this.#memory = engine.arenas.get(arena);
    this.#spans = spans;
    this.#build = build;
    this.#cardinality = build.key?.cardinality ?? 2;
    this.#head = this.#allocate((this.#cardinality + 1) * 4);
  }

  build(wanted: readonly number[]): ReadonlyMap<number, FlatColumn> {
    const { table } = this.#build;
    const flats = new Map(
      wanted.map((column) => [
        column,
        flatColumn(table.columns[column] as ColumnSnapshot, table.rowCount, (sizeBytes) =>
          this.#allocate(sizeBytes),
        ),
      ]),
    );
    const scratch = new Scratch(this.#memory.id);
    try {
      let sharedCount = 0;
      const { kernels } = scratch;
      const head = this.#head.offset;
      this.#forEachChunk(scratch, ({ codes, count, start, chunk }) => {
        sharedCount += kernels.countCodes(codes, count, head);
        for (const [column, flat] of flats) fillFlat(flat, column, chunk, scratch, start);
      });
      const isLookUp = this.#build.key !== undefined;
      if (isLookUp && sharedCount === 0) this.#placeDistinct(scratch);
      else this.#placeRows(scratch);
    } finally {
      scratch.release();
    }
    return flats;
  }

  step(): ProbeStep {
    const { probe, keepsProbe, table } = this.#build;
    const { filter, key } = probe;
    if (key === undefined) {
      const { i32 } = this.#memory;
      const rowCount = i32[this.#head.offset / 4 + 1] as number;
      assert(this.#rows !== undefined, 'built rows lie in one piece');
      return { kind: 'every-pair', filter, rows: this.#rows, rowCount };
    }
    return {
      ...{ kind: 'look-up', filter, key },
      head: this.#head,
      rows: this.#rows,
      lone: keepsProbe ? table.rowCount : -1,
    };
  }

  #placeDistinct(scratch: Scratch): void {
    const { offset, sizeBytes } = this.#head;
    this.#memory.u8.fill(0, offset, offset + sizeBytes);
    const next = this.#allocate(this.#build.table.rowCount * 4).offset;
    this.#forEachChunk(scratch, ({ codes, count, start }) => {
      scratch.kernels.linkRows(codes, count, start, offset, next);
    });
  }

  #placeRows(scratch: Scratch): void {
    const { kernels } = scratch;
    const { table } = this.#build;
    const head = this.#head.offset;
    const rows = this.#allocate(table.rowCount * 4);
    kernels.sumCounts(head, this.#cardinality + 1);
    this.#forEachChunk(scratch, ({ codes, count, start }) => {
      kernels.placeRows(codes, count, start, head, rows.offset);
    });
    this.#rows = rows;
  }

  #forEachChunk(scratch: Scratch, visit: (chunk: BuildChunk) => void): void {
    const { table, filter, key } = this.#build;
    const chunk = new ChunkVectors(scratch, table.columns);
    let start = 0;
    table.chunkRowCounts.forEach((count, index) => {
      chunk.moveTo(index, count);
      const codes = key === undefined ? onesOf(count, scratch) : chunk.codes(key);
      if (filter !== undefined) scratch.kernels.dropGroups(codes, chunk.truth(filter), count, 0);
      visit({ codes, count, start, chunk });
      start += count;
    });
  }

  #allocate(sizeBytes: number): Span {
    const span = this.#engine.arenas.allocateIn(this.#memory.id, sizeBytes + 64);
    this.#spans.push(span);
    this.#memory.u8.fill(0, span.offset, span.offset + span.sizeBytes);
    return span;
  }
}

export function onesOf(count: number, scratch: Scratch): number {
  const codes = scratch.take(count * 4);
  scratch.arena.i32.fill(1, codes / 4, codes / 4 + count);
  return codes;
}
