// Equality joins of two columnar tables below an aggregate: joined rows are never made.
import type { BoundExpression } from '../../plan/expression.ts';
import type { JoinInput, JoinNode, PlanNode } from '../../plan/plan.ts';
import { keyOfAtom } from '../../value/canonical-key.ts';
import type { ColumnSnapshot, Span } from '../../value/column/snapshot.ts';
import type { Compiler } from '../general/compiler.ts';
import { ChunkVectors } from './chunk.ts';
import { homeArena } from './chunk-range.ts';
import type { DictionaryTables } from './dictionary-table.ts';
import type { VectorEngine } from './engine.ts';
import { type FilteredScan, matchFilteredScan } from './filtered-scan.ts';
import { buildKeyTables } from './group/key-table.ts';
import type { FlatColumn, JoinPlace, JoinSource } from './join-vectors.ts';
import type { BlockSource } from './program/block-compiler.ts';
import { integerBounds } from './program/integer-bounds.ts';
import { type LoweredCodes, Lowering } from './program/lower.ts';
import type { CodeProgram, TruthProgram } from './program/program.ts';
import { Scratch } from './scratch.ts';
import { type ColumnScope, VectorTable } from './table.ts';

/** Codes of join keys beyond this are left to the general join. */
const KEY_CARDINALITY_MAX = 1 << 22;

export interface ScanJoin {
  readonly node: JoinNode;
  readonly left: FilteredScan;
  readonly right: FilteredScan;
}

/** Joins that vectors may run: one equality between two tables that each have an alias. */
export function matchScanJoin(node: PlanNode): ScanJoin | undefined {
  if (node.kind !== 'join' || node.residual !== undefined || node.equalities.length !== 1) {
    return undefined;
  }
  if (node.joinKind !== 'inner' && node.joinKind !== 'left') return undefined;
  if (node.own.left !== undefined || node.own.right !== undefined) return undefined;
  const left = matchSide(node.left);
  const right = matchSide(node.right);
  if (left === undefined || right === undefined || node.left.alias === node.right.alias) {
    return undefined;
  }
  return { node, left, right };
}

function matchSide({ input, alias, tableCount }: JoinInput): FilteredScan | undefined {
  return alias === undefined || tableCount !== 1 ? undefined : matchFilteredScan(input);
}

/** A side of a join while it is lowered. */
interface Side {
  readonly alias: string;
  readonly table: VectorTable;
  readonly lowering: Lowering;
  readonly filter: TruthProgram | undefined;
  readonly key: BoundExpression;
}

interface ColumnPlace {
  readonly side: Side;
  readonly column: number;
}

/** The columns of joined rows: an alias is their first element. */
class JoinScope implements ColumnScope {
  readonly #sides: readonly Side[];
  readonly #columns: ColumnSnapshot[] = [];
  readonly #places: ColumnPlace[] = [];

  readonly #optional: Side | undefined;

  /** @param optional the side that may be missing in a joined row */
  constructor(sides: readonly Side[], optional: Side | undefined) {
    this.#sides = sides;
    this.#optional = optional;
  }

  get columns(): readonly ColumnSnapshot[] {
    return this.#columns;
  }

  find([alias, ...path]: readonly string[]): number | 'absent' | undefined {
    const side = this.#sides.find((each) => each.alias === alias);
    if (side === undefined) return 'absent';
    if (path.length === 0) return undefined;
    const column = side.table.find(path);
    if (typeof column !== 'number') return column;
    const known = this.#places.findIndex((place) => place.side === side && place.column === column);
    if (known !== -1) return known;
    this.#columns.push(side.table.columns[column] as ColumnSnapshot);
    return this.#places.push({ side, column }) - 1;
  }

  pathOf(column: number): readonly string[] {
    const { side, column: own } = this.#place(column);
    return [side.alias, ...side.table.pathOf(own)];
  }

  tsOf(column: number): number {
    return this.#place(column).side.table.ts;
  }

  timedOf(): true {
    return true;
  }

  hasNulls(column: number): boolean {
    const { side, column: own } = this.#place(column);
    return side === this.#optional || side.table.hasNulls(own);
  }

  placesFor(build: Side): JoinPlace[] {
    return this.#places.map(({ side, column }) => ({ isBuilt: side === build, column }));
  }

  #place(column: number) {
    return this.#places[column] as ColumnPlace;
  }
}

