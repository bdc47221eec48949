// Queries over small tables by the vector engine and by the general evaluator alone.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect } from 'vitest';
import { builtinNamespace } from '../../src/builtin/index.ts';
import { snapshotRelation } from '../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../src/exec/operator/executor.ts';
import type { Parallel } from '../../src/exec/parallel.ts';
import { queryRows } from '../../src/exec/query.ts';
import { useArenas } from '../../src/exec/thread-memory.ts';
import type { ScratchRoom } from '../../src/exec/vector/engine.ts';
import type { Namespace, Relation } from '../../src/plan/namespace.ts';
import { readPagedSpan } from '../../src/store/arrow-values.ts';
import { type ScratchFile, ScratchFolder } from '../../src/store/scratch-file.ts';
import { failure } from '../../src/util/error.ts';
import type { Atom } from '../../src/value/atom.ts';
import { ArenaLease, ArenaSet } from '../../src/value/column/arena-set.ts';
import { useFileSpanReader } from '../../src/value/column/file-span.ts';
import type { ColumnarSnapshot, Span } from '../../src/value/column/snapshot.ts';
import { freeSnapshot } from '../../src/value/column/snapshot-memory.ts';
import { TableBuilder } from '../../src/value/column/table-builder.ts';
import { atomToJsonText } from '../../src/value/json.ts';
import { Path } from '../../src/value/path.ts';
import { cellsOf } from '../../src/value/value.ts';
import { NO_CONTEXT } from './memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 30, arenaPageCount: 16_384 });
useArenas(arenas);
useFileSpanReader(readPagedSpan);
const TS = 1_420_070_400;
/** Small chunks, so that each table has several; large tables have a few of a usual size. */
const CHUNK_ROW_COUNT = 16;

export type TableRow = Readonly<Record<string, Atom>>;

const SMALL_ROW_COUNT_MAX = 4096;
const largeTables = new WeakMap<readonly TableRow[], ColumnarSnapshot>();

/** Large tables are made once and kept. */
function tableOf(rows: readonly TableRow[], ts: number): ColumnarSnapshot {
  const kept = largeTables.get(rows);
  if (kept !== undefined) return kept;
  const snapshot = snapshotOf(rows, ts);
  if (rows.length > SMALL_ROW_COUNT_MAX) largeTables.set(rows, snapshot);
  return snapshot;
}

function snapshotOf(rows: readonly TableRow[], ts: number) {
  const chunkRowCount = rows.length > SMALL_ROW_COUNT_MAX ? 8192 : CHUNK_ROW_COUNT;
  const builder = new TableBuilder(arenas, chunkRowCount);
  rows.forEach((row, index) => {
    const cells = Object.entries(row).map(([name, atom]) => [Path.of(name), atom, ts] as const);
    builder.addRow(Path.of(String(index + 2)), cells);
  });
  return builder.seal();
}

/** Threads that comparisons are made with. */
const THREAD_COUNTS = [1, 2, 3];

/** Several threads in one: units end in another order than they were cut, what crosses is copied. */
export function turnTaking(threadCount: number): Parallel {
  return {
    threadCount,
    run(job, args, unitCount) {
      const results = new Array(unitCount);
      for (let thread = threadCount - 1; thread >= 0; thread--) {
        const own = thread === 0 ? args : structuredClone(args);
        for (let unit = thread; unit < unitCount; unit += threadCount) {
          const result = job.execute(own, unit, NO_CONTEXT);
          results[unit] = thread === 0 ? result : structuredClone(result);
        }
      }
      return results;
    },
  };
}

/** Comparisons of a test, and how many of them read no row by the general evaluator. */
const tally = { compared: 0, byKernels: 0, scratchSize: 0 };
const KERNEL_SHARE_MIN = 0.9;

/** Fails each test of a file that wrote nothing to scratch files. */
export function requireScratch(): void {
  beforeEach(() => Object.assign(tally, { scratchSize: 0 }));
  afterEach(() => expect(tally.scratchSize, 'bytes in scratch files').toBeGreaterThan(0));
}

/** Fails each test of a file most of whose comparisons were of the general evaluator with itself. */
export function requireKernels(): void {
  beforeEach(() => Object.assign(tally, { compared: 0, byKernels: 0 }));
  afterEach(() => {
    const { compared, byKernels } = tally;
    const share = `${byKernels} of ${compared} comparisons ran kernels`;
    expect(byKernels, share).toBeGreaterThanOrEqual(compared * KERNEL_SHARE_MIN);
  });
}

interface RunOptions {
  readonly accelerated: boolean;
  readonly threadCount?: number;
  /** false: whether kernels ran is of no interest */
  readonly isCounted?: boolean;
  /** false: a row that is read by the general evaluator is an error */
  readonly mayScan?: boolean;
  /** false: timestamps are not compared, and may be any */
  readonly exactTimestamps?: boolean;
  /** bytes that operators get in one piece; absent: as many as they want */
  readonly spanSizeMax?: number;
  /** what memory is said to have no room for goes to a scratch file */
  readonly inScratch?: boolean;
  /** the rows of the dataset `other` */
  readonly others?: readonly TableRow[] | undefined;
}

