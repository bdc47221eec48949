// The build side of a join whose keys are distinct, as tables with an entry for each code of a key:
// a row of the other side reads them as if they were its own columns.
import type { ColumnSnapshot, Span } from '../../../value/column/snapshot.ts';
import type { JoinPlace } from '../built-column.ts';
import { ChunkVectors } from '../chunk.ts';
import type { VectorEngine } from '../engine.ts';
import { type BlockColumn, type BlockSource, chunkColumn } from '../program/block-compiler.ts';
import { integerBounds } from '../program/integer-bounds.ts';
import type { CodeProgram, TruthProgram } from '../program/program.ts';
import { Scratch } from '../scratch.ts';

export interface KeyTablePlan {
  /** where the probe side lies */
  readonly arena: number;
  readonly built: {
    readonly table: {
      readonly columns: readonly ColumnSnapshot[];
      readonly chunkRowCounts: readonly number[];
    };
    readonly filter: TruthProgram | undefined;
    readonly key: CodeProgram;
  };
  readonly probe: {
    readonly columns: readonly ColumnSnapshot[];
    readonly filter: TruthProgram | undefined;
    /** codes of the build side's keys; 0 where there is no such key */
    readonly key: CodeProgram;
  };
  /** rows of the probe side without a partner stay */
  readonly keepsProbe: boolean;
  /** where each column of the joined rows is found */
  readonly places: readonly JoinPlace[];
}

type TableColumn = BlockColumn & { readonly kind: 'table' };

/** Undefined when several rows of the build side share a key; nothing is allocated then. */
export function buildKeyTables(
  engine: VectorEngine,
  plan: KeyTablePlan,
): { readonly source: BlockSource; readonly spans: readonly Span[] } | undefined {
  const builder = new KeyTableBuilder(engine, plan);
  let source: BlockSource | undefined;
  try {
    source = builder.build();
  } finally {
    if (source === undefined) builder.release();
  }
  return source && { source, spans: builder.spans };
}

class KeyTableBuilder {
  readonly spans: Span[] = [];
  readonly #engine: VectorEngine;
  readonly #plan: KeyTablePlan;
  readonly #cardinality: number;

  constructor(engine: VectorEngine, plan: KeyTablePlan) {
    this.#engine = engine;
    this.#plan = plan;
    this.#cardinality = plan.built.key.cardinality;
  }

  build(): BlockSource | undefined {
    const { probe, places, keepsProbe } = this.#plan;
    const present = this.#allocate(1);
    const tables = new Map<number, TableColumn>();
    for (const { isBuilt, column } of places) {
      if (isBuilt && !tables.has(column)) tables.set(column, this.#tableFor(column));
    }
    if (!this.#fill(present, tables)) return undefined;
    return {
      columns: places.map(({ isBuilt, column }) =>
        isBuilt
          ? (tables.get(column) as BlockColumn)
          : chunkColumn(probe.columns[column] as ColumnSnapshot, column),
      ),
      chunkColumns: probe.columns,
      key: probe.key,
      filter: probe.filter,
      present: keepsProbe ? undefined : present,
    };
  }

  release(): void {
    for (const span of this.spans.splice(0)) this.#engine.arenas.free(span);
  }

  #tableFor(column: number): TableColumn {
    const snapshot = this.#plan.built.table.columns[column] as ColumnSnapshot;
    if (snapshot.dictionary !== undefined) {
      const table = this.#allocate(4);
      return { kind: 'table', values: 'codes', table, valid: undefined, snapshot };
    }
    const isInteger = integerBounds(snapshot) !== undefined;
    const needsValid = this.#plan.keepsProbe || snapshot.nullCount > 0;
    return {
      kind: 'table',
      values: isInteger ? 'integers' : 'doubles',
      table: this.#allocate(isInteger ? 4 : 8),
      valid: needsValid ? this.#allocate(1) : undefined,
      snapshot,
    };
  }

  /** @returns false when a key occurs twice */
  #fill(present: Span, tables: ReadonlyMap<number, TableColumn>): boolean {
    const { table, filter, key } = this.#plan.built;
    const scratch = new Scratch(this.#plan.arena);
    try {
      const chunk = new ChunkVectors(scratch, table.columns);
      for (const [index, count] of table.chunkRowCounts.entries()) {
        chunk.moveTo(index, count);
        const codes = chunk.codes(key);
        if (filter !== undefined) scratch.kernels.dropGroups(codes, chunk.truth(filter), count, 0);
        if (scratch.kernels.markCodes(codes, count, present.offset) > 0) return false;
        for (const [number, column] of tables) scatter(column, number, codes, chunk, scratch);
      }
    } finally {
      scratch.release();
    }
    for (const column of tables.values()) this.#clearNull(column);
    return true;
  }

  /** Rows without a key were written to the entry of code 0, which stands for no row. */
  #clearNull({ table, values, valid }: TableColumn): void {
    const memory = this.#engine.arenas.get(this.#plan.arena);
    memory.u8.fill(0, table.offset, table.offset + (values === 'doubles' ? 8 : 4));
    if (valid !== undefined) memory.u8[valid.offset] = 0;
  }

  #allocate(entrySize: number): Span {
    const { arenas } = this.#engine;
    const span = arenas.allocateIn(this.#plan.arena, this.#cardinality * entrySize);
    this.spans.push(span);
    arenas.get(span.arena).u8.fill(0, span.offset, span.offset + span.sizeBytes);
    return span;
  }
}

function scatter(
  { table, values, valid }: TableColumn,
  number: number,
  codes: number,
  chunk: ChunkVectors,
  scratch: Scratch,
): void {
  const { kernels } = scratch;
  const { rowCount } = chunk;
  if (values === 'codes') {
    const stored = chunk.storedCodes(number);
    const wide = scratch.take(rowCount * 4);
    kernels.widenCodes(stored.data, stored.width, rowCount, wide);
    kernels.scatterI32(codes, wide, rowCount, table.offset);
    return;
  }
  const program = { op: 'column', column: number } as const;
  const vector = values === 'integers' ? chunk.integers(program) : chunk.doubles(program);
  if (values === 'integers') kernels.scatterI32(codes, vector.data, rowCount, table.offset);
  else kernels.scatterF64(codes, vector.data, rowCount, table.offset);
  if (valid === undefined) return;
  let bytes = vector.valid;
  if (bytes === 0) {
    bytes = scratch.take(rowCount);
    scratch.arena.u8.fill(1, bytes, bytes + rowCount);
  }
  kernels.scatterBytes(codes, bytes, rowCount, valid.offset);
}