/** A join that is ready to be read, once the expressions above have asked for their columns. */
export interface PreparedJoin {
  readonly scope: ColumnScope;
  readonly chunkRowCounts: readonly number[];
  /** rows of the larger side */
  readonly rowCount: number;
  readonly arena: number;
  /** Hangs the build side at its keys. @returns what jobs need, and its spans to free */
  build(engine: VectorEngine): { readonly source: JoinSource; readonly spans: readonly Span[] };
  /** The build side as tables by key; undefined when several of its rows share a key. */
  blocks(
    engine: VectorEngine,
  ): { readonly source: BlockSource; readonly spans: readonly Span[] } | undefined;
}

/** Undefined when the data or an expression does not suit vectors. */
export function prepareJoin(
  { node, left, right }: ScanJoin,
  compiler: Compiler,
  dictionaries: DictionaryTables,
): PreparedJoin | undefined {
  const [equality] = node.equalities;
  if (equality === undefined) return undefined;
  const leftSide = prepareSide(left, node.left, equality.left, compiler, dictionaries);
  const rightSide = prepareSide(right, node.right, equality.right, compiler, dictionaries);
  if (leftSide === undefined || rightSide === undefined) return undefined;
  // Either side of an inner join may be built; the smaller one costs less.
  const rows = ({ table }: Side) => table.snapshot.rowCount;
  const isSwapped = node.joinKind === 'inner' && rows(rightSide) > rows(leftSide);
  const [probe, build] = isSwapped ? [rightSide, leftSide] : [leftSide, rightSide];
  const keys = lowerKeys(probe, build, dictionaries);
  if (keys === undefined) return undefined;
  const keepsProbe = node.joinKind === 'left';
  const scope = new JoinScope([probe, build], keepsProbe ? build : undefined);
  return {
    scope,
    chunkRowCounts: probe.table.snapshot.chunkRowCounts,
    rowCount: Math.max(rows(probe), rows(build)),
    get arena() {
      return homeArena(probe.table.columns);
    },
    build(engine) {
      const builder = new JoinBuilder(engine, build, homeArena(probe.table.columns));
      return builder.build({
        columns: probe.table.columns,
        filter: probe.filter,
        key: keys.probe,
        buildKey: keys.build,
        keepsProbe,
        places: scope.placesFor(build),
      });
    },
    blocks(engine) {
      return buildKeyTables(engine, {
        arena: homeArena(probe.table.columns),
        built: { table: build.table, filter: build.filter, key: keys.build },
        probe: { columns: probe.table.columns, filter: probe.filter, key: keys.probe },
        keepsProbe,
        places: scope.placesFor(build),
      });
    },
  };
}

function prepareSide(
  { scan, filter }: FilteredScan,
  { alias = '' }: JoinInput,
  key: BoundExpression,
  compiler: Compiler,
  dictionaries: DictionaryTables,
): Side | undefined {
  const table = VectorTable.of(compiler.runtime.namespace.dataset(scan.dataset));
  if (table === undefined || table.snapshot.rowCount === 0) return undefined;
  const lowering = new Lowering(table, dictionaries);
  const program = filter && lowering.truth(filter.condition);
  if (filter !== undefined && program === undefined) return undefined;
  return { alias, table, lowering, filter: program, key };
}

interface KeyPrograms {
  readonly probe: CodeProgram;
  readonly build: CodeProgram;
}

/** Both keys as codes of the build side. */
function lowerKeys(
  probe: Side,
  build: Side,
  dictionaries: DictionaryTables,
): KeyPrograms | undefined {
  const probeBounds = boundsOf(probe);
  const buildBounds = boundsOf(build);
  if (probeBounds !== undefined && buildBounds !== undefined) {
    const { least, greatest } = buildBounds;
    const cardinality = greatest - least + 2;
    if (cardinality > KEY_CARDINALITY_MAX) return undefined;
    return {
      build: { op: 'range', column: buildBounds.column, least, cardinality },
      probe: { op: 'range-within', column: probeBounds.column, least, cardinality },
    };
  }
  if (probeBounds !== undefined || buildBounds !== undefined) return undefined;
  const ours = probe.lowering.codes(probe.key);
  const theirs = build.lowering.codes(build.key);
  if (ours === undefined || theirs === undefined) return undefined;
  return { build: theirs.program, probe: recode(ours, theirs, dictionaries) };
}

function boundsOf({ lowering, key, table }: Side) {
  const bounds = lowering.integerBounds(key);
  if (bounds === undefined || key.kind !== 'column') return undefined;
  const column = table.find(key.path);
  return typeof column === 'number' ? { ...bounds, column } : undefined;
}

