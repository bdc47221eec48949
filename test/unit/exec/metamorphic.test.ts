// Queries whose answers must agree although nobody knows them: random tables and random predicates,
// asked in several ways, of several kinds of datasets, by several engines.
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { builtinNamespace } from '../../../src/builtin/index.ts';
import { snapshotRelation } from '../../../src/dataset/snapshot-relation.ts';
import { queryRows } from '../../../src/exec/query.ts';
import { Rowan } from '../../../src/index.ts';
import type { Namespace, Relation } from '../../../src/plan/namespace.ts';
import type { Atom } from '../../../src/value/atom.ts';
import { ArenaSet } from '../../../src/value/column/arena-set.ts';
import type { Snapshot } from '../../../src/value/column/snapshot.ts';
import { freeSnapshot } from '../../../src/value/column/snapshot-memory.ts';
import { SparseBuilder } from '../../../src/value/column/sparse-builder.ts';
import { TableBuilder } from '../../../src/value/column/table-builder.ts';
import { atomToJsonText } from '../../../src/value/json.ts';
import { Path } from '../../../src/value/path.ts';
import { Timestamp } from '../../../src/value/timestamp.ts';
import { cellsOf } from '../../../src/value/value.ts';
import { NO_CONTEXT } from '../../support/memory-namespace.ts';
import { bothAgree, requireKernels } from '../../support/vector-queries.ts';

requireKernels();

const arenas = ArenaSet.create({ budgetBytes: 1 << 30, arenaPageCount: 16_384 });
const TS = 1_420_070_400;
const CHUNK_ROW_COUNT = 16;
const RUN_COUNT = 80;

type TableRow = Readonly<Record<string, Atom>>;

const cells = {
  i: fc.integer({ min: -3, max: 9 }),
  d: fc.oneof(
    fc.double({ min: -10, max: 10, noNaN: true }).map((value) => (value === 0 ? 0 : value)),
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1.5),
  ),
  s: fc.constantFrom('', 'a', 'B', 'abc', 'zoé', '1'),
  t: fc.integer({ min: -2, max: 5 }).map((seconds) => new Timestamp(TS + seconds * 1000)),
  m: fc.constantFrom<Atom>(0, 2, 'a', 1.5),
};
const tableRow: fc.Arbitrary<TableRow> = fc.record(cells, { requiredKeys: [] });
const table = fc.array(tableRow, { minLength: 1, maxLength: 60 });

const operand = fc.constantFrom(
  ...['i', 'd', 's', 't', 'm', 'nothing', '0', '2', '-1.5', "'a'", "''", 'null', 'NaN', 'i * 2'],
  ...["TIMESTAMP '2015-01-01'", 'd + i', 'upper(s)', '{i, s}', 'rowName()'],
);

/** Predicates that no row makes fail. */
const { predicate } = fc.letrec<{ predicate: string; simple: string }>((tie) => ({
  predicate: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('simple'),
    fc
      .tuple(tie('predicate'), fc.constantFrom('AND', 'OR'), tie('predicate'))
      .map(([a, word, b]) => `(${a} ${word} ${b})`),
    tie('predicate').map((inner) => `(NOT ${inner})`),
    tie('predicate').map((inner) => `(CASE WHEN ${inner} THEN i ELSE s = 'a' END)`),
  ),
  simple: fc.oneof(
    fc
      .tuple(operand, fc.constantFrom('=', '!=', '<', '<=', '>', '>='), operand)
      .map((parts) => `(${parts.join(' ')})`),
    fc
      .tuple(operand, fc.constantFrom('', 'NOT '), operand, operand)
      .map(([a, not, low, high]) => `(${a} ${not}BETWEEN ${low} AND ${high})`),
    fc
      .tuple(operand, fc.constantFrom('', 'NOT '), fc.array(operand, { minLength: 1 }))
      .map(([a, not, choices]) => `(${a} ${not}IN (${choices.join(', ')}))`),
    fc.constantFrom("(s LIKE '%a%')", "(s NOT LIKE '_')", "(upper(s) LIKE 'A%')"),
    fc
      .tuple(fc.constantFrom('i', 'd', 's', 't', 'm'), fc.constantFrom('NULL', 'TRUE', 'NUMBER'))
      .map(([column, kind]) => `(${column} IS NOT ${kind})`),
    fc.constantFrom('i', 's', 'd', 't', 'm', '(rowHash() % 3 = 1)'),
  ),
}));

