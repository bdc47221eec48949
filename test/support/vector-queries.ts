// Queries over small tables by the vector engine and by the general evaluator alone.
import { expect } from 'vitest';
import { builtinCatalog } from '../../src/builtin/index.ts';
import { snapshotRelation } from '../../src/dataset/snapshot-relation.ts';
import { operatorAccelerator } from '../../src/exec/operator/accelerate.ts';
import { type Parallel, serialParallel } from '../../src/exec/parallel.ts';
import { queryRows } from '../../src/exec/query.ts';
import { useArenas } from '../../src/exec/thread-memory.ts';
import type { Catalog, Relation } from '../../src/plan/catalog.ts';
import { ArenaSet } from '../../src/value/arena-set.ts';
import type { Atom } from '../../src/value/atom.ts';
import { atomToJsonText } from '../../src/value/json.ts';
import { Path } from '../../src/value/path.ts';
import type { ColumnarSnapshot } from '../../src/value/snapshot.ts';
import { freeSnapshot } from '../../src/value/snapshot-memory.ts';
import { TableBuilder } from '../../src/value/table-builder.ts';
import { cellsOf } from '../../src/value/value.ts';
import { NO_SCOPE } from './memory-catalog.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 30, arenaPageCount: 16_384 });
useArenas(arenas);
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

const BACKWARDS: Parallel = {
  threadCount: 1,
  run(job, args, unitCount) {
    const results = Array.from({ length: unitCount }, (_, i) =>
      job.execute(args, unitCount - 1 - i, NO_SCOPE),
    );
    return results.reverse();
  },
};

interface RunOptions {
  readonly accelerated: boolean;
  /** false: a row that is read by the general evaluator is an error */
  readonly mayScan?: boolean;
  /** false: timestamps are not compared, and may be any */
  readonly exactTimestamps?: boolean;
  /** true: units of work are done from the last to the first, as some other thread might */
  readonly backwards?: boolean;
  /** the rows of the dataset `other` */
  readonly others?: readonly TableRow[] | undefined;
}

export function run(
  rows: readonly TableRow[],
  sql: string,
  { accelerated, mayScan = true, others = [], exactTimestamps = true, backwards }: RunOptions,
): string[] {
  const isSmall = Math.max(rows.length, others.length) <= SMALL_ROW_COUNT_MAX;
  const usedBefore = arenas.usedBytes;
  const snapshots = [tableOf(rows, TS), tableOf(others, TS + 1)];
  const [data, other] = snapshots.map((snapshot) => snapshotRelation(snapshot, arenas));
  let operatorCount = 0;
  const catalog: Catalog = {
    dataset: (id) => {
      const relation = (id === 'other' ? other : data) as Relation;
      return mayScan ? relation : withoutScan(relation);
    },
    findUserFunction: () => undefined,
    builtins: builtinCatalog,
  };
  const accelerate = operatorAccelerator({
    arenas,
    parallel: backwards === true ? BACKWARDS : serialParallel(NO_SCOPE),
    rowCountMin: 0,
  });
  try {
    const result = queryRows(sql, {
      catalog,
      scope: NO_SCOPE,
      exactTimestamps,
      accelerate: accelerated
        ? (node, runtime) => {
            const source = accelerate(node, runtime);
            if (source !== undefined) operatorCount++;
            return source;
          }
        : undefined,
    });
    const printed = [...result].map(
      ({ name, row }) =>
        `${name} ${cellsOf(row)
          .map((cell) => printCell(cell, exactTimestamps))
          .join(', ')}`,
    );
    expect(operatorCount > 0).toBe(accelerated);
    return printed;
  } finally {
    for (const snapshot of snapshots) {
      if (snapshot.rowCount <= SMALL_ROW_COUNT_MAX) freeSnapshot(snapshot, arenas);
    }
    // Whatever operators put into memory was given back.
    if (isSmall) expect(arenas.usedBytes, sql).toBe(usedBefore);
  }
}

/** A relation whose rows cannot be read one by one: only kernels can answer. */
function withoutScan(relation: Relation): Relation {
  return Object.create(relation, {
    scan: {
      value: () => {
        throw new Error('the general evaluator reads rows');
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

/** Expects the same rows, in the same order, from both. */
export function bothAgree(
  rows: readonly TableRow[],
  sql: string,
  others?: readonly TableRow[],
  exactTimestamps = true,
): void {
  const options = { others, exactTimestamps };
  const general = run(rows, sql, { accelerated: false, ...options });
  expect(run(rows, sql, { accelerated: true, ...options }), sql).toEqual(general);
}
