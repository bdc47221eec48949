// Aggregates over everything run as block programs, and these give what the general evaluator
// gives: chunks of many blocks, integers near the ends of their range, joins by distinct keys.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtinNamespace } from '../../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../../src/dataset/snapshot-relation.ts';
import { batchExecutor } from '../../../../src/exec/operator/executor.ts';
import { type Parallel, serialParallel } from '../../../../src/exec/parallel.ts';
import { queryRows } from '../../../../src/exec/query.ts';
import { useArenas } from '../../../../src/exec/thread-memory.ts';
import type { Namespace, Relation } from '../../../../src/plan/namespace.ts';
import type { Atom } from '../../../../src/value/atom.ts';
import { ArenaSet } from '../../../../src/value/column/arena-set.ts';
import { freeSnapshot } from '../../../../src/value/column/snapshot-memory.ts';
import { TableBuilder } from '../../../../src/value/column/table-builder.ts';
import { atomToJsonText } from '../../../../src/value/json.ts';
import { Path } from '../../../../src/value/path.ts';
import { Timestamp } from '../../../../src/value/timestamp.ts';
import { cellsOf } from '../../../../src/value/value.ts';
import { NO_CONTEXT } from '../../../support/memory-namespace.ts';

const arenas = ArenaSet.create({ budgetBytes: 1 << 30, arenaPageCount: 16_384 });
useArenas(arenas);
const CHUNK_ROW_COUNT = 2500;

type TableRow = Readonly<Record<string, Atom>>;

function snapshotOf(rows: readonly TableRow[], ts: number) {
  const builder = new TableBuilder(arenas, CHUNK_ROW_COUNT);
  rows.forEach((row, index) => {
    const cells = Object.entries(row).map(([name, atom]) => [Path.of(name), atom, ts] as const);
    builder.addRow(Path.of(String(index)), cells);
  });
  return builder.seal();
}

interface Answers {
  readonly general: readonly string[];
  readonly kernels: readonly string[];
  /** parallel jobs that kernels ran in */
  readonly jobs: ReadonlySet<string>;
}

/** What both engines answer. `mayScan` false: kernels may not leave it to rows one by one. */
function ask(
  tables: Readonly<Record<string, readonly TableRow[]>>,
  sql: string,
  { mayScan = true } = {},
): Answers {
  const snapshots = Object.entries(tables).map(
    ([name, rows], index) => [name, snapshotOf(rows, 1000 + index)] as const,
  );
  const relations = new Map<string, Relation>(
    snapshots.map(([name, snapshot]) => [name, snapshotRelation(snapshot, arenas)]),
  );
  const namespaceOf = (wrap: (relation: Relation) => Relation): Namespace => ({
    dataset: (name) => wrap(relations.get(name) as Relation),
    findUserFunction: () => undefined,
    builtins: builtinNamespace,
  });
  const jobs = new Set<string>();
  const serial = serialParallel(NO_CONTEXT);
  const parallel: Parallel = {
    threadCount: 1,
    run(job, args, unitCount) {
      jobs.add(job.name);
      return serial.run(job, args, unitCount);
    },
  };
  const executor = batchExecutor({ arenas, parallel, rowCountMin: 0 });
  const usedBefore = arenas.usedBytes;
  try {
    const general = print(
      queryRows(sql, { namespace: namespaceOf((relation) => relation), scope: NO_CONTEXT }),
    );
    const kernels = print(
      queryRows(sql, {
        namespace: namespaceOf(mayScan ? (relation) => relation : withoutScan),
        scope: NO_CONTEXT,
        executor,
      }),
    );
    expect(arenas.usedBytes).toBe(usedBefore);
    return { general, kernels, jobs };
  } finally {
    for (const [, snapshot] of snapshots) freeSnapshot(snapshot, arenas);
  }
}

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

function print(rows: ReturnType<typeof queryRows>): string[] {
  return [...rows].map(
    ({ name, row }) =>
      `${name} ${cellsOf(row)
        .map(({ path, atom, ts }) => `${path}=${atomToJsonText(rounded(atom))}@${ts}`)
        .join(', ')}`,
  );
}

/** Sums of doubles in another order differ in their last bits. */
function rounded(atom: Atom): Atom {
  if (typeof atom !== 'number' || !Number.isFinite(atom) || Number.isSafeInteger(atom)) return atom;
  return Number(atom.toPrecision(9));
}