function asSparse(rows: readonly TableRow[]): Snapshot {
  const builder = new SparseBuilder(arenas);
  rows.forEach((row, index) => {
    builder.addRow(Path.of(`r${index}`), cellsOfRow(row));
  });
  return builder.seal();
}

function asTable(rows: readonly TableRow[]): Snapshot {
  const builder = new TableBuilder(arenas, CHUNK_ROW_COUNT);
  rows.forEach((row, index) => {
    builder.addRow(Path.of(`r${index}`), cellsOfRow(row));
  });
  return builder.seal();
}

function cellsOfRow(row: TableRow): (readonly [Path, Atom, number])[] {
  return Object.entries(row).map(([name, atom]) => [Path.of(name), atom, TS] as const);
}

/** Predicates that kernels take, over rows enough that each column has values; no row is empty. */
const fullRow: fc.Arbitrary<TableRow> = fc.record(cells, { requiredKeys: ['i'] });
const fullTable = fc.array(fullRow, { minLength: 24, maxLength: 60 });
const { kernelPredicate } = fc.letrec<{ kernelPredicate: string; simple: string }>((tie) => ({
  kernelPredicate: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    tie('simple'),
    fc
      .tuple(tie('kernelPredicate'), fc.constantFrom('AND', 'OR'), tie('kernelPredicate'))
      .map(([a, word, b]) => `(${a} ${word} ${b})`),
    tie('kernelPredicate').map((inner) => `(NOT ${inner})`),
  ),
  simple: fc.oneof(
    fc
      .tuple(
        fc.constantFrom('i', 'd', 'i * 2', 'd + i'),
        fc.constantFrom('=', '!=', '<', '<=', '>', '>='),
        fc.constantFrom('0', '2', '-1.5', 'i', 'd'),
      )
      .map((parts) => `(${parts.join(' ')})`),
    fc.constantFrom(
      ...["(s = 'a')", "(s LIKE '%a%')", "(upper(s) LIKE 'A%')", "(s IN ('a', '', 'zoé'))"],
      ...["(t > TIMESTAMP '2015-01-01')", '(m = 2)', '(m IS NOT NULL)', '(t IS NULL)', 's', 'i'],
      ...['(d BETWEEN -1 AND 2)', '(i NOT BETWEEN 0 AND 3)', '(nothing IS NULL)'],
    ),
  ),
}));

type Ask = (sql: string) => string[];

/** Lets `use` ask queries about a dataset `d` of the rows. */
function withRows(
  rows: readonly TableRow[],
  store: (rows: readonly TableRow[]) => Snapshot,
  use: (ask: Ask) => void,
): void {
  const snapshot = store(rows);
  const relation: Relation = snapshotRelation(snapshot, arenas);
  const namespace: Namespace = {
    dataset: () => relation,
    findUserFunction: () => undefined,
    builtins: builtinNamespace,
  };
  try {
    use((sql) => {
      const result = queryRows(sql, { namespace, scope: NO_CONTEXT });
      return [...result].map(({ name, row }) => `${name}: ${printRow(row)}`);
    });
  } finally {
    freeSnapshot(snapshot, arenas);
  }
}

function printRow(row: Parameters<typeof cellsOf>[0]): string {
  return cellsOf(row)
    .map(({ path, atom }) => `${path}=${atomToJsonText(atom)}`)
    .join(' ');
}

const sorted = (lines: readonly string[]): string[] => [...lines].sort();