export function run(
  rows: readonly TableRow[],
  sql: string,
  {
    accelerated,
    threadCount = 1,
    isCounted = true,
    mayScan = true,
    others = [],
    exactTimestamps = true,
    spanSizeMax,
    inScratch = false,
  }: RunOptions,
): string[] {
  const scratch = inScratch ? new ScratchOfTest() : undefined;
  const isSmall = Math.max(rows.length, others.length) <= SMALL_ROW_COUNT_MAX;
  const usedBefore = arenas.usedBytes;
  const snapshots = [tableOf(rows, TS), tableOf(others, TS + 1)];
  const [data, other] = snapshots.map((snapshot) => snapshotRelation(snapshot, arenas));
  let operatorCount = 0;
  let readsRows = false;
  const namespace: Namespace = {
    dataset: (id) => {
      const relation = (id === 'other' ? other : data) as Relation;
      return watched(relation, () => {
        if (!mayScan) throw new Error('the general evaluator reads rows');
        readsRows = true;
      });
    },
    findUserFunction: () => undefined,
    builtins: builtinNamespace,
  };
  const executor = batchExecutor({
    arenas: spanSizeMax === undefined ? arenas : new NarrowArenas(arenas, spanSizeMax),
    parallel: turnTaking(threadCount),
    isFrugal: spanSizeMax === undefined,
    scratch,
    rowCountMin: 0,
  });
  try {
    const result = queryRows(sql, {
      namespace,
      scope: NO_CONTEXT,
      exactTimestamps,
      executor: accelerated
        ? {
            ...executor,
            open(physical, runtime) {
              operatorCount++;
              return executor.open(physical, runtime);
            },
          }
        : undefined,
    });
    const printed = [...result].map(
      ({ name, row }) =>
        `${name} ${cellsOf(row)
          .map((cell) => printCell(cell, exactTimestamps))
          .join(', ')}`,
    );
    if (!accelerated) expect(operatorCount).toBe(0);
    if (accelerated && isCounted) {
      expect(operatorCount).toBeGreaterThan(0);
      tally.compared++;
      if (!readsRows) tally.byKernels++;
    }
    return printed;
  } finally {
    scratch?.end();
    for (const snapshot of snapshots) {
      if (snapshot.rowCount <= SMALL_ROW_COUNT_MAX) freeSnapshot(snapshot, arenas);
    }
    // Whatever operators put into memory was given back.
    if (isSmall) expect(arenas.usedBytes, sql).toBe(usedBefore);
  }
}

/** Memory that has room for nothing, and a folder in its place. */
class ScratchOfTest implements ScratchRoom {
  readonly shareBytes = 1;
  readonly #directory = mkdtempSync(join(tmpdir(), 'rowan-scratch-'));
  readonly #folder = new ScratchFolder(this.#directory);
  readonly #endings: (() => void)[] = [];
  #file: ScratchFile | undefined;

  file(): ScratchFile {
    this.#file ??= this.#folder.create();
    return this.#file;
  }

  atEnd(action: () => void): void {
    this.#endings.push(action);
  }

  end(): void {
    for (const end of this.#endings.reverse()) end();
    tally.scratchSize += this.#file?.sizeBytes ?? 0;
    this.#file?.close();
    rmSync(this.#directory, { recursive: true });
  }
}

/** Memory that has no long stretches left. */
class NarrowArenas extends ArenaLease {
  readonly #sizeMax: number;

  constructor(owner: ArenaSet, sizeMax: number) {
    super(owner);
    this.#sizeMax = sizeMax;
  }

  override allocateIn(arenaId: number, sizeBytes: number): Span {
    if (sizeBytes > this.#sizeMax) throw failure('OUT_OF_MEMORY', 'no stretch is so long');
    return super.allocateIn(arenaId, sizeBytes);
  }
}

/** Tells when rows are read one by one, as the general evaluator does. */
function watched(relation: Relation, onRead: () => void): Relation {
  return Object.create(relation, {
    scan: {
      value: (...args: Parameters<Relation['scan']>) => {
        onRead();
        return relation.scan(...args);
      },
    },
    snapshot: { value: relation.snapshot },
    rowCount: { value: relation.rowCount },
  }) as Relation;
}

function printCell(
  { path, atom, ts }: { path: Path; atom: Atom; ts: number },
  exactTimestamps: boolean,
): string {
  const shown = typeof atom === 'number' && !Number.isInteger(atom) ? round(atom) : atom;
  return `${path}=${atomToJsonText(shown)}${exactTimestamps ? `@${ts}` : ''}`;
}

/** Sums of doubles in another order differ in their last bits. */
function round(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value;
}

/** Expects the same rows, in the same order, from both, on any number of threads. */
export function bothAgree(
  rows: readonly TableRow[],
  sql: string,
  options: Pick<RunOptions, 'others' | 'exactTimestamps' | 'isCounted' | 'inScratch'> = {},
): void {
  const general = run(rows, sql, { accelerated: false, ...options });
  for (const threadCount of THREAD_COUNTS) {
    const found = run(rows, sql, { accelerated: true, threadCount, ...options });
    expect(found, `${sql} on ${threadCount} threads`).toEqual(general);
  }
}