const integer = fc.integer({ min: -3, max: 40 });
const wide = fc.oneof(
  fc.constantFrom(-(2 ** 31), 2 ** 31 - 1, 2 ** 23 - 1, -(2 ** 23), 0),
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
);
const double = fc.oneof(
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
);
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 5 });

const tableRow: fc.Arbitrary<TableRow> = fc.record({
  i: orNull(integer),
  j: integer,
  big: wide,
  d: orNull(double),
  f: fc.double({ min: -1e3, max: 1e3, noNaN: true }),
  s: orNull(fc.constantFrom('', 'a', 'B', 'abc', 'zoé')),
  w: orNull(fc.integer({ min: 0, max: 1e9 }).map((seconds) => new Timestamp(seconds))),
  one: fc.constant(7),
});

/** Gives every column a type. */
const FIRST_ROW: TableRow = {
  ...{ i: 1, j: 1, big: 5, d: 1.5, f: 2.5, s: 'a', w: new Timestamp(5), one: 7 },
};

/** Few rows over and over, shuffled a little: thousands of random ones take too long to make. */
const table = fc
  .tuple(
    fc.array(tableRow, { minLength: 1, maxLength: 60, size: 'max' }),
    fc.integer({ min: 1, max: 6000 }),
  )
  .map(([rows, count]) =>
    Array.from({ length: count }, (_, i) =>
      i === 0 ? FIRST_ROW : (rows[(i * 7919) % rows.length] as TableRow),
    ),
  );

const condition = fc.constantFrom(
  'i > 3',
  '3 >= i',
  'NOT (i = 4)',
  'j != 7 AND i <= 20',
  'd <= 1.5 OR j < 3',
  'd >= i',
  '5 < d',
  '2.5 < j',
  'd > big',
  "s = 'a'",
  "s LIKE 'a%' AND j > 2",
  's IS NULL',
  'i IS NOT NULL AND d IS NULL',
  'i',
  'd',
  'i BETWEEN 2 AND 9',
  'j * 2 + 1 > 20',
  'big * 3 < 0',
  'i - j = 0',
  "w > TIMESTAMP '1985-01-01'",
  'CASE WHEN i > 5 THEN j > 3 ELSE d END',
  'one = 7',
  'j < 1000',
  'j > 1000',
  'NULL',
);

const aggregate = fc.constantFrom(
  'count(*)',
  'count(s)',
  'count(i)',
  'sum(i)',
  'sum(j)',
  'sum(d)',
  'sum(f)',
  'sum(big)',
  'sum(one)',
  'avg(one)',
  'sum(3)',
  'sum(j * 2 + i)',
  'sum(big + 1)',
  'sum(big * big)',
  'sum(i * i - j * 3)',
  'sum(f * 2 + j)',
  'sum(1 / (i * -5))',
  'sum(1 / (d * -1))',
  'sum(j / one)',
  'avg(i)',
  'min(i)',
  'max(big)',
  'max(d)',
  'min(d)',
  'min(w)',
  'max(w)',
  'min(j * 2)',
  'max(length(s))',
  'sum(length(s) + i)',
  'sum(CASE WHEN i > 9 THEN f * 2 ELSE d + j END)',
  'sum(CASE WHEN i > 9 THEN j WHEN d < 0 THEN 1 END)',
  "avg(CASE s WHEN 'a' THEN i WHEN 'B' THEN 7 ELSE NULL END)",
  'sum(CASE WHEN s IS NULL THEN 1 ELSE 0 END)',
);
const aggregates = fc
  .uniqueArray(aggregate, { minLength: 1, maxLength: 5 })
  .map((list) => list.join(', '));

test('block programs give what rows one by one give', () => {
  fc.assert(
    fc.property(table, aggregates, fc.option(condition), (data, list, where) => {
      const filter = where === null ? '' : ` WHERE ${where}`;
      // Columns with next to no values are sparse, and not for block programs.
      const { general, kernels } = ask({ data }, `SELECT ${list} FROM data${filter}`);
      expect(kernels).toEqual(general);
    }),
    { numRuns: 60 },
  );
});

const FIRST_BUILT_ROW = { k: 1, t: 'a', n: 1, m: 2, x: 2.5, c: 'x', w: new Timestamp(9) };