describe('whatever the rows and the predicate', () => {
  const check = (property: (ask: Ask, condition: string) => void, store = asTable) =>
    fc.assert(
      fc.property(table, predicate, (rows, condition) =>
        withRows(rows, store, (ask) => property(ask, condition)),
      ),
      { numRuns: RUN_COUNT },
    );

  it('true, false and neither make the whole', () => {
    for (const store of [asTable, asSparse]) {
      check((ask, p) => {
        const parts = [
          `(${p}) IS TRUE`,
          `(${p}) IS FALSE`,
          `NOT ((${p}) IS TRUE OR (${p}) IS FALSE)`,
        ];
        const united = parts.flatMap((part) => ask(`SELECT * FROM d WHERE ${part}`));
        expect(sorted(united)).toEqual(sorted(ask('SELECT * FROM d')));
      }, store);
    }
  });

  it('a true part more changes nothing', () => {
    check((ask, p) => {
      const plain = ask(`SELECT * FROM d WHERE ${p}`);
      expect(ask(`SELECT * FROM d WHERE ${p} AND 1 = 1`)).toEqual(plain);
      expect(ask(`SELECT * FROM d WHERE (i IS NULL OR i IS NOT NULL) AND ${p}`)).toEqual(plain);
      expect(ask(`SELECT * FROM d WHERE ${p} OR false`)).toEqual(plain);
    });
  });

  it('a sub-select around it changes nothing', () => {
    check((ask, p) => {
      const plain = ask(`SELECT i, s FROM d WHERE ${p} ORDER BY s, i DESC`);
      const inside = `SELECT i, s FROM (SELECT * FROM d WHERE ${p}) ORDER BY s, i DESC`;
      const outside = `SELECT i, s FROM (SELECT * FROM d) WHERE ${p} ORDER BY s, i DESC`;
      const around = `SELECT * FROM (SELECT i, s FROM d WHERE ${p} ORDER BY s, i DESC)`;
      expect([inside, outside, around].map((sql) => ask(sql))).toEqual([plain, plain, plain]);
    });
  });

  it('the value of the predicate says which rows it keeps', () => {
    check((ask, p) => {
      const kept = ask(`SELECT 1 AS kept FROM d WHERE ${p}`);
      const valued = ask(`SELECT (CASE WHEN ${p} THEN 1 END) AS kept FROM d`);
      expect(kept).toEqual(valued.filter((line) => line.endsWith('kept=1')));
    });
  });

  it('groups of the kept rows count them all', () => {
    check((ask, p) => {
      const groups = ask(`SELECT count(*) AS n FROM d WHERE ${p} GROUP BY s, i`);
      const total = groups.reduce((sum, line) => sum + Number(/n=(\d+)$/.exec(line)?.[1]), 0);
      expect(total).toBe(ask(`SELECT i FROM d WHERE ${p}`).length);
    });
  });

  it('sparse and tabular datasets answer alike', () => {
    fc.assert(
      fc.property(table, predicate, (rows, p) => {
        for (const sql of questionsAbout(p)) {
          const answers: string[][] = [];
          for (const store of [asSparse, asTable]) {
            withRows(rows, store, (ask) => answers.push(ask(sql)));
          }
          expect(answers[0], sql).toEqual(answers[1]);
        }
      }),
      { numRuns: RUN_COUNT },
    );
  });

  it('kernels and the general evaluator answer alike, on any number of threads', () => {
    fc.assert(
      fc.property(fullTable, kernelPredicate, (rows, p) => {
        for (const sql of questionsAbout(p)) bothAgree(rows, sql);
      }),
      { numRuns: RUN_COUNT / 2 },
    );
  });

  it('operators and the general evaluator answer alike, whoever does which part', () => {
    fc.assert(
      fc.property(table, predicate, fc.boolean(), (rows, p, exactTimestamps) => {
        for (const sql of questionsAbout(p)) {
          bothAgree(rows, sql, { exactTimestamps, isCounted: false });
        }
      }),
      { numRuns: RUN_COUNT / 2 },
    );
  });
});