/** Codes replaced by those that the same atoms have on the other side. */
function recode(
  ours: LoweredCodes,
  theirs: LoweredCodes,
  dictionaries: DictionaryTables,
): CodeProgram {
  const codes = new Map<unknown, number>();
  for (let code = 1; code < theirs.program.cardinality; code++) {
    dictionaries.look();
    codes.set(keyOfAtom(theirs.atom(code)), code);
  }
  const table = new Int32Array(ours.program.cardinality);
  for (let code = 1; code < table.length; code++) {
    dictionaries.look();
    table[code] = codes.get(keyOfAtom(ours.atom(code))) ?? 0;
  }
  return dictionaries.mapCodes(ours.program, table, theirs.program.cardinality);
}

interface BuildPlan {
  readonly columns: readonly ColumnSnapshot[];
  readonly filter: TruthProgram | undefined;
  readonly key: CodeProgram;
  readonly buildKey: CodeProgram;
  readonly keepsProbe: boolean;
  readonly places: readonly JoinPlace[];
}

/** Puts the build side into flat arrays of the arena that the probe side lies in. */
class JoinBuilder {
  readonly #engine: VectorEngine;
  readonly #side: Side;
  readonly #arena: number;
  readonly #spans: Span[] = [];

  constructor(engine: VectorEngine, side: Side, arena: number) {
    this.#engine = engine;
    this.#side = side;
    this.#arena = arena;
  }

  build(plan: BuildPlan): { source: JoinSource; spans: readonly Span[] } {
    try {
      const { snapshot, columns } = this.#side.table;
      const { rowCount, chunkRowCounts } = snapshot;
      const head = this.#allocate((plan.buildKey.cardinality + 1) * 4);
      const next = this.#allocate(rowCount * 4);
      const needed = new Set(
        plan.places.filter(({ isBuilt }) => isBuilt).map(({ column }) => column),
      );
      const flat = columns.map((column, index) =>
        needed.has(index) ? this.#flatColumn(column, rowCount) : undefined,
      );
      const scratch = new Scratch(this.#arena);
      let sharedCount = 0;
      try {
        const chunk = new ChunkVectors(scratch, columns);
        let end = rowCount;
        for (let index = chunkRowCounts.length - 1; index >= 0; index--) {
          const count = chunkRowCounts[index] as number;
          const start = end - count;
          chunk.moveTo(index, count);
          const codes = chunk.codes(plan.buildKey);
          const { filter } = this.#side;
          if (filter !== undefined) {
            scratch.kernels.dropGroups(codes, chunk.truth(filter), count, 0);
          }
          sharedCount += scratch.kernels.linkRows(codes, count, start, head.offset, next.offset);
          for (const column of needed) {
            this.#fill(flat[column] as FlatColumn, column, chunk, scratch, start);
          }
          end = start;
        }
      } finally {
        scratch.release();
      }
      const source: JoinSource = {
        columns: plan.columns,
        filter: plan.filter,
        key: plan.key,
        head,
        next: sharedCount > 0 ? next : undefined,
        lone: plan.keepsProbe ? rowCount : -1,
        flat,
        places: plan.places,
      };
      return { source, spans: this.#spans };
    } catch (thrown) {
      for (const span of this.#spans) this.#engine.arenas.free(span);
      throw thrown;
    }
  }

  #allocate(sizeBytes: number): Span {
    const span = this.#engine.arenas.allocateIn(this.#arena, sizeBytes + 64);
    this.#spans.push(span);
    this.#engine.arenas.get(this.#arena).u8.fill(0, span.offset, span.offset + span.sizeBytes);
    return span;
  }

  #flatColumn(column: ColumnSnapshot, rowCount: number): FlatColumn {
    const count = rowCount + 1;
    if (column.dictionary !== undefined) return { kind: 'codes', data: this.#allocate(count * 4) };
    const isInteger = integerBounds(column) !== undefined;
    return {
      kind: isInteger ? 'int32' : 'float64',
      data: this.#allocate(count * (isInteger ? 4 : 8)),
      valid: this.#allocate(count),
    };
  }

  #fill(
    flat: FlatColumn,
    column: number,
    chunk: ChunkVectors,
    scratch: Scratch,
    start: number,
  ): void {
    const { u8 } = scratch.arena;
    const { rowCount } = chunk;
    if (flat.kind === 'codes') {
      const { data, width } = chunk.storedCodes(column);
      scratch.kernels.widenCodes(data, width, rowCount, flat.data.offset + start * 4);
      return;
    }
    const program = { op: 'column', column } as const;
    const size = flat.kind === 'int32' ? 4 : 8;
    const { data, valid } =
      flat.kind === 'int32' ? chunk.integers(program) : chunk.doubles(program);
    u8.copyWithin(flat.data.offset + start * size, data, data + rowCount * size);
    const target = (flat.valid as Span).offset + start;
    if (valid === 0) u8.fill(1, target, target + rowCount);
    else u8.copyWithin(target, valid, valid + rowCount);
  }
}