test.each([
  ['distinct keys', false],
  ['keys that occur several times', true],
])('joins by %s give what pairs one by one give', (_, isShared) => {
  const key = fc.constantFrom('a.i = b.k', 'a.s = b.t', 'a.big = b.k', 'upper(a.s) = b.t');
  const builtRow = fc.record({
    k: orNull(fc.integer({ min: -5, max: 60 })),
    t: orNull(fc.constantFrom('', 'a', 'B', 'abc', 'q', 'ABC')),
    n: orNull(integer),
    m: integer,
    x: orNull(double),
    c: orNull(fc.constantFrom('x', 'y')),
    w: fc.integer({ min: 0, max: 1e9 }).map((seconds) => new Timestamp(seconds)),
  });
  const built = fc
    .array(builtRow, { maxLength: 50 })
    .map((rows) => [FIRST_BUILT_ROW, ...rows])
    .map((rows) => (isShared ? [...rows, ...rows] : distinct(distinct(rows, 'k'), 't')));
  const joined = fc.uniqueArray(
    fc.constantFrom(
      'count(*)',
      'count(b.c)',
      'count(b.n)',
      'count(a.i)',
      'sum(b.n)',
      'sum(b.m)',
      'sum(b.m + a.j)',
      'sum(b.m * 2 - b.n)',
      'sum(b.x)',
      'sum(a.f)',
      'min(b.n)',
      'max(b.w)',
      'avg(CASE WHEN b.n > 9 THEN b.m ELSE a.j END)',
      "sum(CASE WHEN b.c = 'x' THEN 1 ELSE 0 END)",
    ),
    { minLength: 1, maxLength: 4 },
  );
  const filter = fc.constantFrom('', ' WHERE b.m > 3', " WHERE b.c = 'x'", ' WHERE a.j < b.m');
  const side = fc.constantFrom('', ' AND b.m < 30', " AND b.c = 'y'");
  const kind = fc.constantFrom('JOIN', 'LEFT JOIN');
  fc.assert(
    fc.property(
      ...[table, built, kind, key, side, joined, filter],
      (data, other, join, on, own, list, where) => {
        const from = `FROM data AS a ${join} other AS b ON ${on}${own}`;
        const sql = `SELECT ${list.join(', ')} ${from}${where}`;
        const { general, kernels } = ask({ data, other }, sql);
        expect(kernels, sql).toEqual(general);
      },
    ),
    { numRuns: 50 },
  );
});

test.each([
  'sum(big + 1), sum(i), sum(f * 2 + j), min(w), avg(one) FROM data WHERE d > 0 OR j < 3',
  "sum(CASE WHEN i > 9 THEN f * 2 ELSE f + j END) FROM data WHERE s LIKE 'a%' AND i IS NOT NULL",
  'count(*), count(s), sum(j / one), sum(big * big) FROM data WHERE NOT (i BETWEEN 2 AND 9)',
])('%s is one block program', (select) => {
  const [data = []] = fc.sample(table, { seed: 3, numRuns: 1 });
  const { general, kernels, jobs } = ask({ data }, `SELECT ${select}`, { mayScan: false });
  expect(kernels).toEqual(general);
  expect(jobs).not.toContain('vector.group');
});

test('a join by distinct keys needs no pairs', () => {
  const data = Array.from({ length: 6000 }, (_, i) => ({ k: i % 90, v: i }));
  const other = Array.from({ length: 80 }, (_, i) => ({ k: i * 2, n: i, s: `s${i % 3}` }));
  const sql = (join: string) =>
    `SELECT count(*), sum(b.n), sum(a.v + b.n), count(b.s) FROM data AS a ${join} other AS b ON a.k = b.k WHERE a.v > 100`;
  for (const join of ['JOIN', 'LEFT JOIN']) {
    const { general, kernels, jobs } = ask({ data, other }, sql(join), { mayScan: false });
    expect(kernels).toEqual(general);
    expect(jobs).not.toContain('vector.group');
  }
});

/** The first row of each value of a column, and all rows without one. */
function distinct<Row extends TableRow>(rows: readonly Row[], column: string): Row[] {
  const seen = new Set<Atom>();
  return rows.filter((row) => {
    const value = row[column] as Atom;
    if (value === null) return true;
    const isNew = !seen.has(value);
    seen.add(value);
    return isNew;
  });
}