/** Integer aggregates only: sums of doubles in another order differ in their last bits. */
function questionsAbout(p: string): string[] {
  return [
    `SELECT i, s FROM d WHERE ${p} ORDER BY s DESC, i LIMIT 7`,
    `SELECT s, count(*) AS n, sum(i) AS total, min(d) AS low FROM d WHERE ${p} GROUP BY s`,
    `SELECT count(*) AS n, max(t) AS last, count_distinct(m) AS kinds FROM d WHERE ${p}`,
    `SELECT d FROM d WHERE ${p} ORDER BY d, t DESC LIMIT 5 OFFSET 2`,
  ];
}

describe('one and several workers', () => {
  const opened: Rowan[] = [];
  afterAll(() => Promise.all(opened.map((rowan) => rowan.close())));

  const part = fc.constantFrom(
    ...['x < 700', 'x % 3 = 1', 'g IN (1, 2, 5)', "s LIKE 'k1%'", 's > x', 'x BETWEEN 10 AND 900'],
    ...['rowHash() % 5 != 0', 'g * x > 900', "s = 'k7' OR g = 3"],
  );
  /** Sums of integers only: those of doubles differ in their last bits. */
  const shape = fc.constantFrom(
    (where: string) => `SELECT count(*) AS n, sum(x) AS s, max(s) AS m FROM d WHERE ${where}`,
    (where: string) =>
      `SELECT g, s, count(*) AS n FROM d WHERE ${where} GROUP BY g, s ORDER BY n, g, s`,
    (where: string) =>
      `SELECT g, min(x) AS m, count_distinct(s) AS k FROM d WHERE ${where} GROUP BY g`,
    (where: string) => `SELECT x, s FROM d WHERE ${where} ORDER BY s DESC, x LIMIT 50 OFFSET 3`,
    (where: string) => `SELECT DISTINCT ON (s) s, x, g FROM d WHERE ${where} ORDER BY s, x DESC, g`,
  );

  it('answer alike', async () => {
    // More than one chunk, so that there is something to share.
    const rowCount = 66_000;
    const rows = Array.from({ length: rowCount }, (_, n) => [
      `r${n}`,
      [
        ['g', n % 7, 0],
        ['x', (n * 7919) % 1000, 0],
        ['s', `k${(n * 31) % 97}`, 0],
      ],
    ]);
    const questions = [
      ...fc
        .sample(fc.tuple(part, part, shape), { seed: 5, numRuns: 8 })
        .map(([a, b, ask]) => ask(`${a} AND NOT (${b})`)),
      'SELECT count(*) AS n FROM d WHERE x < 500',
      "SELECT g, count(*) AS n, sum(x) AS total, max(s) AS last FROM d WHERE s LIKE 'k%' GROUP BY g",
      'SELECT x, s FROM d WHERE g = 3 ORDER BY x DESC, s LIMIT 20',
      'SELECT s, avg(x) AS mean FROM d GROUP BY s ORDER BY mean DESC, s LIMIT 10',
    ];
    const answers: unknown[] = [];
    for (const workers of [1, 2, 3]) {
      const rowan = await Rowan.open({ dataDir: null, workers });
      opened.push(rowan);
      for (const [path, body] of [
        ['/v1/datasets/d', { type: 'tabular' }],
        ['/v1/datasets/d/multirows', rows],
        ['/v1/datasets/d/commit', {}],
      ] as const) {
        const verb = path.endsWith('/d') ? 'PUT' : 'POST';
        const reply = await rowan.perform(verb, path, { body });
        expect(reply.status, reply.text).toBeLessThan(300);
      }
      answers.push(await Promise.all(questions.map((sql) => rowan.query(sql))));
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
    const counted = (answers[0] as unknown[][][])[questions.length - 4];
    expect(counted?.[1]?.[1]).toBe(rowCount / 2);
  }, 90_000);
});
